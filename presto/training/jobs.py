"""The training commands: from the embedded target to shards, from shards to an adapter folder."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from presto.kernels.learned import save_network
from presto.models.registry import Pair, load, load_target
from presto.models.selfspec import save_draft_adapter
from presto.models.weights import FOLDER, embedded_target
from presto.records import DecodeConfig
from presto.records.writing import check_output, check_output_folder, follow_umask, write_whole
from presto.runs.references import (
    Reference,
    follow_reference,
    load_references,
    save_references,
)
from presto.runs.stopping import stoppable
from presto.training.adapter import AdapterRecipe, AdapterTrainer
from presto.training.dflash import DFlashRecipe, DFlashTrainer
from presto.training.scorer import ScorerRecipe, fit, rows_of
from presto.training.selfgen import Document, Writer
from presto.training.shards import load_shards, next_number, write_shards
from presto.training.trainer import Trainer

logger = logging.getLogger(__name__)
DFLASH_MASK = "<empty_output>"  # a special token of the embedded target that no chat contains
Schedule = dict[str, Any]  # fields of a Recipe: steps, learning_rate, seed
MAX_PROMPT, MAX_ANSWER, GREEDY_SHARE = 64, 132, 0.7


def write_data(folder: Path, tokens: int, rows: int, seed: int, dtype: str) -> None:
    """Fill ``folder`` with shards of self-generated documents."""
    if tokens < 1 or rows < 1:
        raise ValueError(f"tokens and rows must be at least 1, got {tokens} and {rows}")
    check_output_folder(folder)
    load_shards(folder)
    backbone, text = load_target(embedded_target(), dtype)
    seed += next_number(folder)
    writer = Writer(backbone, text, rows, seed, MAX_PROMPT, MAX_ANSWER, GREEDY_SHARE)
    with stoppable() as stop:
        write_shards(writer, folder, tokens, stop)
        stop.end(f"finished documents are in {folder}, the same command goes on from them")


def fit_adapter(
    data: Path,
    checkpoint: Path,
    out: Path,
    schedule: Schedule,
    dtype: str,
    init: Path | None = None,
) -> None:
    """Train by ``schedule``, from the adapter folder ``init`` if given, and write the adapter
    folder with its curve.
    """
    recipe, documents = AdapterRecipe(**schedule), _documents(data, checkpoint, out)
    backbone, _ = load_target(embedded_target(), dtype)
    trainer = AdapterTrainer(backbone, documents, recipe, init)
    with stoppable() as stop:
        trainer.run(checkpoint, stop)
    save_adapter(trainer, out)


def fit_dflash(
    data: Path,
    checkpoint: Path,
    out: Path,
    schedule: Schedule,
    dtype: str,
    init: Path | None = None,
) -> None:
    """Train by ``schedule``, from the drafter folder ``init`` if given, and write the drafter
    folder with its curve.
    """
    recipe, documents = DFlashRecipe(**schedule), _documents(data, checkpoint, out)
    backbone, text = load_target(embedded_target(), dtype)
    mask = text.tokenizer.convert_tokens_to_ids(DFLASH_MASK)
    trainer = DFlashTrainer(backbone, documents, replace(recipe, mask_token_id=mask), init)
    with stoppable() as stop:
        trainer.run(checkpoint, stop)
    save_dflash(trainer, out)


def save_adapter(trainer: AdapterTrainer, out: Path) -> None:
    """Write the adapter folder with its curve."""
    save_draft_adapter(out, trainer.adapter, trainer.mask_embedding, FOLDER)
    _write_curve(out, trainer)


def save_dflash(trainer: DFlashTrainer, out: Path) -> None:
    """Write the drafter folder with its curve."""
    trainer.drafter.save(out)
    _write_curve(out, trainer)


def _documents(data: Path, checkpoint: Path, out: Path) -> list[Document]:
    """What is learned from; the places of state and result are checked before anything else."""
    check_output_folder(checkpoint.parent)
    if checkpoint.exists():
        check_output(checkpoint)
    check_output_folder(out)
    return _shards(data)


def _shards(data: Path) -> list[Document]:
    documents = load_shards(data)
    if not documents:
        raise ValueError(
            f"{data} holds no shards: run `python -m presto train data --out {data}` first"
        )
    return documents


def _write_curve(folder: Path, trainer: Trainer) -> None:
    text = json.dumps(trainer.curve, indent=0) + "\n"
    write_whole(folder / "curve.json", text.encode())
    follow_umask(folder)


def fit_scorer(
    data: Path,
    drafts: Path,
    out: Path,
    system: str,
    tokens: int,
    schedule: Schedule,
    dtype: str,
) -> None:
    """Draft along documents until ``tokens`` of their answers are seen, and teach the network."""
    check_output(out)
    check_output(drafts)
    documents, pair = _shards(data), load(system, dtype)
    references = _drafts(pair, documents, drafts, tokens)
    rows = rows_of(references, pair.table, pair.system.vocab)
    logger.info("%d rows of %d texts", len(rows.right), len(references))
    model, curve = fit(rows, ScorerRecipe(**schedule))
    save_network(model.weights(), out)
    out.with_suffix(".curve.json").write_text(json.dumps(curve, indent=0) + "\n")


def _drafts(pair: Pair, documents: list[Document], path: Path, tokens: int) -> list[Reference]:
    """Drafts at every answer token of the documents, kept in ``path``."""
    done = load_references(path) if path.exists() else []
    seen = sum(len(reference.marginals) for reference in done)
    config = DecodeConfig()
    with stoppable() as stop:
        for document in documents[len(done) :]:
            if seen >= tokens or stop.wanted:
                break
            text, start = document.tokens.tolist(), document.answer_start
            done.append(follow_reference(pair, text, start, config))
            seen += len(done[-1].marginals)
            if len(done) % 20 == 0:
                save_references(done, path)
                logger.info("%d of %d tokens", seen, tokens)
    save_references(done, path)
    stop.end(f"{path} holds drafts at {seen} tokens")
    return done
