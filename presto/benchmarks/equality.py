"""Losslessness on real prompts: every drafting method against the reference, token for token.

At T = 0 the reference is transformers' own ``generate``, else our ``autoregressive`` with the same
seed. A difference passes only as a tie: the two tokens' logits, recomputed in float64, lie within
1e-4. Exit code 1 if any does not.

    python -m presto.benchmarks.equality --data PATH:16 … --system smollm2-gated --system …
    [--temperature 0.8]
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, get_args

import torch
import typer

from presto.models.loading import load_causal_lm
from presto.models.registry import Pair, load, names
from presto.models.weights import embedded_target
from presto.records import DecodeConfig, Method
from presto.records.measures import output_ids
from presto.runs.prompts import checked_prompts
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import make_config
from presto.runs.runner import finished

TIE = 1e-4


@dataclass(frozen=True)
class Difference:
    """Where two outputs part: the position, both tokens and the gap of their float64 logits."""

    position: int
    ours: int
    theirs: int
    gap: float


def generate(pair: Pair, prompt_ids: Sequence[int], config: DecodeConfig) -> list[int]:
    """Greedy output of transformers' ``generate``."""
    model = pair.system.backbone.model  # type: ignore[attr-defined]
    ids = torch.tensor([prompt_ids], device=pair.system.device)
    output = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=config.max_new_tokens,
        do_sample=False,
    )
    tokens: list[int] = output[0, len(prompt_ids) :].tolist()
    return tokens


def decoded(pair: Pair, prompt: str, method: Method, config: DecodeConfig) -> list[int]:
    """Output of one of our methods."""
    return output_ids(finished(pair, prompt, method, config))


class Judge:
    """Measures differences with the target in float64, loaded when the first one appears."""

    def __init__(self) -> None:
        self._model: torch.nn.Module | None = None

    def difference(
        self, prompt_ids: Sequence[int], ours: list[int], theirs: list[int]
    ) -> Difference | None:
        if ours == theirs:
            return None
        position = next(
            (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1
        )
        if position < 0:
            return Difference(min(len(ours), len(theirs)), -1, -1, float("inf"))
        if self._model is None:
            self._model = load_causal_lm(embedded_target(), torch.float64).eval()
        with torch.inference_mode():
            logits = self._model(torch.tensor([[*prompt_ids, *ours[:position]]])).logits[0, -1]
        gap = abs(float(logits[ours[position]] - logits[theirs[position]]))
        return Difference(position, ours[position], theirs[position], gap)


@dataclass
class Count:
    """Outcomes of one pair and method."""

    equal: int = 0
    ties: int = 0
    different: int = 0


def main(
    data: Annotated[list[str], typer.Option(help="PATH:N, several times.")],
    system: Annotated[list[str] | None, typer.Option(help="Embedded pairs; several times.")] = None,
    dtype: str = "float32",
    temperature: float = 0.0,
    seed: int = 0,
    max_new_tokens: int = 128,
    budget: int = 32,
    draft_length: int = 12,
) -> None:
    """Compare every method of every pair with one reference per prompt."""
    config = make_config(
        temperature=temperature,
        seed=seed,
        max_new_tokens=max_new_tokens,
        budget=budget,
        draft_length=draft_length,
    )
    prompts = checked_prompts(data)
    pairs, judge = [load(name, dtype) for name in system or names()[:1]], Judge()
    counts = {(pair.spec.name, method): Count() for pair in pairs for method in get_args(Method)}
    for number, prompt in enumerate(prompts):
        ids = pairs[0].encode(prompt.text)
        reference = generate(pairs[0], ids, config) if temperature == 0 else None
        reference = reference or decoded(pairs[0], prompt.text, "ar", config)
        for pair in pairs:
            for method in get_args(Method):
                if method == "ar" and (pair is not pairs[0] or temperature > 0):
                    continue  # the same computation: one target, no drafter
                difference = judge.difference(
                    ids, decoded(pair, prompt.text, method, config), reference
                )
                count = counts[pair.spec.name, method]
                tie = difference is not None and difference.gap <= TIE and temperature == 0
                count.equal += difference is None
                count.ties += tie
                count.different += difference is not None and not tie
                if difference is not None:
                    verdict = "tie" if tie else "DIFFERENT"
                    typer.echo(
                        f"prompt {number + 1}, {pair.spec.name} {method}: {difference} {verdict}"
                    )
        typer.echo(f"prompt {number + 1} of {len(prompts)}, {len(reference)} tokens", err=True)
    name = (
        "transformers generate"
        if temperature == 0
        else f"autoregressive, T = {temperature}, seed {seed}"
    )
    shape = f"budget {budget}, drafts of {draft_length}"
    typer.echo(
        f"{dtype}, {max_new_tokens} tokens, {shape}, {len(prompts)} prompts, equal to {name}:"
    )
    for (pair_name, method), count in counts.items():
        if count.equal + count.ties + count.different:
            typer.echo(
                f"{pair_name:18} {method:7} equal {count.equal}, ties {count.ties}, other "
                f"{count.different}"
            )
    sys.exit(any(count.different for count in counts.values()))


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
