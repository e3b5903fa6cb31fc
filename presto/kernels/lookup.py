"""Prompt lookup: what followed the text's last tokens where they stood before.

Known as prompt lookup decoding and, with references, as LLMA (arXiv 2304.04487). Here the tokens
found are nodes of the draft tree beside those that the drafter's marginals bring.
"""

from collections.abc import Sequence

import numpy as np

from presto.kernels.compiler import kernel

SHORTEST, LONGEST = 2, 32  # tokens that must agree, and that are compared


@kernel
def _goes_on(text: np.ndarray) -> int:
    """Where the text went on after its longest repeated end, the last such place; ``text.size`` if
    its last ``SHORTEST`` tokens are new.
    """
    size = text.size
    longest, place = SHORTEST - 1, size
    for after in range(size - 1, 0, -1):
        length = 0
        while length < min(after, LONGEST) and text[after - 1 - length] == text[size - 1 - length]:
            length += 1
        if length > longest:
            longest, place = length, after
    return place


def continuation(text: Sequence[int], most: int) -> list[int]:
    """At most ``most`` tokens that should follow ``text`` if it repeats itself, none if its last
    two tokens are new. A repetition that reaches the end goes round.
    """
    if most < 1:
        return []
    tokens = np.asarray(text, np.int64)
    again = tokens[_goes_on(tokens) :]
    return np.resize(again, most).tolist() if again.size else []
