"""The folder of self-generated documents: numbered ``.npz`` shards that a later call adds to."""

import logging
import math
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from presto.kernels.arrays import read_arrays
from presto.records.writing import alone, check_output, check_output_folder, replacing
from presto.runs.stopping import Stop
from presto.training.documents import LABEL_WIDTH, Document

if TYPE_CHECKING:
    from presto.training.selfgen import Writer

logger = logging.getLogger(__name__)
_SHARD = re.compile(r"shard-(\d+)\.npz")
_UNFINISHED = ("shard-*.tmp.npz", ".*.tmp")  # what a process that was killed left behind
SHARD_DOCUMENTS = 200
FEWEST = 2
SHARD_SECONDS = 60.0  # so much work is lost at most when the process is killed


def shard_numbers(folder: Path) -> dict[int, Path]:
    """The finished shards of a folder by number, in order."""
    found = ((_SHARD.fullmatch(path.name), path) for path in folder.glob("shard-*.npz"))
    return dict(sorted((int(match[1]), path) for match, path in found if match))


def next_number(folder: Path) -> int:
    """The number of the next shard: above all there are, even where some were deleted."""
    return max(shard_numbers(folder), default=-1) + 1


def save_shard(path: Path, documents: list[Document]) -> None:
    """Write documents as one flat ``.npz`` shard, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            tokens=np.concatenate([d.tokens for d in documents]),
            lengths=np.array([len(d.tokens) for d in documents], np.int32),
            answer_starts=np.array([d.answer_start for d in documents], np.int32),
            label_ids=np.concatenate([d.label_ids for d in documents]),
            label_logprobs=np.concatenate([d.label_logprobs for d in documents]),
        )


def load_shards(folder: Path) -> list[Document]:
    """All documents of a data folder, in shard order; ``ValueError`` names a shard that is
    damaged.
    """
    return [document for path in shard_numbers(folder).values() for document in _load_shard(path)]


def documents_for(data: Path, checkpoint: Path, out: Path) -> list[Document]:
    """What a training learns from; the places of its state and its result are checked before
    anything else.
    """
    check_output_folder(checkpoint.parent)
    if checkpoint.exists():
        check_output(checkpoint)
    check_output_folder(out)
    return documents_of(data)


def documents_of(data: Path) -> list[Document]:
    """All documents of a data folder; ``ValueError`` if there are none."""
    documents = load_shards(data)
    if not documents:
        raise ValueError(
            f"{data} holds no shards: run `python -m presto train data --out {data}` first"
        )
    return documents


def in_drawn_order(documents: list[Document]) -> list[Document]:
    """The documents in an order that says nothing of their length: shards begin with short ones."""
    return [documents[i] for i in np.random.default_rng(0).permutation(len(documents))]


def _load_shard(path: Path) -> list[Document]:
    try:
        arrays = read_arrays(path)
        lengths, starts = (
            arrays["lengths"].astype(np.int64),
            arrays["answer_starts"].astype(np.int64),
        )
        tokens, labels = arrays["tokens"], (arrays["label_ids"], arrays["label_logprobs"])
        if not _agree(lengths, starts, tokens, labels):
            raise ValueError("its sizes do not agree")
    except KeyError as error:
        raise ValueError(f"damaged shard {path}: it lacks {error}; delete it") from None
    except ValueError as error:
        raise ValueError(f"damaged shard {path}: {error}; delete it") from None
    answers = lengths - starts
    ends, label_ends = np.cumsum(lengths), np.cumsum(answers)
    return [
        Document(
            tokens[end - length : end],
            int(start),
            *(label[stop - answer : stop] for label in labels),
        )
        for end, length, start, stop, answer in zip(
            ends, lengths, starts, label_ends, answers, strict=True
        )
    ]


def _agree(
    lengths: np.ndarray, starts: np.ndarray, tokens: np.ndarray, labels: tuple[np.ndarray, ...]
) -> bool:
    """Whether the arrays of a shard describe the same documents."""
    if {lengths.shape, starts.shape} != {(lengths.size,)} or tokens.shape != (lengths.sum(),):
        return False
    if tokens.dtype.kind not in "ui" or min(starts.min(initial=0), tokens.min(initial=0)) < 0:
        return False
    answers = lengths - starts
    shapes = {label.shape for label in labels}
    return bool(answers.min(initial=0) >= 0) and shapes == {(answers.sum(), LABEL_WIDTH)}


def write_shards(
    writer: "Writer", folder: Path, tokens: int, stop: Stop, seconds: float = math.inf
) -> None:
    """Generate until the folder holds ``tokens`` prompt and answer tokens, for ``seconds`` (and
    until there are ``FEWEST`` documents: one to learn from, one held out), or until ``stop``.

    A later call goes on where this ended. ``ValueError`` if another process writes the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        for pattern in _UNFINISHED:
            for path in folder.glob(pattern):
                path.unlink()
        _write(writer, folder, tokens, stop, seconds)


def _write(writer: "Writer", folder: Path, tokens: int, stop: Stop, seconds: float) -> None:
    there = load_shards(folder)
    total, count = sum(len(d.tokens) for d in there), len(there)
    pending: list[Document] = []
    written, began = 0, time.monotonic()
    saved, over = began, False

    def save() -> None:
        save_shard(folder / f"shard-{next_number(folder):04d}.npz", pending)
        rate = written / (time.monotonic() - began)
        logger.info("%d of %d tokens, %.0f tokens/s", total, tokens, rate)

    for document in writer.documents(stop):
        pending.append(document)
        total += len(document.tokens)
        written += len(document.tokens)
        count += 1
        late = time.monotonic() - began > seconds
        over = total >= tokens or (late and count >= FEWEST)
        unsaved = time.monotonic() - saved > SHARD_SECONDS
        if len(pending) == SHARD_DOCUMENTS or unsaved or over:
            save()
            pending, saved = [], time.monotonic()
        if over:
            return
    if pending:
        save()
