"""Losslessness on real prompts: every drafting method against the reference, token for token.

At T = 0 the reference is transformers' own ``generate``, else our ``autoregressive`` with the same seed. A difference
passes only as a tie: the two tokens' logits, recomputed in float64, lie within 1e-4. Exit code 1 if any does not.

    python -m presto.benchmarks.equality --data PATH:16 … [--temperature 0.8]
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, get_args

import torch
import typer
from transformers import AutoModelForCausalLM

from presto.measures import output_ids
from presto.models.registry import Pair, load
from presto.models.weights import embedded_target
from presto.prompts import load_prompts
from presto.records import DecodeConfig, Method
from presto.requests import make_config
from presto.runs import finished

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
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=config.max_new_tokens, do_sample=False
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

    def difference(self, prompt_ids: Sequence[int], ours: list[int], theirs: list[int]) -> Difference | None:
        if ours == theirs:
            return None
        position = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
        if position < 0:
            return Difference(min(len(ours), len(theirs)), -1, -1, float("inf"))
        if self._model is None:
            self._model = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float64).eval()
        with torch.inference_mode():
            logits = self._model(torch.tensor([[*prompt_ids, *ours[:position]]])).logits[0, -1]
        gap = abs(float(logits[ours[position]] - logits[theirs[position]]))
        return Difference(position, ours[position], theirs[position], gap)


def main(
    data: Annotated[list[str], typer.Option(help="PATH:N, several times.")],
    system: str = "smollm2-gated",
    dtype: str = "float32",
    temperature: float = 0.0,
    seed: int = 0,
    max_new_tokens: int = 128,
    budget: int = 32,
) -> None:
    """Compare linear, blind and presto with the reference on every prompt."""
    pair, judge = load(system, dtype), Judge()
    config = make_config(temperature=temperature, seed=seed, max_new_tokens=max_new_tokens, budget=budget)
    methods = [method for method in get_args(Method) if method != "ar" or temperature == 0]
    equal, ties, failures = dict.fromkeys(methods, 0), 0, 0
    prompts = [prompt for source in data for prompt in load_prompts(source)]
    for number, prompt in enumerate(prompts):
        ids = pair.encode(prompt.text)
        reference = generate(pair, ids, config) if temperature == 0 else decoded(pair, prompt.text, "ar", config)
        for method in methods:
            difference = judge.difference(ids, decoded(pair, prompt.text, method, config), reference)
            if difference is None:
                equal[method] += 1
                continue
            tie = difference.gap <= TIE and temperature == 0
            ties, failures = ties + tie, failures + (not tie)
            typer.echo(f"prompt {number + 1}, {method}: {difference} {'tie' if tie else 'DIFFERENT'}")
    shown = ", ".join(f"{method} {count}/{len(prompts)}" for method, count in equal.items())
    reference_name = "transformers generate" if temperature == 0 else f"autoregressive, T = {temperature}, seed {seed}"
    typer.echo(f"{dtype}, {max_new_tokens} tokens, equal to {reference_name}: {shown}; ties {ties}, other {failures}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    typer.run(main)
