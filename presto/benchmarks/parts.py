"""A bench in parts: which prompts a part measures, and parts joined to the whole.

A part takes every N-th prompt, so that parts of several data sets take about equally long.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from presto.benchmarks.results import BenchResult, BenchRun, Part, Plan, basis, parse_result
from presto.benchmarks.summary import figures
from presto.records import quoted, shown

MAX_SHARDS = 10_000
LONGEST_VALUE = 200  # characters of a differing value, in a sentence


class Shard(NamedTuple):
    """Part ``number``, from 1, of ``of`` parts."""

    number: int
    of: int

    def numbers(self, count: int) -> range:
        """The numbers, from 0, of its prompts among ``count``."""
        return range(self.number - 1, count, self.of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE = Shard(1, 1)


def shard_of(text: str, prompts: int) -> Shard:
    """The shard that is written ``3/8``, of so many prompts; ``ValueError`` in one sentence."""
    match = re.fullmatch(r"([1-9]\d{0,4})/([1-9]\d{0,4})", text, re.ASCII)
    shard = Shard(*map(int, match.groups())) if match else None
    if shard is None or not shard.number <= shard.of <= MAX_SHARDS:
        raise ValueError(
            f"--shard must be I/N with 1 ≤ I ≤ N ≤ {MAX_SHARDS:,}, such as 3/8, got {quoted(text)}"
        )
    if shard.of > prompts:
        raise ValueError(f"--shard {shard} has parts without a prompt: there are {prompts} prompts")
    return shard


class _File(NamedTuple):
    """A part that was read."""

    path: Path
    result: BenchResult
    part: Part
    plan: Plan

    @property
    def shard(self) -> Shard:
        return Shard(self.part.number, self.part.of)


def merged(paths: Sequence[Path]) -> dict[str, Any]:
    """The result file's content of the bench whose parts lie at ``paths``, in any order.

    ``ValueError`` in one sentence, with file and field, if they are not all of its parts.
    """
    files = sorted((_read(path) for path in paths), key=lambda file: file.shard)
    for file in files[1:]:
        _check_alike(files[0], file)
    for one, two in pairwise(files):
        if one.shard == two.shard:
            raise ValueError(f"{one.path} and {two.path} are both part {one.shard}")
    first, present = files[0], {file.part.number for file in files}
    for number in range(1, first.part.of + 1):
        if number not in present:
            raise ValueError(f"part {Shard(number, first.part.of)} is missing")
    sets = [name for name, count in first.part.sets for _ in range(count)]
    runs: dict[tuple[int, str], BenchRun] = {}
    for file in files:
        runs |= _runs(file, len(sets))
    parsed = asdict(first.result)
    return {
        **{name: parsed[name] for name in ("where", "config", "chosen")},
        **figures(runs, first.plan.methods, sets),
        "complete": True,
        "plan": parsed["plan"],
        "runs": [asdict(runs[key]) for key in sorted(runs)],
    }


def _read(path: Path) -> _File:
    if not path.is_file():
        raise ValueError(f"no such result file: {path}")
    try:
        result = parse_result(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if result.part is None or result.plan is None or result.config is None:
        raise ValueError(f"{path} is no part of a bench: its part is missing, --shard writes it")
    if not result.complete:
        raise ValueError(f"{path} is not complete: finish it with --resume, then merge")
    planned = Counter[str]()
    for name, count in result.part.sets:
        planned[name] += count
    if planned != Counter(result.plan.prompts):
        raise ValueError(f"{path}: the sets of its part are not the prompts of its plan")
    return _File(path, result, result.part, result.plan)


def _check_alike(first: _File, other: _File) -> None:
    """``ValueError`` names the first thing in which two files are not parts of one bench."""
    expected, found = basis(asdict(first.result)), basis(asdict(other.result))
    for one, two in ((expected, found), (asdict(first.part), asdict(other.part))):
        for name, value in one.items():
            if name not in ("part", "number") and two[name] != value:
                there, here = (shown(str(v), LONGEST_VALUE) for v in (value, two[name]))
                raise ValueError(
                    f"{other.path} does not belong to {first.path}: {name} is {here}, there it is "
                    f"{there}"
                )


def _runs(file: _File, prompts: int) -> dict[tuple[int, str], BenchRun]:
    """A part's runs: every one that it should have, once, and no other."""
    methods = file.plan.methods
    wanted = {(n, method) for n in file.shard.numbers(prompts) for method in methods}
    runs: dict[tuple[int, str], BenchRun] = {}
    for run in file.result.runs:
        key = run.prompt, run.method
        if key not in wanted or key in runs:
            problem = "twice" if key in runs else "of another part or method"
            raise ValueError(f"{file.path}: runs has prompt {key[0]} by {key[1]} {problem}")
        runs[key] = run
    if lost := sorted(wanted - runs.keys()):
        raise ValueError(f"{file.path}: runs lacks prompt {lost[0][0]} by {lost[0][1]}")
    return runs
