"""``presto bench``, whole or in parts, here or on a Ray cluster, and ``presto bench merge``."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presto.commands.options import PairChoice, configurable
from presto.records import DecodeConfig
from presto.records.writing import check_output, write_whole
from presto.runs.prompts import Prompt, checked_prompts
from presto.runs.stopping import stoppable
from presto.runs.variants import find_variant, variants

if TYPE_CHECKING:
    from presto.benchmarks.bench import Measure
    from presto.benchmarks.measuring import Conditions

Ray = Annotated[
    bool, typer.Option("--ray", help="Decode on the workers of a Ray cluster (an extra).")
]
Address = Annotated[
    str, typer.Option(help="The Ray cluster to join; otherwise one is started on this machine.")
]
Workers = Annotated[int, typer.Option(help="Ray workers; 0: one per GPU, or per CPU.", min=0)]
bench_app = typer.Typer(invoke_without_command=True)


@bench_app.callback()
@configurable()
def bench(
    choice: PairChoice,
    config: DecodeConfig,
    auto: bool,
    context: typer.Context,
    data: Annotated[
        list[str] | None,
        typer.Option(help="PATH, PATH:N or PATH:A-B; several times for several sets."),
    ] = None,
    methods: Annotated[
        str, typer.Option(help=f"Comma-separated, of {', '.join(variants())}.")
    ] = "ar,linear,blind,presto",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result file here.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a bench that was stopped.")
    ] = False,
    shard: Annotated[
        str, typer.Option(help="I/N: measure part I of N only; `presto bench merge` joins them.")
    ] = "",
    ray: Ray = False,
    address: Address = "",
    workers: Workers = 0,
) -> None:
    """Run methods side by side on prompt files and print their figures.

    What is measured is written as it goes, to FILE.partial.json until the bench is over.
    """
    if context.invoked_subcommand:
        if data:
            raise ValueError("presto bench merge measures nothing: leave out --data")
        return
    if not data:
        raise ValueError("presto bench needs --data: a prompt file, PATH, PATH:N or PATH:A-B")
    if shard and json_file is None:
        raise ValueError("--shard needs --json: the file of the part")
    if not ray and (address or workers):
        raise ValueError("--workers and --address need --ray")
    chosen = list(dict.fromkeys(find_variant(name).name for name in methods.split(",")))
    prompts = checked_prompts(data)
    from presto.benchmarks.bench import Bench, run_bench
    from presto.benchmarks.parts import WHOLE, shard_of
    from presto.benchmarks.result_file import ResultFile
    from presto.benchmarks.summary import table
    from presto.benchmarks.time_left import TimeLeft

    part = shard_of(shard, len(prompts)) if shard else WHOLE
    file = ResultFile(json_file, resume)
    asked = Asked(choice, prompts, chosen, config, auto)
    with asked.on_cluster(address, workers) if ray else asked.here() as (conditions, measure):
        measured = Bench(prompts, chosen, config, conditions, part)
        measured.resume(file)
        progress = TimeLeft(len(measured.left()))

        def report(number: int) -> None:
            rounds = {method: measured.runs[number, method].totals.rounds for method in chosen}
            place = f"prompt {number + 1} of {len(prompts)}"
            typer.echo(f"{place}, rounds {rounds}; {progress.finished()}", err=True)

        with stoppable() as stop:
            result = run_bench(measured, measure, file, stop, report)
    if result["methods"]:
        typer.echo(table(result))
    if not result["complete"]:
        done = sum(result["prompts"].values())
        where = f"kept in {file.partial}: add --resume to go on" if json_file else "printed above"
        where = where if measured.runs else "nothing is kept"
        stop.end(f"{done} of {len(measured.numbers)} prompts are measured, {where}")


@dataclass(frozen=True)
class Asked:
    """What is to be measured, and the two places where that can be done."""

    choice: PairChoice
    prompts: Sequence[Prompt]
    methods: Sequence[str]
    config: DecodeConfig
    auto: bool

    @contextmanager
    def here(self) -> Iterator[tuple["Conditions", "Measure"]]:
        """In this process."""
        from presto.benchmarks.bench import measured_here
        from presto.benchmarks.measuring import Measurer

        measurer = Measurer.loaded(self.choice.load, self.methods, self.config, self.auto)
        measurer.check(self.prompts)
        yield measurer.conditions(), measured_here(measurer)

    @contextmanager
    def on_cluster(self, address: str, workers: int) -> Iterator[tuple["Conditions", "Measure"]]:
        """On the workers of a Ray cluster, which ends with the block unless it was joined."""
        if self.auto:
            raise ValueError(
                "--ray needs a number for --budget: workers that choose apart may differ"
            )
        from presto.benchmarks.spread import checked, loader, measured_on
        from presto.cluster.joining import joined
        from presto.cluster.pool import pool_of

        with joined(address):
            make = loader(self.choice.load, self.methods, self.config)
            with pool_of(make, workers) as pool:
                yield checked(pool, self.prompts), measured_on(pool)


@bench_app.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(help="The files of all parts, in any order.")],
    json_file: Annotated[Path, typer.Option("--json", help="Write the joined result file here.")],
) -> None:
    """Join the parts of a bench (`--shard 1/3`, `2/3`, `3/3`) and print the figures of the whole.

    Refused unless all are parts of one bench: the same pair, settings, versions, prompts and
    device, every part once.
    """
    check_output(json_file)
    if json_file.resolve() in {part.resolve() for part in parts}:
        raise ValueError(f"--json {json_file} is one of the parts: name another file")
    from presto.benchmarks.parts import merged
    from presto.benchmarks.result_file import content
    from presto.benchmarks.summary import table

    result = merged(parts)
    write_whole(json_file, content(result))
    typer.echo(table(result))
