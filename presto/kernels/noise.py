"""Random numbers keyed by (seed, position): the same on every device and in every order of asking.

A generator with a state would give a GPU other numbers than a CPU. These are counter-based (Salmon
et al. 2011): the number of a token is an output of SplitMix64 (Steele, Lea and Flood 2014), whose
state is mixed from seed, stream and position. Integers wrap around alike everywhere.
"""

import torch

_STEP = -7046029254386353131  # 2^64 / golden ratio, odd, as a signed number
_FACTORS = -4658895280553007687, -7723592293110705685
_BITS = 52  # of a uniform number: with a half added it is still exact in float64


def gumbel(seed: int, positions: torch.Tensor, size: int, stream: int = 0) -> torch.Tensor:
    """Standard Gumbel noise ``[R, size]`` (float64) for the tokens at ``positions [R]``, on their
    device.

    Stream 0 belongs to the target's choices; another stream is independent of it.
    """
    states = _mixed(_mixed(torch.full_like(positions, seed) + stream * _STEP) + positions * _STEP)
    tokens = torch.arange(1, size + 1, device=positions.device)
    bits = _mixed(states[:, None] + tokens * _STEP)
    uniform = (_shifted(bits, 64 - _BITS).double() + 0.5) * 2.0**-_BITS
    return -torch.log(-torch.log(uniform))


def _mixed(numbers: torch.Tensor) -> torch.Tensor:
    """SplitMix64's mixing function, in which every bit of ``numbers`` decides about every other."""
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        numbers = (numbers ^ _shifted(numbers, shift)) * factor
    return numbers ^ _shifted(numbers, 31)


def _shifted(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """``numbers`` without their last ``bits``, zeros at the front: torch's own shift keeps the
    sign.
    """
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)
