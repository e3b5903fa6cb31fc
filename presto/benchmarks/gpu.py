"""What the first GPU has to say: losslessness, stage shares at true sizes with random weights,
tests (docs/gpu.md).

python -m presto.benchmarks.gpu --json gpu.json         8 minutes on a GPU, without network
python -m presto.benchmarks.gpu --shrink --no-tests     the same code in seconds: tiny sizes
"""

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, field, replace
from importlib.metadata import version
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import torch
import typer

from presto.benchmarks.drawn import FIRST, KEPT, DrawnRun, geometric
from presto.benchmarks.engine_tests import run_tests
from presto.benchmarks.random_pairs import (
    NEMOTRON_8B,
    NEMOTRON_TINY,
    QWEN_8B,
    QWEN_TINY,
    dflash_pair,
    nemotron_pair,
)
from presto.build import warm_up
from presto.decoding.loop import autoregressive, decode
from presto.decoding.timing import clock_of
from presto.models.attention import kernel_of
from presto.models.device import device_name, dtype_name, pick_device
from presto.models.fixed import Recording, Shapes
from presto.models.fused import prepare
from presto.models.target import TargetSystem
from presto.records import DecodeConfig, Method, Round, Stages
from presto.records.writing import check_output, write_whole
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import config_for

T = TypeVar("T")
Build = Callable[[torch.dtype], TargetSystem]
DRAFTING: tuple[Method, ...] = tuple(name for name in get_args(Method) if name != "ar")
BUDGETS, PROMPT, WARM, MEASURED, COMMITS = (32, 128, 256, 512), 600, 4, 16, 20
SHRUNK_BUDGETS, SHRUNK_PROMPT, SHRUNK_MEASURED = (8, 32), 40, 3
TOKENS, SHRUNK_TOKENS = 40, 12  # of a text that is compared
MOVED = (0, 3, 9, 20, 41, 77, 101, 120)  # rows that the commit measurement keeps of 128
STAGES = tuple(asdict(Stages()))
PASSES: dict[Shapes, str] = {"free": "eager", "padded": "padded", "recorded": "graphs"}
MEASURING = 0.6  # share of the time after which nothing new is measured: the rest is the tests'


@dataclass
class Check:
    """One run of this script: where, until when, and what it had no time or memory for."""

    device: torch.device
    shrink: bool
    minutes: float
    accepted: float
    began: float = field(default_factory=time.monotonic)
    skipped: list[str] = field(default_factory=list)

    def left(self, share: float = 1.0) -> float:
        """Seconds until ``share`` of the time is used."""
        return self.began + 60 * self.minutes * share - time.monotonic()

    @property
    def cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def shapes(self) -> tuple[Shapes, Shapes]:
        """Passes as they come, and the fastest kind this device has."""
        return "free", "recorded" if self.cuda else "padded"

    def attempt(self, name: str, step: Callable[..., T], *arguments: Any) -> list[T]:
        """The result of a step; nothing if time or memory is out, and then ``name`` joins the
        skipped ones.
        """
        if self.left(MEASURING) <= 0:
            self.skipped.append(f"{name}: out of time")
            return []
        try:
            return [step(*arguments)]
        except torch.OutOfMemoryError:
            self.skipped.append(f"{name}: out of memory")
            return []


def small_pairs(device: torch.device) -> dict[str, Build]:
    """Tiny pairs whose choices vary."""
    return {
        "dflash": lambda dtype: dflash_pair(QWEN_TINY, device, dtype),
        "nemotron": lambda dtype: nemotron_pair(NEMOTRON_TINY, device, dtype),
        "nemotron-quadratic": lambda dtype: nemotron_pair(
            NEMOTRON_TINY, device, dtype, quadratic=True
        ),
    }


def true_pairs(check: Check) -> dict[str, Build]:
    """The public pairs' sizes, or tiny ones in their place."""
    qwen, nemotron = (QWEN_TINY, NEMOTRON_TINY) if check.shrink else (QWEN_8B, NEMOTRON_8B)
    return {
        "qwen3-8b-dflash": lambda dtype: dflash_pair(qwen, check.device, dtype),
        "nemotron-8b": lambda dtype: nemotron_pair(nemotron, check.device, dtype),
    }


def losslessness(check: Check, pair: str, build: Build, dtype: torch.dtype) -> dict[str, Any]:
    """How many texts of a tiny pair equal plain decoding's: seeds, temperatures, methods and kinds
    of pass.
    """
    torch.manual_seed(0)
    system = build(dtype)
    runs = equal = 0
    cap = SHRUNK_TOKENS if check.shrink else TOKENS
    for seed, temperature in product(range(1 if check.shrink else 6), (0.0, 0.8)):
        prompt = [2 + (7 * seed + 5 * i) % 90 for i in range(3 + seed)]
        config = DecodeConfig(max_new_tokens=cap, budget=24, temperature=temperature, seed=seed)
        system.backbone.shapes = "free"
        reference = _text(autoregressive(system, prompt, config))
        for method, shapes in product(DRAFTING, check.shapes):
            system.backbone.shapes = shapes
            runs += 1
            equal += _text(decode(system, prompt, config_for(method, config))) == reference
    return {"pair": pair, "dtype": dtype_name(dtype), "runs": runs, "equal": equal}


def _text(rounds: Iterator[Round]) -> list[int]:
    return [token for round_ in rounds for token in round_.committed]


def stage_times(
    check: Check, pair: str, system: TargetSystem, shapes: Shapes, budget: int, method: Method
) -> dict[str, Any]:
    """Median milliseconds of every stage over the rounds behind the warm-up, and the run's largest
    memory.
    """
    if check.cuda:
        torch.cuda.reset_peak_memory_stats(check.device)
    system.backbone.shapes = shapes
    played = _play(
        check, system, config_for(method, DecodeConfig(budget=budget, max_new_tokens=4096))
    )
    columns = zip(*(astuple(round_.seconds) for round_ in played), strict=True)
    stages = asdict(Stages(*(statistics.median(column) * 1e3 for column in columns)))
    total = sum(stages.values())
    return {
        "pair": pair,
        "passes": "padded" if shapes == "recorded" and Recording.refused else PASSES[shapes],
        "budget": budget,
        "method": method,
        "nodes": round(statistics.mean(len(round_.tree.tokens) - 1 for round_ in played), 1),
        "committed": round(statistics.mean(len(round_.committed) for round_ in played), 2),
        "milliseconds": {name: round(value, 4) for name, value in stages.items()},
        "shares": {name: round(value / total, 4) for name, value in stages.items()},
        "round_milliseconds": round(total, 3),
        "peak_gigabytes": round(torch.cuda.max_memory_allocated(check.device) / 1e9, 2)
        if check.cuda
        else None,
    }


def _play(check: Check, system: TargetSystem, config: DecodeConfig) -> list[Round]:
    config = replace(config, draft_length=min(31, system.max_draft))
    rounds, length = (SHRUNK_MEASURED, SHRUNK_PROMPT) if check.shrink else (MEASURED, PROMPT)
    prompt = [7919 * i % system.vocab for i in range(length)]
    run = DrawnRun.begin(system, prompt, config)
    assert isinstance(run, DrawnRun)
    run.lengths = geometric(check.accepted, seed=0)
    return list(islice(run.rounds(DrawnRun.draft_round), WARM, WARM + rounds))


def commit_cost(check: Check, pair: str, system: TargetSystem) -> dict[str, Any]:
    """Median milliseconds to move 8 scattered rows of 128 to the front of the tail, in all
    layers.
    """
    clock, spent = clock_of(check.device), []
    with torch.inference_mode():
        for _ in range(COMMITS):
            cache = system.backbone.new_cache(512)
            rows = torch.zeros(128, dtype=torch.long, device=check.device)
            mask = torch.ones(1, 128, 128, dtype=torch.bool, device=check.device)
            system.backbone.hidden(system.backbone.embeddings(rows)[None], rows[None], mask, cache)
            before = clock.now()
            cache.keep(MOVED)
            after = clock.now()
            clock.wait(after)
            spent.append(clock.seconds(before, after) * 1e3)
    return {
        "pair": pair,
        "layers": len(cache.layers),
        "milliseconds": round(statistics.median(spent), 4),
    }


def run_check(check: Check, tests: bool) -> dict[str, Any]:
    """All steps, as the result file has them."""
    warm_up()
    lossless, stages, commits = (
        list[dict[str, Any]](),
        list[dict[str, Any]](),
        list[dict[str, Any]](),
    )
    for (pair, build), dtype in product(
        small_pairs(check.device).items(), (torch.float32, torch.bfloat16)
    ):
        lossless += check.attempt(
            f"lossless {pair} {dtype_name(dtype)}", losslessness, check, pair, build, dtype
        )
    for pair, build in true_pairs(check).items():
        for system in check.attempt(pair, build, torch.bfloat16):
            prepare(system.networks)
            commits += check.attempt(f"commit {pair}", commit_cost, check, pair, system)
            budgets = SHRUNK_BUDGETS if check.shrink else BUDGETS
            for case in product(check.shapes, budgets, DRAFTING):
                stages += check.attempt(
                    f"stages {pair} {case}", stage_times, check, pair, system, *case
                )
            del system  # before the next pair is built
    return {
        "schema_version": 1,
        "where": _where(check),
        "shrunk": check.shrink,
        "drawn": {
            "law": "geometric",
            "mean_accepted": check.accepted,
            "first": FIRST,
            "kept": KEPT,
        },
        "lossless": lossless,
        "stages": stages,
        "commit": commits,
        "tests": run_tests(check.device.type, max(check.left(), 1)) if tests else None,
        "skipped": check.skipped,
        "seconds": round(time.monotonic() - check.began, 1),
    }


def _where(check: Check) -> dict[str, Any]:
    packages = {name: version(name) for name in ("torch", "transformers")}
    return {
        "device": device_name(check.device),
        "python": platform.python_version(),
        **packages,
        "attention": _attention(check.device),
    }


def _attention(device: torch.device) -> str:
    """The kernel that a tree of 128 nodes meets in a model of Qwen3-8B's heads, in bfloat16."""
    heads, rows, columns, size = 8, 4 * 136, 1024, 128
    query, key = (
        torch.zeros(1, heads, count, size, dtype=torch.bfloat16, device=device)
        for count in (rows, columns)
    )
    return kernel_of(query, key, query.new_zeros(1, 1, rows, columns))


def table(result: dict[str, Any]) -> str:
    """The result for people, with what it cannot say."""
    drawn, where = result["drawn"], result["where"]
    lines = [
        f"{where['device']}, torch {where['torch']}, attention: {where['attention']}"
        + ", SHRUNK SIZES: times mean nothing" * result["shrunk"],
        "Random weights accept nothing: accepted nodes per round are drawn from a geometric law "
        "with mean "
        f"{drawn['mean_accepted']:g}, drafted probabilities are put in. Times are measured, "
        "acceptance is not.",
    ]
    for row in result["lossless"]:
        lines.append(
            f"lossless {row['pair']:20} {row['dtype']:9} equal {row['equal']} of {row['runs']}"
        )
    for row in result["commit"]:
        lines.append(
            f"commit   {row['pair']:20} {row['layers']} layers, 8 rows: {row['milliseconds']} ms"
        )
    lines.append(
        f"{'pair':16} {'passes':7} {'B':>4} {'method':7} {'ms':>8}"
        + "".join(f"{n:>8}" for n in STAGES)
        + "   GB"
    )
    for row in result["stages"]:
        shares = "".join(f"{row['shares'][name]:8.1%}" for name in STAGES)
        head = f"{row['pair']:16} {row['passes']:7} {row['budget']:4} {row['method']:7}"
        lines.append(
            f"{head} {row['round_milliseconds']:8.2f}{shares}   {row['peak_gigabytes'] or '-'}"
        )
    if result["tests"]:
        lines.append(f"tests: {result['tests']['summary']}")
    lines += [f"skipped: {name}" for name in result["skipped"]]
    return "\n".join(lines)


def sound(result: dict[str, Any]) -> bool:
    """Whether float32 was exact and no test failed. Bfloat16 is reported only: its near ties may
    fall either way.
    """
    exact = all(
        row["equal"] == row["runs"] for row in result["lossless"] if row["dtype"] == "float32"
    )
    return exact and (result["tests"] is None or result["tests"]["passed"] is not False)


def main(
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result file here.")
    ] = None,
    minutes: Annotated[
        float, typer.Option(help="Wall time; what does not fit is skipped and named.")
    ] = 8.0,
    accepted: Annotated[
        float, typer.Option(help="Mean of the drawn accepted nodes per round.")
    ] = 5.0,
    shrink: Annotated[bool, typer.Option(help="Tiny sizes and few rounds.")] = False,
    tests: Annotated[bool, typer.Option(help="Run the engine's tests on the device, too.")] = True,
) -> None:
    """Check this machine's device. Exit code 1 if a float32 text differs or a test fails."""
    if minutes <= 0 or accepted < 0:
        raise typer.BadParameter(
            f"minutes must be > 0 and accepted >= 0, got {minutes:g} and {accepted:g}"
        )
    if json_file is not None:
        check_output(json_file)
    result = run_check(Check(pick_device(), shrink, minutes, accepted), tests)
    if json_file is not None:
        write_whole(json_file, json.dumps(result, indent=1).encode() + b"\n")
    typer.echo(table(result))
    sys.exit(not sound(result))


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
