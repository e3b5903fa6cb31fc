"""Compiled n-gram counts: how often a token followed a context.

Counts live in two places that every look-up adds. The *static* part is a trie in sorted flat
arrays, read-only and shared by all runs: the successors of token ``a`` are
``bi_token[bi_start[a]:bi_start[a + 1]]``, those of the pair at index ``i`` are
``tri_token[tri_start[i]:tri_start[i + 1]]``. The *online* part is the same trie as a hash table
with open addressing: the key of a token string is its number in base ``vocab + 1`` with digits
``token + 1``.

A context has a *total* (count of its continuations) and an *escape* (Witten-Bell: the number of its
distinct continuations; where a table was pruned, also the count of what was dropped).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from presto.kernels.compiler import inlined, kernel

COUNT, TOTAL, ESCAPE, DISTINCT = range(4)  # columns of Counts.online
EMPTY = -1  # a free slot of Counts.keys
_MIX = -7046029254386353131  # 2^64 / golden ratio, odd, as a signed number: Fibonacci hashing


class Counts(NamedTuple):
    """Everything a compiled look-up reads. N2, N3: stored pairs and triples; C: slots of the hash
    table.
    """

    vocab: int
    order: int
    total: int  # of the empty context
    escape: int
    uni_count: np.ndarray  # [vocab]
    uni_total: np.ndarray  # [vocab] as a context
    uni_escape: np.ndarray  # [vocab]
    bi_start: np.ndarray  # [vocab + 1]
    bi_token: np.ndarray  # [N2]
    bi_count: np.ndarray  # [N2]
    bi_total: np.ndarray  # [N2] as a context
    bi_escape: np.ndarray  # [N2]
    tri_start: np.ndarray  # [N2 + 1]
    tri_token: np.ndarray  # [N3]
    tri_count: np.ndarray  # [N3]
    keys: np.ndarray  # [C], C a power of two; key 0 is the empty context
    # [C, 4]: COUNT as a token string; as a context TOTAL, ESCAPE beyond the static one's, and
    # DISTINCT, the escape of a model without a static part.
    online: np.ndarray


def check_tokens(tokens: ArrayLike, vocab: int) -> np.ndarray:
    """Token ids as an array; ``ValueError`` if one lies outside the vocabulary (compiled code
    checks no bounds).
    """
    ids = np.asarray(tokens, dtype=np.int64)
    if ids.size and not (ids.min() >= 0 and ids.max() < vocab):
        raise ValueError(f"tokens must lie in 0..{vocab - 1}, got {ids.min()}..{ids.max()}")
    return ids


def last_two(context: Sequence[int], vocab: int) -> tuple[int, int]:
    """The last token but one and the last, -1 for each that is not there.

    Nothing before them is looked at; ``ValueError`` if one lies outside the vocabulary.
    """
    first, last = (-1, -1, *check_tokens(context[-2:], vocab).tolist())[-2:]
    return first, last


@inlined
def longer(vocab: int, key: int, token: int) -> int:
    """The key of a token string that ends in one token more than that of ``key``."""
    return key * (vocab + 1) + token + 1


@inlined
def pair_key(vocab: int, first: int, last: int) -> int:
    """The key of two tokens."""
    return longer(vocab, longer(vocab, 0, first), last)


@kernel
def slot_of(keys: np.ndarray, key: int) -> int:
    """The slot that holds ``key``, or the free one where it belongs."""
    mask = keys.size - 1
    slot = ((key * _MIX) >> 32) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@kernel
def find_in(tokens: np.ndarray, low: int, high: int, token: int) -> int:
    """Index of ``token`` in the sorted ``tokens[low:high]``, or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if tokens[middle] < token:
            low = middle + 1
        else:
            high = middle
    return low if low < end and tokens[low] == token else -1


@kernel
def find_pair(counts: Counts, first: int, second: int) -> int:
    return find_in(counts.bi_token, counts.bi_start[first], counts.bi_start[first + 1], second)


@kernel
def has_trigrams(counts: Counts, first: int, last: int) -> bool:
    """Whether ``trigrams`` changes anything after this pair."""
    if counts.order < 3 or first < 0:
        return False
    if counts.online[slot_of(counts.keys, pair_key(counts.vocab, first, last)), TOTAL] > 0:
        return True
    pair = find_pair(counts, first, last)
    return bool(pair >= 0 and counts.bi_escape[pair] > 0)


@inlined
def _add(counts: Counts, context: int, token: int, in_static: bool) -> int:
    """Count ``token`` after the string with the key ``context``; returns how many slots it took."""
    key = longer(counts.vocab, context, token)
    slot = slot_of(counts.keys, key)
    taken = 1 if counts.keys[slot] == EMPTY else 0
    counts.keys[slot] = key
    parent = slot_of(counts.keys, context)
    if counts.online[slot, COUNT] == 0:
        counts.online[parent, DISTINCT] += 1
        if not in_static:
            counts.online[parent, ESCAPE] += 1
    counts.online[slot, COUNT] += 1
    counts.online[parent, TOTAL] += 1
    return taken


@inlined
def _has_triple(counts: Counts, first: int, last: int, token: int) -> bool:
    pair = find_pair(counts, first, last)
    if pair < 0:
        return False
    start, end = counts.tri_start[pair], counts.tri_start[pair + 1]
    return bool(find_in(counts.tri_token, start, end, token) >= 0)


@kernel
def observe(counts: Counts, first: int, last: int, tokens: np.ndarray) -> int:
    """Count ``tokens`` after the context (first, last), in time O(tokens); returns how many slots
    they took.
    """
    taken = 0
    for token in tokens:
        taken += _add(counts, 0, token, counts.uni_count[token] > 0)
        if last >= 0:
            context = longer(counts.vocab, 0, last)
            taken += _add(counts, context, token, find_pair(counts, last, token) >= 0)
        if first >= 0:
            context = pair_key(counts.vocab, first, last)
            taken += _add(counts, context, token, _has_triple(counts, first, last, token))
        first, last = last, token
    return taken


@kernel
def rehash(
    keys: np.ndarray, online: np.ndarray, new_keys: np.ndarray, new_online: np.ndarray
) -> None:
    """Move every entry into the larger, empty table."""
    for old in range(keys.size):
        if keys[old] != EMPTY:
            slot = slot_of(new_keys, keys[old])
            new_keys[slot] = keys[old]
            new_online[slot] = online[old]
