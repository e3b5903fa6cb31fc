"""The n-gram model behind the prefix-aligned scores: interpolated Witten-Bell over 3-, 2-, 1-gram
and uniform.

It adds to the counts of an ``NgramTable`` those of one run as the run grows.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from presto.kernels.counts import EMPTY, Counts, check_tokens, last_two, observe, rehash
from presto.kernels.smoothing import bigrams, trigrams, unigrams
from presto.kernels.table import STORED, NgramTable, check_sizes, frozen, starts


class NgramModel:
    """Counts of a static table plus, if ``online``, of the tokens given to ``extend``; uniform with
    neither.
    """

    def __init__(
        self, vocab: int, static: NgramTable | None = None, online: bool = True, order: int = 3
    ) -> None:
        check_sizes(vocab, order)
        if static is not None and static.vocab != vocab:
            raise ValueError(
                f"the n-gram table has a vocabulary of {static.vocab}, the model one of {vocab}"
            )
        self._online, self._used, self._context = online, 1, (-1, -1)
        shared = _shared(static) if static else _empty(vocab)
        self.counts: Counts = shared._replace(order=order)

    def extend(self, tokens: Sequence[int]) -> None:
        """Count the run's next tokens (its prompt first). Nothing happens in a model that is not
        ``online``.
        """
        if not self._online:
            return
        ids = check_tokens(tokens, self.counts.vocab)
        self._grow(self._used + 3 * ids.size)
        self._used += observe(self.counts, *self._context, ids)
        recent = (*self._context, *ids[-2:].tolist())
        self._context = recent[-2], recent[-1]

    def _grow(self, entries: int) -> None:
        """Room for so many entries in an online table that is at most half full."""
        slots = self.counts.keys.size
        while slots < 2 * entries:
            slots *= 2
        if slots > self.counts.keys.size:
            keys, nodes = _hash_table(slots)
            rehash(self.counts.keys, self.counts.online, keys, nodes)
            self.counts = self.counts._replace(keys=keys, online=nodes)

    def logprobs(self, context: Sequence[int], tokens: Sequence[int] | np.ndarray) -> np.ndarray:
        """log p(t | the last ``order`` - 1 tokens of the context) of every token, in nats."""
        first, last = last_two(context, self.counts.vocab)
        ids = check_tokens(tokens, self.counts.vocab)
        out = np.empty(ids.size)
        unigrams(self.counts, ids, out)
        bigrams(self.counts, last, ids, out)
        trigrams(self.counts, first, last, ids, out)
        result: np.ndarray = np.log(out)
        return result

    def pair_ratios(self, parents: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log p(t | b) / p(t) in nats, ``[D, P, K]``, of ``tokens [D, K]`` behind each of ``parents
        [D, P]``.
        """
        result = np.empty((*parents.shape, tokens.shape[1]))
        for level, (before, after) in enumerate(zip(parents, tokens, strict=True)):
            ids, alone = check_tokens(after, self.counts.vocab), np.empty(len(after))
            unigrams(self.counts, ids, alone)
            for rank, parent in enumerate(check_tokens(before, self.counts.vocab).tolist()):
                given = alone.copy()
                bigrams(self.counts, parent, ids, given)
                result[level, rank] = np.log(given / alone)
        return result

    def logprob(self, context: Sequence[int], token: int) -> float:
        """The same of one token."""
        return float(self.logprobs(context, [token])[0])


def _sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.diff(np.concatenate(([0], np.cumsum(values, dtype=np.int64)))[starts])


def _hash_table(slots: int) -> tuple[np.ndarray, np.ndarray]:
    """An empty online table that knows the empty context, key 0."""
    keys = np.full(slots, EMPTY)
    keys[0] = 0  # slot_of(keys, 0) == 0
    return keys, np.zeros((slots, 4), np.int64)


@lru_cache(maxsize=8)
def _shared(table: NgramTable) -> Counts:
    """The read-only arrays of all runs on this table."""
    bi_start, tri_start = starts(table.bi_length), starts(table.tri_length)
    derived: dict[str, Any] = {
        "uni_total": frozen(_sums(table.bi_count, bi_start)),
        "bi_start": frozen(bi_start),
        "bi_total": frozen(_sums(table.tri_count, tri_start)),
        "tri_start": frozen(tri_start),
    }
    stored = {name: getattr(table, name) for name in STORED if not name.endswith("length")}
    keys, nodes = _hash_table(2)
    escape = int(np.count_nonzero(table.uni_count))
    return Counts(
        table.vocab, table.order, table.tokens, escape, keys=keys, online=nodes, **stored, **derived
    )


@lru_cache(maxsize=8)
def _empty(vocab: int) -> Counts:
    return _shared(NgramTable.build([], vocab))
