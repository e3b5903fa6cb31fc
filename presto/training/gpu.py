"""Train both drafters of the embedded target on a GPU within a wall time, and leave weights in
pieces that travel.

    python -m presto.training.gpu --out gpu-train [--minutes 10]

The target writes its data first, then the DFlash drafter and the gated adapter are trained on it,
each from the one that is shipped. Called again with the same folder it goes on where it stopped.
"""

import json
import logging
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from presto.models.backbone import Backbone
from presto.models.pieces import split_file
from presto.models.registry import load_target
from presto.models.text import Text
from presto.models.weights import embedded_target
from presto.paths import ASSETS
from presto.records.writing import check_output_folder, follow_umask
from presto.runs.refusals import in_one_sentence
from presto.runs.stopping import Stop, stoppable
from presto.training.adapter import AdapterRecipe, AdapterTrainer
from presto.training.dflash import DFlashRecipe, DFlashTrainer
from presto.training.documents import Document
from presto.training.jobs import (
    DFLASH_MASK,
    GREEDY_SHARE,
    MAX_ANSWER,
    MAX_PROMPT,
    save_adapter,
    save_dflash,
)
from presto.training.selfgen import Writer
from presto.training.shards import load_shards, next_number, write_shards

logger = logging.getLogger(__name__)
ADAPTER, DFLASH = "smollm2-draft-adapter", "smollm2-dflash"
DATA_SHARE, DFLASH_SHARE, ADAPTER_SHARE = (
    0.25,
    0.42,
    0.25,
)  # of the time; the rest is for loading and saving

DFLASH_RECIPE, ADAPTER_RECIPE = DFlashRecipe(documents=64), AdapterRecipe(documents=24)


@dataclass(frozen=True)
class Plan:
    """What is trained, and from how much text; the defaults are for a GPU with 24 GB or more.

    The features of all tokens stay on the device: 5,760 bytes each.
    """

    tokens: int = 2_500_000
    rows: int = 512  # documents written at a time
    dflash: DFlashRecipe = DFLASH_RECIPE
    adapter: AdapterRecipe = ADAPTER_RECIPE
    shipped: Path | None = ASSETS / "models"  # drafters to start from; without it from new ones


def train_all(
    backbone: Backbone, text: Text, out: Path, seconds: float, plan: Plan, stop: Stop
) -> None:
    """Write ``out/data``, training states beside it, and the folders of both drafters in pieces."""
    documents = write_data(backbone, text, out / "data", DATA_SHARE * seconds, plan, stop)
    stop.end(f"finished documents are in {out}, the same command goes on from them")
    mask = text.tokenizer.convert_tokens_to_ids(DFLASH_MASK)
    recipe = replace(
        plan.dflash, mask_token_id=mask, documents=_most(plan.dflash.documents, documents)
    )
    dflash = DFlashTrainer(backbone, documents, recipe, plan.shipped and plan.shipped / DFLASH)
    dflash.run(out / "dflash.pt", stop, seconds=DFLASH_SHARE * seconds)
    save_dflash(dflash, out / DFLASH)
    del dflash
    smaller = replace(plan.adapter, documents=_most(plan.adapter.documents, documents))
    adapter = AdapterTrainer(backbone, documents, smaller, plan.shipped and plan.shipped / ADAPTER)
    adapter.run(out / "adapter.pt", stop, seconds=ADAPTER_SHARE * seconds)
    save_adapter(adapter, out / ADAPTER)
    for name in (DFLASH, ADAPTER):
        for path in sorted((out / name).glob("*model.safetensors")):
            split_file(path)
        follow_umask(out / name)


def _most(wanted: int, documents: list[Document]) -> int:
    """Documents per step: half of them at most, some are held out."""
    return max(1, min(wanted, len(documents) // 2))


def write_data(
    backbone: Backbone, text: Text, folder: Path, seconds: float, plan: Plan, stop: Stop
) -> list[Document]:
    """Self-generated documents: what is there, and what ``seconds`` add to it up to the plan's
    tokens.
    """
    there = load_shards(folder)
    if sum(len(document.tokens) for document in there) >= plan.tokens:
        return there
    seed = next_number(folder)
    writer = Writer(backbone, text, plan.rows, seed, MAX_PROMPT, MAX_ANSWER, GREEDY_SHARE)
    write_shards(writer, folder, plan.tokens, stop, seconds)
    return load_shards(folder)


def report(out: Path) -> str:
    """Where each drafter ended, and how it gets into the project."""
    lines = []
    for name in (DFLASH, ADAPTER):
        curve = json.loads((out / name / "curve.json").read_text())
        reached = (
            f"step {curve[-1]['step']}, accepted {curve[-1]['accepted']} on held-out text"
            if curve
            else "no step"
        )
        lines.append(f"{name}: {reached}")
        lines.append(f"  python -m presto train join {out / name} --out assets/models/{name}")
    return "\n".join(
        [*lines, "Run `presto bench` before and after: only a better drafter should be shipped."]
    )


def main(
    out: Annotated[
        Path,
        typer.Option(help="Folder of data, training states and results; resumed if it is there."),
    ],
    minutes: Annotated[float, typer.Option(help="Wall time of data and training together.")] = 10.0,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, float16 or auto.")] = "auto",
) -> None:
    """Train both embedded drafters."""
    if minutes <= 0:
        raise typer.BadParameter(f"minutes must be > 0, got {minutes:g}")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    check_output_folder(out)
    backbone, text = load_target(embedded_target(), dtype)
    with stoppable() as stop:
        train_all(backbone, text, out, 60 * minutes, Plan(), stop)
    typer.echo(report(out))


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
