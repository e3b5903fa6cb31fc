"""Methods side by side on real prompts: interleaved prompt by prompt after a warm-up.

What is measured is written as it goes: a bench that is stopped leaves a valid file that says so,
and goes on from there.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from presto.benchmarks.results import BenchResult, BenchRun, Plan, digest, parse_result
from presto.benchmarks.summary import differences, summarise
from presto.decoding.loop import check_fits
from presto.models.registry import Pair
from presto.records import DecodeConfig, Trace
from presto.records.writing import check_output, write_whole
from presto.runs.ends import RoundEnd, round_ends
from presto.runs.events import collected
from presto.runs.prompts import Prompt
from presto.runs.runner import run_events
from presto.runs.states import States
from presto.runs.stopping import Stop
from presto.runs.tuning import tuned
from presto.runs.variants import PLAIN, Variant
from presto.runs.versions import versions, where
from presto.scorers import SCORERS

WARM_UP_TOKENS = 24
WRITE_SECONDS = 20.0  # between two writings: the figures of many prompts take a while


@dataclass
class Bench:
    """A benchmark under way. ``runs``: what has been measured, by prompt and method.

    With ``auto`` every method has the budget and draft length that suit it on this device.
    """

    pair: Pair
    prompts: Sequence[Prompt]
    methods: Sequence[Variant]
    config: DecodeConfig
    runs: dict[tuple[int, str], BenchRun] = field(default_factory=dict)
    auto: bool = False

    def __post_init__(self) -> None:
        for prompt in self.prompts:
            ids = self.pair.encode(prompt.text)
            try:
                check_fits(len(ids), self.config, self.pair.system.context)
            except ValueError as error:
                place = f"{prompt.dataset}, line {prompt.line}"
                raise ValueError(f"{place}: {error}") from None

    def measure(self, stop: Stop) -> Iterator[int]:
        """Decode what is still to be decoded, until ``stop``; yields the number of every prompt
        that all methods have.

        The order of methods turns with the prompt, so none is always first.
        """
        left = [number for number in range(len(self.prompts)) if not self._has(number)]
        brief = replace(self.config, max_new_tokens=min(WARM_UP_TOKENS, self.config.max_new_tokens))
        for variant in self.methods if left else ():
            self._decoded(variant, self.prompts[left[0]], brief, stop)
        for number in left:
            turn = number % len(self.methods)
            for variant in (*self.methods[turn:], *self.methods[:turn]):
                if (number, variant.name) not in self.runs:
                    trace = self._decoded(variant, self.prompts[number], self.config, stop)
                    if stop.wanted:
                        return
                    ends = self._ends(trace)
                    self.runs[number, variant.name] = BenchRun.of(number, variant.name, trace, ends)
            yield number

    def _decoded(
        self, variant: Variant, prompt: Prompt, settings: DecodeConfig, stop: Stop
    ) -> Trace:
        config = variant.config(settings)
        events = run_events(self.pair, prompt.text, variant.method, config, self.auto)
        return collected(events, lambda _: stop.wanted)

    def _ends(self, trace: Trace) -> list[RoundEnd | None]:
        """Why its rounds end; none for a scorer that reads what a record does not hold."""
        if SCORERS.find(trace.config.scorer).needs_hidden:
            return []
        states = States(trace, self.pair.table, self.pair.system.vocab)
        return list(round_ends(states, trace.config))

    def chosen(self) -> dict[str, dict[str, int]]:
        """Budget and draft length of every method that drafts, where they are chosen."""
        drafting = [v for v in self.methods if self.auto and v.method != PLAIN]
        configs = {v.name: tuned(self.pair, v.config(self.config))[0] for v in drafting}
        return {
            name: {"budget": config.budget, "draft_length": config.draft_length}
            for name, config in configs.items()
        }

    def _has(self, number: int) -> bool:
        return all((number, variant.name) in self.runs for variant in self.methods)

    def result(self) -> dict[str, Any]:
        """The result file's content (``docs/bench.md``), of the prompts that all methods have."""
        done = [number for number in range(len(self.prompts)) if self._has(number)]
        sets = sorted({self.prompts[number].dataset for number in done})
        of_set = {name: [n for n in done if self.prompts[n].dataset == name] for name in sets}
        rows = self._rows(done)
        return {
            "where": where(self.pair.system),
            "config": asdict(self.config),
            "chosen": self.chosen(),
            "prompts": {name: len(numbers) for name, numbers in of_set.items()},
            "methods": summarise(rows),
            "differences": differences(rows),
            "datasets": {name: summarise(self._rows(of_set[name])) for name in sets},
            "complete": len(done) == len(self.prompts),
            "plan": asdict(self.plan()),
            "runs": [asdict(self.runs[key]) for key in sorted(self.runs)],
        }

    def _rows(self, numbers: Sequence[int]) -> dict[str, list[BenchRun]]:
        return {v.name: [self.runs[number, v.name] for number in numbers] for v in self.methods}

    def plan(self) -> Plan:
        """What was asked for."""
        sets = sorted({prompt.dataset for prompt in self.prompts})
        count = [prompt.dataset for prompt in self.prompts].count
        texts = json.dumps([[prompt.dataset, prompt.text] for prompt in self.prompts])
        return Plan(
            methods=tuple(variant.name for variant in self.methods),
            prompts={name: count(name) for name in sets},
            data=digest(texts),
            models=dict(self.pair.models),
            versions=versions(),
        )

    def go_on(self, result: BenchResult, path: Path) -> None:
        """Take the runs of ``result``, which lies at ``path``. ``ValueError`` names the first thing
        that was otherwise: figures of two devices, versions or settings are no figures.
        """
        if result.plan is None or result.config is None:
            raise ValueError(f"{path} does not hold its runs: begin anew, without --resume")
        parts = asdict(result)
        then = [parts["where"], parts["config"], parts["plan"], {"chosen": parts["chosen"]}]
        chosen = {"chosen": self.chosen()}
        now = [where(self.pair.system), asdict(self.config), asdict(self.plan()), chosen]
        for was, is_now in zip(then, now, strict=True):
            for name in is_now:
                if was[name] != is_now[name]:
                    raise ValueError(
                        f"{path} cannot be gone on with: {name} was {was[name]}, now it is "
                        f"{is_now[name]}; delete it to begin anew"
                    )
        found = {(run.prompt, run.method): run for run in result.runs}
        known = {variant.name for variant in self.methods}
        self.runs |= {k: r for k, r in found.items() if k[0] < len(self.prompts) and k[1] in known}


class ResultFile:
    """The file of a bench, and the one beside it that holds what is measured until it is over.

    ``ValueError`` if it could not be written, or if an unfinished one would be lost.
    """

    def __init__(self, path: Path | None, resume: bool) -> None:
        if resume and path is None:
            raise ValueError("--resume needs --json: the file of the bench to go on with")
        self.path = None if path is None else check_output(path)
        self.partial = None if path is None else path.with_name(f"{path.stem}.partial.json")
        self.resume = resume
        if self.partial is not None and self.partial.exists() and not resume:
            raise ValueError(
                f"{self.partial} holds a bench that was stopped: add --resume to go on with it, or "
                "delete it"
            )

    def read_into(self, bench: Bench) -> None:
        """What is to be gone on with, if it was asked for and there is any."""
        for path in (self.partial, self.path) if self.resume else ():
            if path is not None and path.is_file():
                bench.go_on(parse_result(path.read_text(encoding="utf-8")), path)
                return

    def write(self, result: dict[str, Any]) -> None:
        """Write the unfinished file, or the finished one in its place."""
        if self.path is None or self.partial is None:
            return
        data = json.dumps(result, indent=1).encode() + b"\n"
        write_whole(self.path if result["complete"] else self.partial, data)
        if result["complete"]:
            self.partial.unlink(missing_ok=True)


def run_bench(
    bench: Bench,
    file: ResultFile,
    stop: Stop,
    report: Callable[[int], None] = lambda number: None,
) -> dict[str, Any]:
    """Measure what is still to be measured, writing as it goes, also when it fails; returns the
    result file's content.
    """
    file.read_into(bench)
    written = -WRITE_SECONDS
    try:
        for number in bench.measure(stop):
            report(number)
            if time.monotonic() - written >= WRITE_SECONDS:
                file.write(bench.result())
                written = time.monotonic()
    finally:
        result = bench.result()
        if bench.runs:
            file.write(result)
    return result
