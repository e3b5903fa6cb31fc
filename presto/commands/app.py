"""The commands: ``presto fetch | decode | bench | record | serve | ngram | train``.

``--plugin FILE.py`` before or after a command loads scorers and searches of your own.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presto.commands.bench import bench_app
from presto.commands.options import PairChoice, configurable, option_of
from presto.commands.progress import Progress
from presto.commands.serve import serve
from presto.commands.train import train_app
from presto.records import DecodeConfig, Method, Recording, Trace, save
from presto.records.bounds import MAX_LANES, MAX_NOTE, MAX_TITLE
from presto.records.measures import output_ids
from presto.records.writing import check_output
from presto.runs.events import GrowingRun, collected
from presto.runs.requests import METHODS, check_method, check_prompt
from presto.runs.stopping import Stop, stoppable

if TYPE_CHECKING:
    from presto.models.registry import Pair

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)
ngram_app = typer.Typer(no_args_is_help=True, help="Build n-gram tables.")
app.command()(serve)
app.add_typer(bench_app, name="bench")
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
    for source, wanted in ((spec.target, revision), (spec.drafter, None)):
        if source:
            typer.echo(f"ready: {resolve(source, wanted).folder}")
    warm_up()


@app.command()
@configurable(usually_auto=True)
def decode(
    choice: PairChoice,
    config: DecodeConfig,
    auto: bool,
    prompt: str,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "presto",
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
    if trace is not None:
        check_output(trace)
    from presto.runs.runner import run_events, summary

    pair = choice.load()
    with stoppable() as stop, Progress(config.max_new_tokens) as progress:

        def enough(run: GrowingRun) -> bool:
            progress.tell(chosen, run)
            return stop.wanted

        run = collected(run_events(pair, prompt, chosen, config, auto), enough)
    if trace is not None:
        save(run, trace)
    result = summary(run)
    typer.echo(json.dumps(result, ensure_ascii=False) if json_output else result["text"])
    if run.finish == "stopped":
        kept = f"the run so far is in {trace}" if trace else "the text so far was printed"
        stop.end(f"{len(output_ids(run))} of at most {config.max_new_tokens} tokens, {kept}")


@app.command()
@configurable()
def record(
    choice: PairChoice,
    config: DecodeConfig,
    auto: bool,
    prompt: str,
    out: Annotated[Path, typer.Option(help="The recording (.json.gz).")],
    title: Annotated[str, typer.Option(help="Shown in the list of recorded runs.")],
    note: Annotated[str, typer.Option(help="What the run shows, in a sentence.")] = "",
    methods: Annotated[str, typer.Option(help="Comma-separated.")] = "presto,linear,blind,ar",
) -> None:
    """Decode a prompt by several methods and save them as one recording for the explorer."""
    check_prompt(prompt)
    chosen = [check_method(name) for name in methods.split(",")]
    check_output(out)
    if len(title) > MAX_TITLE or len(note) > MAX_NOTE or len(chosen) > MAX_LANES:
        raise ValueError(
            f"a recording has at most {MAX_LANES} methods, {MAX_TITLE:,} characters of title and "
            f"{MAX_NOTE:,} of note"
        )
    pair = choice.load()
    with stoppable() as stop:
        traces = _recorded(pair, prompt, chosen, config, auto, stop)
    if traces:
        save(Recording(title, note, tuple(traces)), out)
        typer.echo(f"{out}: {', '.join(f'{t.method} {len(t.rounds)} rounds' for t in traces)}")
    kept = f"{out} has what was decoded" if traces else "nothing was decoded yet"
    stop.end(f"{len(traces)} of {len(chosen)} methods were begun, {kept}")


def _recorded(
    pair: "Pair",
    prompt: str,
    methods: list[Method],
    config: DecodeConfig,
    auto: bool,
    stop: Stop,
) -> list[Trace]:
    """The runs of the methods, up to and including the one in which ``stop`` came.

    A short run of each goes before, so that none pays for compilation or cold caches.
    """
    from presto.runs.runner import run_events

    brief = replace(config, max_new_tokens=min(8, config.max_new_tokens))
    for method in methods:
        collected(run_events(pair, prompt, method, brief, auto), lambda _: stop.wanted)
    traces: list[Trace] = []
    with Progress(config.max_new_tokens) as progress:
        for method in methods:
            if stop.wanted:
                break

            def enough(run: GrowingRun, method: str = method) -> bool:
                progress.tell(method, run)
                return stop.wanted

            traces.append(collected(run_events(pair, prompt, method, config, auto), enough))
    return traces


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
    check_output(out)
    from presto.training.corpus import build_table

    table = build_table(source, tokenizer, order, min_count)
    table.save(out)
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB")
