"""The commands ``presto train data | adapter | dflash | scorer | join``."""

from pathlib import Path
from typing import Annotated

import typer

from presto.commands.options import Dtype, option_of
from presto.models.catalogue import names
from presto.records.writing import check_output, check_output_folder
from presto.training.shards import documents_for, documents_of, in_drawn_order

train_app = typer.Typer(
    no_args_is_help=True, help="Write self-distillation data and train drafters."
)


@train_app.command("data")
def train_data(
    out: Annotated[Path, typer.Option(help="Folder of the shards.")],
    tokens: Annotated[int, typer.Option(help="Tokens to write.")] = 1_050_000,
    rows: Annotated[int, typer.Option(help="Documents written at a time.")] = 128,
    seed: option_of("seed") = 0,  # type: ignore[valid-type]
    dtype: Dtype = "auto",
) -> None:
    """Let the target write prompts and answers, with its top-16 log-probabilities as labels.
    Resumable.
    """
    from presto.training.jobs import write_data

    write_data(out, tokens, rows, seed, dtype)


DataFolder = Annotated[Path, typer.Option(help="Folder written by `train data`.")]
Checkpoint = Annotated[Path, typer.Option(help="Training state; resumed if it is there.")]
OutFolder = Annotated[Path, typer.Option(help="Folder to write at the end.")]
Steps = Annotated[int, typer.Option(help="Optimiser steps in all.")]
LearningRate = Annotated[
    float, typer.Option(help="Of AdamW, after the warm-up; falls along a cosine.")
]
DrawSeed = Annotated[int, typer.Option(help="Of the documents and blocks of each step.")]
InitFolder = Annotated[Path | None, typer.Option(help="Folder of an earlier result to start from.")]


@train_app.command("adapter")
def train_adapter(
    data: DataFolder,
    checkpoint: Checkpoint,
    out: OutFolder,
    steps: Steps = 1100,
    learning_rate: LearningRate = 1e-3,
    seed: DrawSeed = 0,
    init: InitFolder = None,
    dtype: Dtype = "auto",
) -> None:
    """Train the gated draft adapter by self-distillation. Resumable."""
    documents = documents_for(data, checkpoint, out)
    from presto.training.jobs import fit_adapter

    schedule = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    fit_adapter(documents, checkpoint, out, schedule, dtype, init)


@train_app.command("dflash")
def train_dflash(
    data: DataFolder,
    checkpoint: Checkpoint,
    out: OutFolder,
    steps: Steps = 3000,
    learning_rate: LearningRate = 1e-3,
    seed: DrawSeed = 0,
    init: InitFolder = None,
    dtype: Dtype = "auto",
) -> None:
    """Train a DFlash drafter for the embedded target. Resumable."""
    documents = documents_for(data, checkpoint, out)
    from presto.training.jobs import fit_dflash

    schedule = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    fit_dflash(documents, checkpoint, out, schedule, dtype, init)


@train_app.command("scorer")
def train_scorer(
    data: DataFolder,
    drafts: Annotated[Path, typer.Option(help="Folder that keeps the drafts, a file per pair.")],
    out: Annotated[Path, typer.Option(help="The network (.safetensors), with its curve beside.")],
    system: Annotated[
        list[str] | None, typer.Option(help="Pair whose drafts are learned from, several times.")
    ] = None,
    places: Annotated[int, typer.Option(help="Places of the texts that each pair drafts at.")] = (
        15_000
    ),
    steps: Steps = 1500,
    learning_rate: LearningRate = 3e-3,
    seed: DrawSeed = 0,
    dtype: Dtype = "auto",
) -> None:
    """Teach the scorer `learned` what n-gram counts are worth. Resumable."""
    check_output(out)
    check_output_folder(drafts)
    documents, pairs = in_drawn_order(documents_of(data)), system or list(names()[:1])
    from presto.training.jobs import fit_scorer

    schedule = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    fit_scorer(documents, drafts, out, pairs, places, schedule, dtype)


@train_app.command("join")
def train_join(
    source: Annotated[Path, typer.Argument(help="Folder with weights in pieces.")],
    out: Annotated[Path, typer.Option(help="Folder to write, with whole weight files.")],
) -> None:
    """Put weights that travelled in pieces (`make gpu-train`) together again."""
    check_output_folder(out)
    from presto.models.pieces import join_folder

    join_folder(source, out)
    typer.echo(f"ready: {out}")
