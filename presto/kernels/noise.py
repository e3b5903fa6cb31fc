"""Random numbers keyed by (seed, position): the same on every device and in every order of
asking.
"""

import numpy as np


def gumbel(seed: int, position: int, size: int, stream: int = 0) -> np.ndarray:
    """Standard Gumbel noise ``[size]`` (float64) for the token at ``position``; the same on every
    device.

    Stream 0 belongs to the target's choices; another stream is independent of it.
    """
    key, counter = np.array([seed, position], np.uint64), np.array([0, 0, 0, stream], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).gumbel(size=size)
