"""Benches of a pair without a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from presto.benchmarks.bench import Bench, measured_here, run_bench
from presto.benchmarks.measuring import Measurer
from presto.benchmarks.parts import WHOLE, Shard
from presto.benchmarks.result_file import ResultFile
from presto.models.catalogue import find
from presto.models.registry import Pair
from presto.records import DecodeConfig
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop
from tests.support.doubles import Letters, Scripted

PROMPTS = [Prompt(name, text, 1) for name, text in (("a", "AB"), ("a", "C"), ("b", "ABC"))]
CONFIG = DecodeConfig(max_new_tokens=8, budget=5, draft_length=3)


def pair(choose: Callable[[Sequence[int]], int] = lambda prefix: 2 + len(prefix) % 7) -> Pair:
    """A pair whose drafter is right two times out of three."""
    system = Scripted(choose, lambda prefix, depth: 2 + (len(prefix) + depth + (depth == 2)) % 7)
    return Pair(find("smollm2-gated"), system, Letters(), None)  # type: ignore[arg-type]


def stopping(after: int, act: Callable[[], object]) -> Pair:
    """The same, but ``act`` is called when the target is asked for the n-th time."""
    asked = 0

    def choose(prefix: Sequence[int]) -> int:
        nonlocal asked
        asked += 1
        if asked == after:
            act()
        return 2 + len(prefix) % 7

    return pair(choose)


METHODS = ("ar", "linear", "presto")


def measurer(pair: Pair, auto: bool = False) -> Measurer:
    return Measurer.loaded(lambda: pair, METHODS, CONFIG, auto)


def begun(own: Measurer, shard: Shard = WHOLE) -> Bench:
    return Bench(PROMPTS, METHODS, CONFIG, own.conditions(), shard)


def ran(
    path: Path | None,
    pair: Pair,
    resume: bool = False,
    stop: Stop | None = None,
    shard: Shard = WHOLE,
    report: Callable[[int], None] = lambda number: None,
) -> dict[str, Any]:
    """The result of a bench from its beginning to its end."""
    own = measurer(pair)
    bench, file = begun(own, shard), ResultFile(path, resume)
    bench.resume(file)
    return run_bench(bench, measured_here(own), file, stop or Stop(), report)


def certain(result: dict[str, Any]) -> Any:
    """What of a result does not depend on the clock."""
    runs = [run | {"seconds": 0} for run in result["runs"]]
    figures = {
        name: {key: row[key] for key in ("tau_macro", "histogram", "equal_to_ar")}
        for name, row in result["methods"].items()
    }
    return runs, figures, result["differences"], result["prompts"], result["complete"]
