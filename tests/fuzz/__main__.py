"""The command of ``tests.fuzz``."""

import argparse
import faulthandler
import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.configuration import set_hypothesis_home_dir

from presto.build import warm_up
from presto.paths import cache_folder
from tests.fuzz.kinds import FILES, REQUESTS
from tests.fuzz.watch import Tally, problem_of

MEMORY = 2 << 30  # bytes: what asks for more fails, and takes no other process with it
SHOWN = 20  # problems told of a kind


def file_problems(
    kind: str, folder: Path, first: int, cases: int, tally: Tally
) -> Iterator[tuple[str, str]]:
    """Case and problem of every wrong answer to a changed file."""
    made = FILES[kind](folder)
    allowed = (str(cache_folder()), str(folder / "cache"))
    for number in range(first, first + cases):
        case = made.case(Random(f"{kind} {number}"))
        if problem := problem_of(case, tally, allowed):
            yield f"case {number}", problem


def request_problems(kind: str, first: int, cases: int, tally: Tally) -> Iterator[tuple[str, str]]:
    """The same for requests, made up by hypothesis."""
    strategy, answer = REQUESTS[kind]
    found: list[tuple[str, str]] = []

    @seed(first)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def check(value: Any) -> None:
        if problem := problem_of(lambda: answer(value), tally, (str(cache_folder()),)):
            found.append((ascii(value)[:300], problem))

    check()
    yield from found


def run(kind: str, first: int, cases: int) -> int:
    """Run the cases of a kind and tell what is wrong; the number of problems."""
    began, tally = time.process_time(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        problems = (
            file_problems(kind, Path(folder), first, cases, tally)
            if kind in FILES
            else request_problems(kind, first, cases, tally)
        )
        count = 0
        for place, problem in problems:
            count += 1
            if count <= SHOWN:
                print(f"  {kind}, {place}: {ascii(problem)[:500]}", flush=True)
    seconds = time.process_time() - began
    print(
        f"{kind:12} {tally.answered} answered, {tally.refused} refused, {count} problems, "
        f"slowest {tally.slowest:.2f} s, memory {tally.largest:.0f} MB, "
        f"{seconds:.0f} s of processor time",
        flush=True,
    )
    return count


def main() -> None:
    """Exit code 1 if any answer is wrong."""
    known = (*FILES, *REQUESTS)
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(known))
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    chosen = parser.parse_args()
    if unknown := set(chosen.kinds) - set(known):
        parser.error(f"unknown kind {min(unknown)}: known are {', '.join(known)}")
    faulthandler.enable()
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    logging.disable()
    warm_up()
    home = Path.cwd()
    before = set(os.listdir(home))
    with tempfile.TemporaryDirectory() as own:
        set_hypothesis_home_dir(own)
        count = sum(run(kind, chosen.first, chosen.cases) for kind in chosen.kinds or known)
    if appeared := set(os.listdir(home)) - before:
        print(f"left behind in {home.name}: {sorted(appeared)}")
        count += 1
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
