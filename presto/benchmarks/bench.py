"""Methods side by side on real prompts: interleaved prompt by prompt after a warm-up.

What is measured is written as it goes: a bench that is stopped leaves a valid file that says so,
and goes on from there. A bench may be one of several parts (``presto.benchmarks.parts``).
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from presto.benchmarks.measuring import Conditions, Measurer
from presto.benchmarks.parts import WHOLE, Shard
from presto.benchmarks.result_file import ResultFile
from presto.benchmarks.results import BenchResult, BenchRun, Part, Plan, basis, digest
from presto.benchmarks.summary import figures
from presto.records import DecodeConfig
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop

WRITE_SECONDS = 20.0  # between two writings: the figures of many prompts take a while


@dataclass
class Bench:
    """A benchmark under way: what was asked for, under which conditions, and what is measured.

    ``methods`` are names of variants. ``runs``: what has been measured, by prompt and method.
    """

    prompts: Sequence[Prompt]
    methods: Sequence[str]
    config: DecodeConfig
    conditions: Conditions
    shard: Shard = WHOLE
    runs: dict[tuple[int, str], BenchRun] = field(default_factory=dict)

    @property
    def numbers(self) -> range:
        """The numbers of the prompts that it measures: all, or those of its shard."""
        return self.shard.numbers(len(self.prompts))

    def left(self) -> list[int]:
        """The numbers of the prompts that some method still has to decode."""
        return [number for number in self.numbers if self.missing(number)]

    def missing(self, number: int) -> list[str]:
        """The methods that have still to decode a prompt."""
        return [method for method in self.methods if (number, method) not in self.runs]

    def add(self, run: BenchRun) -> None:
        """Keep what was measured."""
        self.runs[run.prompt, run.method] = run

    def result(self) -> dict[str, Any]:
        """The result file's content (``docs/bench.md``), of the prompts that all methods have."""
        part = self.part()
        return {
            "where": self.conditions.where,
            "config": asdict(self.config),
            "chosen": self.conditions.chosen,
            **figures(self.runs, self.methods, [prompt.dataset for prompt in self.prompts]),
            "complete": not self.left(),
            "plan": asdict(self.plan()),
            **({} if part is None else {"part": asdict(part)}),
            "runs": [asdict(self.runs[key]) for key in sorted(self.runs)],
        }

    def plan(self) -> Plan:
        """What was asked for."""
        texts = json.dumps([[prompt.dataset, prompt.text] for prompt in self.prompts])
        return Plan(
            methods=tuple(self.methods),
            prompts=dict(sorted(Counter(prompt.dataset for prompt in self.prompts).items())),
            data=digest(texts),
            models=self.conditions.models,
            versions=self.conditions.versions,
        )

    def part(self) -> Part | None:
        """Which part it is; ``None`` where it is the whole."""
        if self.shard == WHOLE:
            return None
        blocks = groupby(prompt.dataset for prompt in self.prompts)
        sets = tuple((name, len(list(prompts))) for name, prompts in blocks)
        return Part(number=self.shard.number, of=self.shard.of, sets=sets)

    def resume(self, file: ResultFile) -> None:
        """Take what is to be gone on with, if that was asked for and there is any."""
        if (found := file.begun()) is not None:
            self.go_on(*found)

    def go_on(self, result: BenchResult, path: Path) -> None:
        """Take the runs of ``result``, which lies at ``path``. ``ValueError`` names the first thing
        that was otherwise: figures of two devices, versions or settings are no figures.
        """
        if result.plan is None or result.config is None:
            raise ValueError(f"{path} does not hold its runs: begin anew, without --resume")
        was, now = basis(asdict(result)), basis(self.result())
        for name, value in now.items():
            if was[name] != value:
                raise ValueError(
                    f"{path} cannot be gone on with: {name} was {was[name]}, now it is {value}; "
                    "delete it to begin anew"
                )
        known = {(number, method) for number in self.numbers for method in self.methods}
        for run in result.runs:
            if (run.prompt, run.method) in known:
                self.add(run)


Measure = Callable[[Bench, Stop], Iterator[int]]  # how what is left of a bench gets measured


def measured_here(measurer: Measurer) -> Measure:
    """In this process, prompt after prompt, until the stop; yields the number of every prompt that
    all methods have.
    """

    def measure(bench: Bench, stop: Stop) -> Iterator[int]:
        for number in bench.left():
            prompt, wanted = bench.prompts[number], bench.missing(number)
            for run in measurer.measured(number, prompt, wanted, stop):
                bench.add(run)
            if stop.wanted:
                return
            yield number

    return measure


def run_bench(
    bench: Bench,
    measure: Measure,
    file: ResultFile,
    stop: Stop,
    report: Callable[[int], None] = lambda number: None,
) -> dict[str, Any]:
    """Measure what is still to be measured, writing as it goes, also when it fails; returns the
    result file's content.
    """
    written = -WRITE_SECONDS
    try:
        for number in measure(bench, stop):
            report(number)
            if time.monotonic() - written >= WRITE_SECONDS:
                file.write(bench.result())
                written = time.monotonic()
    finally:
        result = bench.result()
        if bench.runs:
            file.write(result)
    return result
