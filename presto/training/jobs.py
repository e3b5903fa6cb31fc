"""The training commands: from the embedded target to shards, from shards to an adapter folder."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from presto.kernels.learned import Networks, save_networks
from presto.models.registry import find, load_target
from presto.models.selfspec import save_draft_adapter
from presto.models.tables import table_of
from presto.models.weights import FOLDER, embedded_target
from presto.records.writing import check_output_folder, follow_umask, write_whole
from presto.runs.stopping import stoppable
from presto.training.adapter import AdapterRecipe, AdapterTrainer
from presto.training.dflash import DFlashRecipe, DFlashTrainer
from presto.training.documents import Document
from presto.training.drafts import drafts_along
from presto.training.scorer import Rows, ScorerRecipe, fit, joined, rows_of
from presto.training.selfgen import Writer
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
    documents: list[Document],
    checkpoint: Path,
    out: Path,
    schedule: Schedule,
    dtype: str,
    init: Path | None = None,
) -> None:
    """Train by ``schedule``, from the adapter folder ``init`` if given, and write the adapter
    folder with its curve.
    """
    recipe = AdapterRecipe(**schedule)
    backbone, _ = load_target(embedded_target(), dtype)
    trainer = AdapterTrainer(backbone, documents, recipe, init)
    with stoppable() as stop:
        trainer.run(checkpoint, stop)
    save_adapter(trainer, out)


def fit_dflash(
    documents: list[Document],
    checkpoint: Path,
    out: Path,
    schedule: Schedule,
    dtype: str,
    init: Path | None = None,
) -> None:
    """Train by ``schedule``, from the drafter folder ``init`` if given, and write the drafter
    folder with its curve.
    """
    recipe = DFlashRecipe(**schedule)
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


def _write_curve(folder: Path, trainer: Trainer) -> None:
    text = json.dumps(trainer.curve, indent=0) + "\n"
    write_whole(folder / "curve.json", text.encode())
    follow_umask(folder)


def fit_scorer(
    documents: list[Document],
    drafts: Path,
    out: Path,
    systems: list[str],
    places: int,
    schedule: Schedule,
    dtype: str,
) -> None:
    """Draft along documents with every pair, at ``places`` places each, and teach the count
    networks, with the static table and without. ``drafts`` is the folder that keeps what was
    drafted.
    """
    documents = [document for document in documents if len(document.label_ids) > 1]
    recipe, static, online = ScorerRecipe(**schedule), list[Rows](), list[Rows]()
    drafts.mkdir(parents=True, exist_ok=True)
    for system in systems:
        backbone, _ = load_target(embedded_target(), dtype)
        along = drafts_along(find(system), backbone, documents, drafts / f"{system}.npz", places)
        static.append(rows_of(along, table_of(system), backbone.vocab))
        online.append(rows_of(along, None, backbone.vocab))
        logger.info("%s: %d rows of %d texts", system, len(online[-1].right), len(along))
    fitted = [fit(joined(rows), recipe) for rows in (static, online)]
    save_networks(Networks(*(model.weights() for model, _ in fitted)), out)
    curve = {name: curve for name, (_, curve) in zip(Networks._fields, fitted, strict=True)}
    write_whole(out.with_suffix(".curve.json"), (json.dumps(curve, indent=0) + "\n").encode())
