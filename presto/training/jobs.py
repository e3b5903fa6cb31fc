"""The training commands: from the embedded target to shards, from shards to an adapter folder."""

import json
from pathlib import Path

from presto.models.registry import load_target
from presto.models.selfspec import save_draft_adapter
from presto.models.weights import FOLDER, embedded_target
from presto.training.adapter import AdapterRecipe, AdapterTrainer
from presto.training.selfgen import Writer, load_shards, write_shards

MAX_PROMPT, MAX_ANSWER, GREEDY_SHARE = 64, 132, 0.7


def write_data(folder: Path, tokens: int, rows: int, seed: int, dtype: str) -> None:
    """Fill ``folder`` with shards of self-generated documents."""
    backbone, text = load_target(embedded_target(), dtype)
    done = len(list(folder.glob("shard-*.npz")))
    writer = Writer(backbone, text, rows, seed + done, MAX_PROMPT, MAX_ANSWER, GREEDY_SHARE)
    write_shards(writer, folder, tokens)


def fit_adapter(data: Path, checkpoint: Path, out: Path, steps: int, dtype: str, init: Path | None = None) -> None:
    """Train to ``steps``, from the adapter folder ``init`` if given, and write the adapter folder with its curve."""
    documents = load_shards(data)
    if not documents:
        raise ValueError(f"{data} holds no shards: run `python -m presto train data --out {data}` first")
    backbone, _ = load_target(embedded_target(), dtype)
    trainer = AdapterTrainer(backbone, documents, AdapterRecipe(steps=steps), init)
    trainer.run(checkpoint)
    save_draft_adapter(out, trainer.adapter, trainer.mask_embedding, FOLDER)
    (out / "curve.json").write_text(json.dumps(trainer.curve, indent=0) + "\n")
