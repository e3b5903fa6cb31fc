"""What a Witten-Bell model makes of n-gram counts: probabilities, compiled."""

import math

import numpy as np

from presto.kernels.compiler import inlined, kernel
from presto.kernels.counts import (
    COUNT,
    DISTINCT,
    ESCAPE,
    TOTAL,
    Counts,
    find_in,
    find_pair,
    longer,
    pair_key,
    slot_of,
)

Known = tuple[int, int]  # total and escape of a context in the static part
# Tokens, their counts, and the range of both that follows a context.
Successors = tuple[np.ndarray, np.ndarray, int, int]


@kernel
def unigrams(counts: Counts, tokens: np.ndarray, out: np.ndarray) -> None:
    """``out[i] = p(tokens[i])``: Witten-Bell over unigram and uniform."""
    root = counts.online[slot_of(counts.keys, 0)]
    escape = counts.escape + root[ESCAPE]
    mass = counts.total + root[TOTAL] + escape
    for i in range(tokens.size):
        out[i] = 1.0 / counts.vocab
        if mass > 0:
            count = (
                counts.uni_count[tokens[i]]
                + counts.online[slot_of(counts.keys, longer(counts.vocab, 0, tokens[i])), COUNT]
            )
            out[i] = (count + escape * out[i]) / mass


@inlined
def _refine(
    counts: Counts,
    known: Known,
    key: int,
    after: Successors,
    tokens: np.ndarray,
    out: np.ndarray,
    seen: np.ndarray | None,
) -> None:
    """One Witten-Bell level, in place (Bell, Cleary and Witten 1990): p_n = (c + escape·p_{n-1}) /
    (total + escape).

    ``known`` and ``after`` are the static side of the context, ``key`` is its key online. ``seen
    [2, K]``, if given, is told the online and the static counts.
    """
    node = counts.online[slot_of(counts.keys, key)]
    escape = known[1] + node[ESCAPE]
    mass = known[0] + node[TOTAL] + escape
    if mass == 0:
        return
    successors, count_of, start, end = after
    for i in range(tokens.size):
        index = find_in(successors, start, end, tokens[i])
        count, here = count_of[index] if index >= 0 else 0, 0
        if node[TOTAL] > 0:
            child = slot_of(counts.keys, longer(counts.vocab, key, tokens[i]))
            here = counts.online[child, COUNT]
        out[i] = (count + here + escape * out[i]) / mass
        if seen is not None:
            seen[0, i], seen[1, i] = here, count


@inlined
def bigrams(
    counts: Counts,
    last: int,
    tokens: np.ndarray,
    out: np.ndarray,
    seen: np.ndarray | None = None,
) -> None:
    """Turn ``out[i] = p(tokens[i])`` into ``p(tokens[i] | last)``; -1 stands for "no such
    token". ``seen``: see ``_refine``.
    """
    if last < 0:
        return
    start, end = counts.bi_start[last], counts.bi_start[last + 1]
    known = counts.uni_total[last], counts.uni_escape[last]
    after = counts.bi_token, counts.bi_count, start, end
    _refine(counts, known, longer(counts.vocab, 0, last), after, tokens, out, seen)


@inlined
def trigrams(
    counts: Counts,
    first: int,
    last: int,
    tokens: np.ndarray,
    out: np.ndarray,
    seen: np.ndarray | None = None,
) -> None:
    """Turn ``out[i] = p(tokens[i] | last)`` into ``p(tokens[i] | first, last)`` in a model of order
    3. ``seen``: see ``_refine``.
    """
    if counts.order < 3 or first < 0:
        return
    start, end, known = 0, 0, (0, 0)
    pair = find_pair(counts, first, last)
    if pair >= 0:
        start, end = counts.tri_start[pair], counts.tri_start[pair + 1]
        known = counts.bi_total[pair], counts.bi_escape[pair]
    after = counts.tri_token, counts.tri_count, start, end
    _refine(counts, known, pair_key(counts.vocab, first, last), after, tokens, out, seen)


@kernel
def _online_level(counts: Counts, key: int, tokens: np.ndarray, out: np.ndarray) -> bool:
    """``_refine`` on the online counts alone; whether the context ``key`` was ever seen."""
    node = counts.online[slot_of(counts.keys, key)]
    escape = node[DISTINCT]
    mass = node[TOTAL] + escape
    if mass == 0:
        return False
    for i in range(tokens.size):
        child = slot_of(counts.keys, longer(counts.vocab, key, tokens[i]))
        out[i] = (counts.online[child, COUNT] + escape * out[i]) / mass
    return True


@kernel
def online_log_ratio(
    counts: Counts, first: int, last: int, tokens: np.ndarray, out: np.ndarray
) -> None:
    """``out[i] = log p(t | first, last) / p(t)`` of a model that counts this run's text only.

    0 for every token where neither the pair nor the last token was seen before.
    """
    out[:] = 1.0 / counts.vocab
    _online_level(counts, 0, tokens, out)
    alone = out.copy()
    seen = last >= 0 and _online_level(counts, longer(counts.vocab, 0, last), tokens, out)
    if counts.order > 2 and first >= 0:
        pair = pair_key(counts.vocab, first, last)
        seen = _online_level(counts, pair, tokens, out) or seen
    for i in range(tokens.size):
        out[i] = math.log(out[i] / alone[i]) if seen else 0.0
