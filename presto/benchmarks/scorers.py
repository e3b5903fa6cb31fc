"""Scorers compared on held-out prompts, exactly and without re-running the model for each.

One pass per prompt writes the target's greedy text and takes the drafter's marginals at *every*
position. Any scorer, search and budget is then played over these records: at T = 0 the result
equals decoding (``presto.runs.replay``).

    python -m presto.benchmarks.scorers --data PATH:17-32 … [--references FILE.npz] [--ray]
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from presto.benchmarks.spread import prepared
from presto.benchmarks.statistics import estimate
from presto.benchmarks.time_left import TimeLeft
from presto.cluster.joining import joined
from presto.cluster.pool import Pool, pool_of
from presto.models.registry import Pair, load
from presto.records import DecodeConfig, changed
from presto.records.writing import check_output
from presto.runs.prompts import checked_prompts
from presto.runs.references import (
    Reference,
    acceptance,
    load_references,
    oracle,
    save_references,
    write_reference,
)
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import make_config
from presto.runs.stopping import Stop, stoppable
from presto.runs.variants import alternatives
from presto.scorers import SCORERS
from presto.searches import SEARCHES

LAMBDAS = (0.2, 0.35, 0.5, 0.7, 1.0)
ORACLES = (8, 32)  # candidates per position of the oracle@k


def settings(base: DecodeConfig) -> Iterator[tuple[str, DecodeConfig]]:
    """The compared settings, by name: every variant, every λ, and the default without its parts."""
    for name, changes in alternatives().items():
        yield name, changed(base, changes)
    # What a scorer reads of the drafter besides its marginals no reference holds.
    weighted = [name for name, own in SCORERS.items() if own.uses_lam and not own.reads_drafter]
    for scorer, lam, flag in product(weighted, LAMBDAS, (False, True)):
        name = f"{scorer} {lam}{' norm' * flag}"
        yield name, changed(base, {"scorer": scorer, "lam": lam, "normalised": flag})
    yield "default, static only", replace(base, online_ngram=False)
    yield "default, online only", replace(base, static_ngram=False)
    yield "default, order 2", replace(base, order=2)
    yield "default, not on level 1", replace(base, correct_first=False)
    for search in SEARCHES:
        yield f"default, {search}", changed(base, {"search": search})


@dataclass(frozen=True)
class Scored:
    """What every setting gains on one prompt: τ by budget and setting, and of the oracle@k by k."""

    reference: Reference
    taus: dict[int, dict[str, float]]
    oracles: dict[int, float]


@dataclass(frozen=True)
class Comparison:
    """What is compared: all settings over ``base``, at each of the budgets."""

    base: DecodeConfig
    budgets: tuple[int, ...]

    def scored(self, pair: Pair, prompt: str | Reference) -> Scored:
        """The comparison on one prompt, which the pair drafts at first unless that was done."""
        reference = (
            prompt if isinstance(prompt, Reference) else write_reference(pair, prompt, self.base)
        )
        taus = {
            budget: {
                name: acceptance(reference, pair, config)
                for name, config in settings(replace(self.base, budget=budget))
            }
            for budget in self.budgets
        }
        return Scored(reference, taus, {k: oracle(reference, k) for k in ORACLES})


def report(scored: Sequence[Scored], budget: int) -> Iterator[str]:
    """One line per setting: macro τ with its interval, and the paired gain over the blind tree."""
    rows = [one.taus[budget] for one in scored]
    blind = np.array([row["blind"] for row in rows])
    for name in rows[0]:
        taus = np.array([row[name] for row in rows])
        tau, gain = estimate(taus.tolist()), estimate((taus - blind).tolist())
        yield (
            f"{name:30} {tau.value:.3f} [{tau.low:.3f}, {tau.high:.3f}]  "
            f"{taus.mean() / blind.mean():.3f} x blind, {gain.value:+.3f} [{gain.low:+.3f}, "
            f"{gain.high:+.3f}]"
        )
    for k in ORACLES:
        yield f"oracle@{k:<22} {np.mean([one.oracles[k] for one in scored]):.3f}"


def drafts_of(
    pair: Pair, prompts: Sequence[str], config: DecodeConfig, path: Path | None
) -> list[Reference]:
    """The prompts' references, kept in the file ``path`` as they are made."""
    done = load_references(path) if path is not None and path.exists() else []
    for number in range(len(done), len(prompts)):
        done.append(write_reference(pair, prompts[number], config))
        typer.echo(f"prompt {number + 1} of {len(prompts)}", err=True)
        if path is not None:
            save_references(done, path)
    return done[: len(prompts)]


Tasks = Mapping[int, str | Reference]  # by number: prompts, or what was drafted for them
Measure = Callable[[Comparison, Tasks, Stop], Iterator[tuple[int, Scored]]]


def here(load: Callable[[], Pair]) -> Measure:
    """In this process, prompt after prompt."""
    pair = load()

    def measure(comparison: Comparison, tasks: Tasks, stop: Stop) -> Iterator[tuple[int, Scored]]:
        for number, prompt in tasks.items():
            if stop.wanted:
                return
            yield number, comparison.scored(pair, prompt)

    return measure


@contextmanager
def spread(load: Callable[[], Pair], address: str, workers: int) -> Iterator[Measure]:
    """On the workers of a Ray cluster, which ends with the block unless it was joined."""
    with joined(address), pool_of(prepared(load), workers) as pool:
        yield on_pool(pool)


def on_pool(pool: Pool[Pair]) -> Measure:
    """By workers: a task is a prompt with all settings."""

    def measure(comparison: Comparison, tasks: Tasks, stop: Stop) -> Iterator[tuple[int, Scored]]:
        work = {n: partial(comparison.scored, prompt=prompt) for n, prompt in tasks.items()}
        yield from pool.results(work, lambda: stop.wanted)

    return measure


def compared(
    measure: Iterable[tuple[int, Scored]], prompts: int, path: Path | None, stop: Stop
) -> list[Scored]:
    """The comparison of every prompt, in order; references are kept in the file ``path`` as far as
    no earlier one is missing. ``StoppedError`` says how many were, if the end was wanted.
    """
    found: dict[int, Scored] = {}
    kept, progress = 0, TimeLeft(prompts)
    for number, one in measure:
        found[number] = one
        typer.echo(f"prompt {number + 1} of {prompts}; {progress.finished()}", err=True)
        whole = next(n for n in range(prompts + 1) if n not in found)
        if path is not None and whole > kept:
            save_references([found[n].reference for n in range(whole)], path)
            kept = whole
    if len(found) < prompts:
        stop.end(f"{path} has {kept} prompts' drafts" if kept else "nothing is kept")
    return [found[number] for number in range(prompts)]


def main(
    data: Annotated[list[str], typer.Option(help="PATH:A-B, several times.")],
    system: str = "smollm2-gated",
    dtype: str = "auto",
    budget: Annotated[list[int] | None, typer.Option()] = None,
    max_new_tokens: int = 128,
    draft_length: int = 12,
    references: Annotated[
        Path | None, typer.Option(help="Drafts are kept here, and read if they are there.")
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="On the workers of a Ray cluster.")] = False,
    address: Annotated[str, typer.Option(help="The cluster; otherwise one is started.")] = "",
    workers: Annotated[int, typer.Option(help="0: one per GPU, or per CPU.", min=0)] = 0,
) -> None:
    """Print the comparison table."""
    prompts = [prompt.text for prompt in checked_prompts(data)]
    base = make_config(max_new_tokens=max_new_tokens, draft_length=draft_length)
    comparison = Comparison(base, tuple(budget or [32]))
    if references is not None:
        check_output(references)
    there = references is not None and references.exists()
    drafted = load_references(references)[: len(prompts)] if there and references else []
    tasks: Tasks = dict(enumerate([*drafted, *prompts[len(drafted) :]]))
    pair = partial(load, system, dtype)
    place = spread(pair, address, workers) if ray else nullcontext(here(pair))
    with place as measure, stoppable() as stop:
        scored = compared(measure(comparison, tasks, stop), len(prompts), references, stop)
    for nodes in comparison.budgets:
        typer.echo(f"budget {nodes}, {len(scored)} prompts, drafts of {draft_length}")
        for line in report(scored, nodes):
            typer.echo(line)


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
