"""Scorers compared on held-out prompts, exactly and without re-running the model for each.

One pass per prompt writes the target's greedy text and takes the drafter's marginals at *every*
position. Any scorer, search and budget is then played over these records: at T = 0 the result
equals decoding (``presto.runs.replay``).

    python -m presto.benchmarks.scorers --data PATH:17-32 … [--references FILE.npz]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from presto.benchmarks.statistics import estimate
from presto.models.registry import Pair, load
from presto.records import DecodeConfig, changed
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
from presto.runs.variants import alternatives
from presto.scorers import SCORERS
from presto.searches import SEARCHES

LAMBDAS = (0.2, 0.35, 0.5, 0.7, 1.0)


def settings(base: DecodeConfig) -> Iterator[tuple[str, DecodeConfig]]:
    """The compared settings, by name: every variant, every λ, and the default without its parts."""
    for name, changes in alternatives().items():
        yield name, changed(base, changes)
    weighted = [name for name, scorer in SCORERS.items() if scorer.uses_lam]
    for scorer, lam, flag in product(weighted, LAMBDAS, (False, True)):
        name = f"{scorer} {lam}{' norm' * flag}"
        yield name, changed(base, {"scorer": scorer, "lam": lam, "normalised": flag})
    yield "default, static only", replace(base, online_ngram=False)
    yield "default, online only", replace(base, static_ngram=False)
    yield "default, order 2", replace(base, order=2)
    yield "default, not on level 1", replace(base, correct_first=False)
    for search in SEARCHES:
        yield f"default, {search}", changed(base, {"search": search})


def report(references: Sequence[Reference], pair: Pair, base: DecodeConfig) -> Iterator[str]:
    """One line per setting: macro τ with its interval, and the paired gain over the blind tree."""
    blind = np.array(
        [acceptance(reference, pair, replace(base, scorer="blind")) for reference in references]
    )
    for name, config in settings(base):
        taus = np.array([acceptance(reference, pair, config) for reference in references])
        tau, gain = estimate(taus.tolist()), estimate((taus - blind).tolist())
        yield (
            f"{name:30} {tau.value:.3f} [{tau.low:.3f}, {tau.high:.3f}]  "
            f"{taus.mean() / blind.mean():.3f} x blind, {gain.value:+.3f} [{gain.low:+.3f}, "
            f"{gain.high:+.3f}]"
        )
    for k in (8, 32):
        yield f"oracle@{k:<22} {np.mean([oracle(reference, k) for reference in references]):.3f}"


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
) -> None:
    """Print the comparison table."""
    prompts = checked_prompts(data)
    base = make_config(max_new_tokens=max_new_tokens, draft_length=draft_length)
    pair = load(system, dtype)
    drafted = drafts_of(pair, [prompt.text for prompt in prompts], base, references)
    for nodes in budget or [32]:
        typer.echo(f"budget {nodes}, {len(drafted)} prompts, drafts of {draft_length}")
        for line in report(drafted, pair, replace(base, budget=nodes)):
            typer.echo(line)


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
