"""The n-gram model behind the prefix-aligned scores: interpolated Witten-Bell over 3-, 2-, 1-gram
and uniform.

A ``NgramTable`` holds counts from text that the target generated; it is built once, pruned to a
size, packed into one file and shared read-only by all runs. An ``NgramModel`` adds to its counts
those of one run as the run grows.
"""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from presto.kernels.arrays import read_arrays
from presto.kernels.counts import (
    EMPTY,
    Counts,
    bigrams,
    check_tokens,
    last_two,
    observe,
    rehash,
    trigrams,
    unigrams,
)
from presto.records.writing import write_whole

FORMAT = 1
MAX_VOCAB = 2**21 - 2  # (vocab + 1)^3 must fit in 63 bits: the key of a triple
_STORED = (
    *("uni_count", "uni_escape", "bi_length"),  # [vocab]
    *("bi_token", "bi_count", "bi_escape", "tri_length"),  # [pairs]
    *("tri_token", "tri_count"),  # [triples]
)


@dataclass(frozen=True, eq=False)
class NgramTable:
    """Counts of a corpus as sorted, read-only ``int32`` arrays (named as in ``Counts``); ``tokens``
    were counted.

    ``length`` arrays give the number of successors of each context. Totals follow from them and are
    not stored. ``min_count``: rarer triples were dropped; their counts went to the context's
    escape, so all sums stay 1.
    """

    vocab: int
    order: int
    tokens: int
    min_count: int
    uni_count: np.ndarray
    uni_escape: np.ndarray
    bi_length: np.ndarray
    bi_token: np.ndarray
    bi_count: np.ndarray
    bi_escape: np.ndarray
    tri_length: np.ndarray
    tri_token: np.ndarray
    tri_count: np.ndarray

    @classmethod
    def build(
        cls, documents: Iterable[Sequence[int]], vocab: int, order: int = 3, min_count: int = 1
    ) -> Self:
        """Count every document on its own. ``ValueError`` names a token outside the vocabulary."""
        _check_sizes(vocab, order)
        parts = [check_tokens(document, vocab) for document in documents]
        tokens = np.concatenate(parts) if parts else np.empty(0, np.int64)
        owner = np.repeat(np.arange(len(parts)), [part.size for part in parts])
        pairs = np.where(owner[:-1] == owner[1:], tokens[:-1] * vocab + tokens[1:], -1)
        bi_key, place, bi_count = np.unique(
            pairs[pairs >= 0], return_inverse=True, return_counts=True
        )
        index = np.full(pairs.shape, -1)
        index[pairs >= 0] = place
        inside = (index[:-1] >= 0) & (index[1:] >= 0) & (order >= 3)
        tri_key, tri_count = np.unique(
            index[:-1][inside] * vocab + tokens[2:][inside], return_counts=True
        )
        bi_length = np.bincount(bi_key // vocab, minlength=vocab)
        tri_length = np.bincount(tri_key // vocab, minlength=bi_key.size)
        ones = np.bincount(tokens, minlength=vocab), bi_length, bi_length
        twos = bi_key % vocab, bi_count, tri_length, tri_length
        arrays = map(_frozen, (*ones, *twos, tri_key % vocab, tri_count))
        return cls(vocab, order, int(tokens.size), 1, *arrays).pruned(min_count)

    def pruned(self, min_count: int) -> Self:
        """Without the triples counted fewer than ``min_count`` times; their counts go to the
        context's escape.
        """
        if min_count <= self.min_count:
            return self
        keep = self.tri_count >= min_count
        owner = np.repeat(np.arange(self.tri_length.size), self.tri_length)
        lost = np.bincount(
            owner[~keep], weights=self.tri_count[~keep], minlength=self.tri_length.size
        )
        return replace(
            self,
            min_count=min_count,
            bi_escape=_frozen(self.bi_escape + lost.astype(np.int64)),
            tri_length=_frozen(np.bincount(owner[keep], minlength=self.tri_length.size)),
            tri_token=_frozen(self.tri_token[keep]),
            tri_count=_frozen(self.tri_count[keep]),
        )

    def fitted(self, max_bytes: int) -> Self:
        """The table with the least pruning whose packed form has at most ``max_bytes``."""
        table, size = self, len(self.to_bytes())
        while size > max_bytes:
            if not table.tri_token.size:
                raise ValueError(
                    f"the table needs {size} bytes without any triple, at most {max_bytes} are "
                    "allowed"
                )
            table = table.pruned(table.min_count + 1)
            size = len(table.to_bytes())
        return table

    def to_bytes(self) -> bytes:
        """A compressed npz: JSON metadata and the arrays, tokens as gaps, in the smallest type that
        fits.
        """
        meta = {"format": FORMAT} | {
            name: getattr(self, name) for name in ("vocab", "order", "tokens", "min_count")
        }
        arrays = {name: getattr(self, name) for name in _STORED}
        for level, lengths in (("bi_token", self.bi_length), ("tri_token", self.tri_length)):
            arrays[level] = _gaps(arrays[level], lengths)
        small = {
            name: array.astype(np.min_scalar_type(int(array.max(initial=0))))
            for name, array in arrays.items()
        }
        file = io.BytesIO()
        np.savez_compressed(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **small)
        return file.getvalue()

    def save(self, path: Path) -> None:
        """Write the packed form, whole or not at all."""
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file written by ``save``; ``ValueError`` says what is wrong with it."""
        try:
            stored = read_arrays(path)
            meta = json.loads(stored["meta"].tobytes())
            if meta.pop("format") != FORMAT or not all(type(n) is int for n in meta.values()):
                raise ValueError(f"its format is not {FORMAT}")
            arrays = {name: _whole_numbers(stored[name]) for name in _STORED}
            for level, lengths in (
                ("bi_token", arrays["bi_length"]),
                ("tri_token", arrays["tri_length"]),
            ):
                arrays[level] = _ungap(arrays[level], lengths)
            fields: dict[str, Any] = meta | {name: _frozen(array) for name, array in arrays.items()}
            table = cls(**fields)
            table._check()
        except KeyError as error:
            raise ValueError(f"not a valid n-gram table: {path}: it lacks {error}") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a valid n-gram table: {path}: {error}") from None
        return table

    def _check(self) -> None:
        _check_sizes(self.vocab, self.order)
        pairs, triples = self.bi_token.size, self.tri_token.size
        sizes = dict(zip(_STORED, (self.vocab,) * 3 + (pairs,) * 4 + (triples,) * 2, strict=True))
        for name, size in sizes.items():
            array = getattr(self, name)
            if array.shape != (size,) or array.min(initial=0) < 0:
                raise ValueError(f"{name} must be {size} counts, got shape {array.shape}")
        # Without an escape per continuation a probability could be 0.
        escapes = ((self.uni_escape, self.bi_length), (self.bi_escape, self.tri_length))
        if self.uni_count.sum() != self.tokens or any((a < b).any() for a, b in escapes):
            raise ValueError("its counts do not add up")
        if max(self.bi_token.max(initial=0), self.tri_token.max(initial=0)) >= self.vocab:
            raise ValueError(f"a token lies outside the vocabulary of {self.vocab}")


class NgramModel:
    """Counts of a static table plus, if ``online``, of the tokens given to ``extend``; uniform with
    neither.
    """

    def __init__(
        self, vocab: int, static: NgramTable | None = None, online: bool = True, order: int = 3
    ) -> None:
        _check_sizes(vocab, order)
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

    def logprob(self, context: Sequence[int], token: int) -> float:
        """The same of one token."""
        return float(self.logprobs(context, [token])[0])


def _check_sizes(vocab: int, order: int) -> None:
    if not 1 <= vocab <= MAX_VOCAB:
        raise ValueError(f"the vocabulary must have 1 to {MAX_VOCAB} tokens, got {vocab}")
    if order not in (2, 3):
        raise ValueError(f"the order must be 2 or 3, got {order}")


def _whole_numbers(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "ui":
        raise ValueError(f"expected whole numbers, got an array of {array.dtype}")
    return array.astype(np.int64)


def _frozen(array: np.ndarray) -> np.ndarray:
    if array.max(initial=0) >= 2**31:
        raise ValueError("an n-gram count does not fit in 31 bits")
    result = array.astype(np.int32)
    result.flags.writeable = False
    return result


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(lengths)))


def _gaps(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Sorted rows as differences; the first of each row is kept whole."""
    gaps = np.diff(tokens, prepend=0)
    first = _starts(lengths)[:-1][lengths > 0]
    gaps[first] = tokens[first]
    return gaps


def _ungap(gaps: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The sorted rows again; ``ValueError`` unless the lengths are those of the rows."""
    if gaps.min(initial=0) < 0 or lengths.sum() != gaps.size:
        raise ValueError("its counts do not add up")
    running = _starts(gaps)
    before = np.repeat(running[_starts(lengths)[:-1]], lengths)
    result: np.ndarray = running[1:] - before
    return result


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
    bi_start, tri_start = _starts(table.bi_length), _starts(table.tri_length)
    derived: dict[str, Any] = {
        "uni_total": _frozen(_sums(table.bi_count, bi_start)),
        "bi_start": _frozen(bi_start),
        "bi_total": _frozen(_sums(table.tri_count, tri_start)),
        "tri_start": _frozen(tri_start),
    }
    stored = {name: getattr(table, name) for name in _STORED if not name.endswith("length")}
    keys, nodes = _hash_table(2)
    escape = int(np.count_nonzero(table.uni_count))
    return Counts(
        table.vocab, table.order, table.tokens, escape, keys=keys, online=nodes, **stored, **derived
    )


@lru_cache(maxsize=8)
def _empty(vocab: int) -> Counts:
    return _shared(NgramTable.build([], vocab))
