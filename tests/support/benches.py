"""Benches of a pair without a model."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from presto.benchmarks.bench import Bench, measured_here, run_bench
from presto.benchmarks.measuring import Measurer
from presto.benchmarks.parts import WHOLE, Shard
from presto.benchmarks.result_file import ResultFile
from presto.models.catalogue import find
from presto.models.registry import Pair
from presto.records import DecodeConfig
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop
from tests.support.doubles import Letters, Scripted, tiny_gated

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


# On workers, which import what they load by its name


def tiny_pair() -> Pair:
    """A random pair on letters from B to V, that can be loaded in any process."""
    torch.set_num_threads(1)
    return Pair(find("smollm2-gated"), tiny_gated(3), Letters(), None)  # type: ignore[arg-type]


@dataclass
class Fatal(Letters):
    """Letters of which one prompt ends the process that reads it, once: then ``flag`` is there."""

    prompt: str
    flag: Path

    def encode_chat(self, prompt: str, **_: object) -> tuple[int, ...]:
        if prompt == self.prompt and self.flag.with_suffix(".checked").exists():
            if not self.flag.exists():
                self.flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        elif prompt == self.prompt:
            self.flag.with_suffix(".checked").touch()
        return super().encode_chat(prompt)


def fatal_pair(prompt: str, flag: Path) -> Pair:
    """``tiny_pair``, whose process is killed when it decodes ``prompt`` for the first time (when it
    encodes it for the second, that is: before, all prompts are checked).
    """
    return replace(tiny_pair(), text=Fatal(prompt, flag))  # type: ignore[arg-type]
