"""N-gram counts of a corpus: built once, pruned to a size, kept in one file, read by all runs."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from presto.kernels.arrays import read_arrays
from presto.kernels.counts import check_tokens
from presto.records.writing import write_whole

FORMAT = 1
MAX_VOCAB = 2**21 - 2  # (vocab + 1)^3 must fit in 63 bits: the key of a triple
STORED = (
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
        check_sizes(vocab, order)
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
        arrays = map(frozen, (*ones, *twos, tri_key % vocab, tri_count))
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
            bi_escape=frozen(self.bi_escape + lost.astype(np.int64)),
            tri_length=frozen(np.bincount(owner[keep], minlength=self.tri_length.size)),
            tri_token=frozen(self.tri_token[keep]),
            tri_count=frozen(self.tri_count[keep]),
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
        arrays = {name: getattr(self, name) for name in STORED}
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
            arrays = {name: _whole_numbers(stored[name]) for name in STORED}
            for level, lengths in (
                ("bi_token", arrays["bi_length"]),
                ("tri_token", arrays["tri_length"]),
            ):
                arrays[level] = _ungap(arrays[level], lengths)
            fields: dict[str, Any] = meta | {name: frozen(array) for name, array in arrays.items()}
            table = cls(**fields)
            table._check()
        except KeyError as error:
            raise ValueError(f"not a valid n-gram table: {path}: it lacks {error}") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a valid n-gram table: {path}: {error}") from None
        return table

    def _check(self) -> None:
        check_sizes(self.vocab, self.order)
        pairs, triples = self.bi_token.size, self.tri_token.size
        sizes = dict(zip(STORED, (self.vocab,) * 3 + (pairs,) * 4 + (triples,) * 2, strict=True))
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


def check_sizes(vocab: int, order: int) -> None:
    if not 1 <= vocab <= MAX_VOCAB:
        raise ValueError(f"the vocabulary must have 1 to {MAX_VOCAB} tokens, got {vocab}")
    if order not in (2, 3):
        raise ValueError(f"the order must be 2 or 3, got {order}")


def _whole_numbers(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "ui":
        raise ValueError(f"expected whole numbers, got an array of {array.dtype}")
    return array.astype(np.int64)


def frozen(array: np.ndarray) -> np.ndarray:
    if array.max(initial=0) >= 2**31:
        raise ValueError("an n-gram count does not fit in 31 bits")
    result = array.astype(np.int32)
    result.flags.writeable = False
    return result


def starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(lengths)))


def _gaps(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Sorted rows as differences; the first of each row is kept whole."""
    gaps = np.diff(tokens, prepend=0)
    first = starts(lengths)[:-1][lengths > 0]
    gaps[first] = tokens[first]
    return gaps


def _ungap(gaps: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The sorted rows again; ``ValueError`` unless the lengths are those of the rows."""
    if gaps.min(initial=0) < 0 or lengths.sum() != gaps.size:
        raise ValueError("its counts do not add up")
    running = starts(gaps)
    before = np.repeat(running[starts(lengths)[:-1]], lengths)
    result: np.ndarray = running[1:] - before
    return result
