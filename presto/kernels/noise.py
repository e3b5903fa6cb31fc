"""Random numbers keyed by (seed, position): the same on every device and in every order of asking.

A generator with a state would give a GPU other numbers than a CPU. These are counter-based (Salmon
et al. 2011): the number of a token is an output of SplitMix64 (Steele, Lea and Flood 2014), whose
state is mixed from seed, stream and position. Arrays may be numpy's or torch's, of 64-bit integers,
which wrap around alike everywhere.
"""

from typing import Any

import numpy as np

_STEP = -7046029254386353131  # 2^64 / golden ratio, odd, as a signed number
_FACTORS = -4658895280553007687, -7723592293110705685
BITS = 52  # of a number: with a half added it is still exact in float64


def random_bits(seed: int, positions: Any, tokens: Any, stream: int = 0) -> Any:
    """Whole numbers ``[R, T]`` from 0 to 2^BITS - 1 for ``tokens [T]`` at ``positions [R]``.

    Stream 0 belongs to the target's choices; stream 1 is independent of it.
    """
    states = _mixed(_mixed(positions * 0 + (seed + stream * _STEP)) + positions * _STEP)
    return _shifted(_mixed(states[:, None] + (tokens + 1) * _STEP), 64 - BITS)


def gumbel(seed: int, positions: np.ndarray, size: int, stream: int = 0) -> np.ndarray:
    """Standard Gumbel noise ``[R, size]`` (float64) for the tokens at ``positions [R]``."""
    uniform = (random_bits(seed, positions, np.arange(size), stream) + 0.5) * 2.0**-BITS
    noise: np.ndarray = -np.log(-np.log(uniform))
    return noise


def _mixed(numbers: Any) -> Any:
    """SplitMix64's mixing function, in which every bit of ``numbers`` decides about every other."""
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        numbers = (numbers ^ _shifted(numbers, shift)) * factor
    return numbers ^ _shifted(numbers, 31)


def _shifted(numbers: Any, bits: int) -> Any:
    """``numbers`` without their last ``bits``, zeros at the front: a plain shift keeps the sign."""
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)
