"""The embedded pairs for real: their text is the target's own, in float32, at T = 0 and above."""

from dataclasses import replace
from functools import lru_cache
from typing import get_args

import pytest
import torch

from presto.benchmarks.equality import generate
from presto.models.catalogue import EMBEDDED, PAIRS
from presto.models.registry import Pair, load
from presto.records import DecodeConfig, Method, Trace
from presto.records.measures import output_ids
from presto.runs.runner import finished

pytestmark = pytest.mark.weights
PROMPTS = (
    "Tom has 3 boxes with 4 pencils each. How many pencils does he have?",
    'def is_even(n: int) -> bool:\n    """Return whether n is even."""\n',
)
CONFIG = DecodeConfig(max_new_tokens=32)
SHORT = replace(
    CONFIG, max_new_tokens=20, budget=8, draft_length=5
)  # a mask row for each node makes passes long


@pytest.fixture(
    scope="module", params=[name for name, spec in PAIRS.items() if spec.target == EMBEDDED]
)
def pair(request: pytest.FixtureRequest) -> Pair:
    return load(request.param, "float32")


@lru_cache(maxsize=64)
def traced(pair: str, prompt: str, method: Method, config: DecodeConfig) -> Trace:
    """A run, decoded once for all tests that look at it."""
    return finished(load(pair, "float32"), prompt, method, config)


def config_of(pair: Pair) -> DecodeConfig:
    return SHORT if pair.spec.mode == "quadratic" else CONFIG


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_is_what_generate_writes(pair: Pair, prompt: str) -> None:
    reference = generate(pair, pair.encode(prompt), config_of(pair))
    for method in get_args(Method):
        trace = traced(pair.spec.name, prompt, method, config_of(pair))
        assert output_ids(trace) == reference


@pytest.mark.parametrize("method", ["linear", "blind", "presto"])
def test_sampled_text_is_the_seeds(pair: Pair, method: Method) -> None:
    config = replace(config_of(pair), temperature=0.8, seed=11, top_p=0.95)
    ours, reference = (traced(pair.spec.name, PROMPTS[0], name, config) for name in (method, "ar"))
    assert output_ids(ours) == output_ids(reference)


def test_the_drafter_really_drafts(pair: Pair) -> None:
    trace = traced(pair.spec.name, PROMPTS[0], "presto", config_of(pair))
    assert any(round_.accepted for round_ in trace.rounds)
    assert trace.system == pair.spec.name


def test_the_seed_row_is_not_touched_by_the_adapter() -> None:
    pair = load("smollm2-gated", "float32")
    prompt = pair.encode(PROMPTS[0])
    draft = pair.system.start(prompt, len(prompt) + 16).draft(prompt[-1], 12, 8)
    with torch.inference_mode():
        plain = pair.system.backbone.model(torch.tensor([prompt])).logits[0, -1]  # type: ignore[attr-defined]
    assert draft.exact is not None
    torch.testing.assert_close(draft.exact, plain, atol=2e-4, rtol=1e-4)
