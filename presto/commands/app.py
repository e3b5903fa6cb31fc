"""The commands: ``presto fetch | decode | bench | record | ngram | train``.

``--plugin FILE.py`` before or after a command loads scorers and searches of your own.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from presto.commands.options import Dtype, PairChoice, configurable, option_of
from presto.models.catalogue import names
from presto.records import DecodeConfig
from presto.runs.requests import check_method, check_prompt
from presto.runs.variants import find_variant, variants

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)
ngram_app = typer.Typer(no_args_is_help=True, help="Build n-gram tables.")
train_app = typer.Typer(
    no_args_is_help=True, help="Write self-distillation data and train drafters."
)
app.add_typer(ngram_app, name="ngram")
app.add_typer(train_app, name="train")


@app.command()
def fetch(
    pair: Annotated[str, typer.Argument(help="Name of a pair; default: the embedded one.")] = "",
    revision: Annotated[str | None, typer.Option(help="Revision of the target on the hub.")] = None,
) -> None:
    """Fetch a pair's weights (resumes, quick when all is there) and compile the search."""
    from presto.build import warm_up
    from presto.models.catalogue import find, names
    from presto.models.sources import resolve

    spec = find(pair or names()[0])
    warm_up()
    for source, wanted in ((spec.target, revision), (spec.drafter, None)):
        if source:
            typer.echo(f"ready: {resolve(source, wanted).folder}")


@app.command()
@configurable
def decode(
    choice: PairChoice,
    config: DecodeConfig,
    prompt: str,
    method: Annotated[str, typer.Option(help="ar, linear, blind or presto.")] = "presto",
    trace: Annotated[
        Path | None, typer.Option(help="Save the run here (.json or .json.gz).")
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the text.")
    ] = False,
) -> None:
    """Decode a prompt."""
    check_prompt(prompt)
    chosen = check_method(method)
    from presto.records import save
    from presto.runs.runner import finished, summary

    pair = choice.load()
    run = finished(pair, prompt, chosen, config)
    if trace is not None:
        save(run, trace)
    result = summary(run)
    typer.echo(json.dumps(result, ensure_ascii=False) if json_output else result["text"])


@app.command()
@configurable
def bench(
    choice: PairChoice,
    config: DecodeConfig,
    data: Annotated[
        list[str], typer.Option(help="PATH, PATH:N or PATH:A-B; several times for several sets.")
    ],
    methods: Annotated[
        str, typer.Option(help=f"Comma-separated, of {', '.join(variants())}.")
    ] = "ar,linear,blind,presto",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result file here.")
    ] = None,
) -> None:
    """Run methods side by side on prompt files and print their figures."""
    from presto.runs.prompts import load_prompts

    chosen = [find_variant(name) for name in methods.split(",")]
    prompts = [prompt for source in data for prompt in load_prompts(source)]
    from presto.benchmarks.bench import run_bench, table

    def report(number: int, traces: dict[str, Any]) -> None:
        lengths = {name: len(trace.rounds) for name, trace in traces.items()}
        typer.echo(f"prompt {number + 1} of {len(prompts)}, rounds {lengths}", err=True)

    result = run_bench(choice.load(), prompts, chosen, config, report)
    if json_file is not None:
        json_file.write_text(json.dumps(result, indent=1) + "\n")
    typer.echo(table(result))


@app.command()
@configurable
def record(
    choice: PairChoice,
    config: DecodeConfig,
    prompt: str,
    out: Annotated[Path, typer.Option(help="The recording (.json.gz).")],
    title: Annotated[str, typer.Option(help="Shown in the list of recorded runs.")],
    note: Annotated[str, typer.Option(help="What the run shows, in a sentence.")] = "",
    methods: Annotated[str, typer.Option(help="Comma-separated.")] = "presto,linear,blind,ar",
) -> None:
    """Decode a prompt by several methods and save them as one recording for the explorer."""
    check_prompt(prompt)
    chosen = [check_method(name) for name in methods.split(",")]
    from presto.records import Recording, save
    from presto.runs.runner import finished

    pair = choice.load()
    for (
        method
    ) in chosen:  # a short run of each first, so that no lane pays for compilation or cold caches
        finished(
            pair, prompt, method, replace(config, max_new_tokens=min(8, config.max_new_tokens))
        )
    traces = tuple(finished(pair, prompt, method, config) for method in chosen)
    save(Recording(title, note, traces), out)
    typer.echo(f"{out}: {', '.join(f'{t.method} {len(t.rounds)} rounds' for t in traces)}")


@ngram_app.command("build")
def ngram_build(
    source: Annotated[
        Path, typer.Argument(help="Text, JSONL, or a folder of self-generated shards.")
    ],
    out: Annotated[Path, typer.Option(help="The table (.npz).")],
    tokenizer: Annotated[
        Path | None, typer.Option(help="Tokenizer folder; default: the embedded target's.")
    ] = None,
    order: option_of("order") = 3,  # type: ignore[valid-type]
    min_count: Annotated[int, typer.Option(help="Drop trigrams seen less often.")] = 1,
) -> None:
    """Count n-grams of a target's own text."""
    from presto.training.corpus import build_table

    table = build_table(source, tokenizer, order, min_count)
    table.save(out)
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


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
    from presto.training.jobs import fit_adapter

    schedule = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    fit_adapter(data, checkpoint, out, schedule, dtype, init)


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
    from presto.training.jobs import fit_dflash

    schedule = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    fit_dflash(data, checkpoint, out, schedule, dtype, init)


@train_app.command("scorer")
def train_scorer(
    data: DataFolder,
    out: Annotated[Path, typer.Option(help="The network (.safetensors).")],
    drafts: Annotated[Path, typer.Option(help="Drafts are kept here (.npz); resumed.")],
    system: Annotated[str, typer.Option(help="The pair whose drafts are learned from.")] = "",
    tokens: Annotated[int, typer.Option(help="Tokens of answers to draft at.")] = 10_000,
    steps: Steps = 700,
    seed: DrawSeed = 0,
    dtype: Dtype = "auto",
) -> None:
    """Teach the scorer `learned` what n-gram counts are worth. Resumable."""
    from presto.training.jobs import fit_scorer

    fit_scorer(
        data, drafts, out, system or names()[0], tokens, {"steps": steps, "seed": seed}, dtype
    )


@train_app.command("join")
def train_join(
    source: Annotated[Path, typer.Argument(help="Folder with weights in pieces.")],
    out: Annotated[Path, typer.Option(help="Folder to write, with whole weight files.")],
) -> None:
    """Put weights that travelled in pieces (`make gpu-train`) together again."""
    from presto.models.pieces import join_folder

    join_folder(source, out)
    typer.echo(f"ready: {out}")
