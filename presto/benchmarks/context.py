"""What a round costs as the context grows: every method behind a short and a long prompt.

    python -m presto.benchmarks.context --data PATH:20 [--system PAIR] [--contexts 200,1500]

Sessions of all methods and lengths stand side by side and take turns, a round each, so that a slow
minute of the machine is the same for all of them.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated

import numpy as np
import typer

from presto.benchmarks.statistics import Estimate, estimate
from presto.decoding.loop import Run
from presto.decoding.output import Output
from presto.models.registry import Pair, load, ngram_for
from presto.records import DecodeConfig
from presto.runs.prompts import checked_prompts
from presto.runs.refusals import in_one_sentence
from presto.runs.variants import PLAIN, Variant, find_variant

WARM_UP = 2  # rounds of every session that are not counted
Key = tuple[str, int]  # method, tokens of the prompt


def measure(
    pair: Pair, text: str, methods: Sequence[Variant], contexts: Sequence[int], rounds: int
) -> dict[Key, Estimate]:
    """Median milliseconds of a round, with its 95 % interval, for every method and length.

    ``ValueError`` if ``text`` is too short for the longest prompt.
    """
    ids = pair.encode(text)
    if len(ids) < max(contexts):
        raise ValueError(f"the prompts have {len(ids)} tokens together, not {max(contexts)}")
    keys = list(product(methods, contexts))
    sessions = [_begin(pair, ids[:length], variant, rounds) for variant, length in keys]
    seconds = np.array(
        [
            [_seconds(variant, run) for (variant, _), run in zip(keys, sessions, strict=True)]
            for _ in range(WARM_UP + rounds)
        ]
    )[WARM_UP:]
    return {
        (variant.name, length): estimate(1000 * column, np.median)
        for (variant, length), column in zip(keys, seconds.T, strict=True)
    }


def _begin(pair: Pair, ids: tuple[int, ...], variant: Variant, rounds: int) -> Run:
    """A session that no end token ends before all of its rounds."""
    config = variant.config(DecodeConfig())
    config = replace(config, max_new_tokens=(WARM_UP + rounds) * (config.draft_length + 1) + 1)
    run = Run.begin(pair.system, ids, config, ngram_for(pair, config))
    run.output = Output(config, frozenset(), None)
    return run


def _seconds(variant: Variant, run: Run) -> float:
    began = time.perf_counter()
    (run.plain_round if variant.method == PLAIN else run.draft_round)()
    run.system.synchronise()
    return time.perf_counter() - began


def lines(figures: Mapping[Key, Estimate], contexts: Sequence[int]) -> list[str]:
    """A line per method: every length, and the last as a multiple of the first."""
    found = []
    for name in dict.fromkeys(name for name, _ in figures):
        of = [figures[name, length] for length in contexts]
        cells = [f"{e.value:7.1f} [{e.low:.1f}, {e.high:.1f}]" for e in of]
        found.append(f"{name:10} {'  '.join(cells)}   × {of[-1].value / of[0].value:.2f}")
    return found


def main(
    data: Annotated[list[str], typer.Option(help="PATH:N, several times; joined to one text.")],
    system: Annotated[str, typer.Option(help="An embedded pair.")] = "smollm2-gated",
    contexts: Annotated[str, typer.Option(help="Tokens of the prompts.")] = "200,1500",
    methods: Annotated[str, typer.Option(help="Methods, scorers and searches.")] = (
        "ar,linear,blind,presto"
    ),
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds of every session.")] = 20,
    dtype: str = "auto",
) -> None:
    """Print the median milliseconds of a round by method and tokens of context."""
    lengths = [int(part) for part in contexts.split(",")]
    chosen = [find_variant(name) for name in methods.split(",")]
    text = "\n\n".join(prompt.text for prompt in checked_prompts(data))
    figures = measure(load(system, dtype), text, chosen, lengths, rounds)
    typer.echo(f"{system}, ms a round (median, 95 %) behind {contexts} tokens of prompt")
    for line in lines(figures, lengths):
        typer.echo(line)


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
