"""Quadratic mode: one forward per round, the same marginals a pass of its own would draft, and the
target's text.

Nemotron-Labs-Diffusion in this mode: ``test_nemotron`` (marginals) and ``test_registry``
(losslessness).
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.decoding.loop import Run, autoregressive, decode
from presto.models.quadratic import QuadraticGatedSystem
from presto.models.selfspec import GatedSystem
from presto.records import DecodeConfig
from tests.support.checks import some
from tests.support.doubles import tiny_gated
from tests.support.examples import examples


@pytest.fixture(scope="module")
def gated(device: torch.device) -> GatedSystem:
    return tiny_gated(6, device=device)


@pytest.fixture(scope="module")
def quadratic(gated: GatedSystem) -> QuadraticGatedSystem:
    return QuadraticGatedSystem(
        "tiny", gated.backbone, gated.eos_ids, gated.adapter, gated.mask_embedding
    )


@settings(max_examples=examples(60))
@given(
    prompt=st.lists(st.integers(2, 22), min_size=1, max_size=6),
    search=st.sampled_from(("linear", "beam", "best_first")),
    budget=st.integers(1, 9),
    draft_length=st.integers(1, 5),
    temperature=st.sampled_from((0.0, 0.9)),
)
def test_lossless_with_one_forward_per_round(
    quadratic: QuadraticGatedSystem,
    prompt: list[int],
    search: str,
    budget: int,
    draft_length: int,
    temperature: float,
) -> None:
    config = DecodeConfig(
        search=search,
        budget=budget,
        draft_length=draft_length,
        temperature=temperature,
        max_new_tokens=14,
    )  # type: ignore[arg-type]
    rounds = list(decode(quadratic, prompt, config))
    reference = [
        token for round_ in autoregressive(quadratic, prompt, config) for token in round_.committed
    ]
    assert [token for round_ in rounds for token in round_.committed] == reference
    assert all(round_.forwards == 1 for round_ in rounds[1:])


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_the_marginals_are_those_of_a_pass_of_its_own(
    gated: GatedSystem, quadratic: QuadraticGatedSystem, temperature: float
) -> None:
    config = DecodeConfig(
        budget=5, draft_length=4, temperature=temperature, seed=3, max_new_tokens=20, top_k=6
    )
    run = Run.begin(quadratic, (3, 7), config)
    rounds = list(run.rounds(Run.draft_round))
    for round_ in some(rounds[1:-1]):
        anchor = (
            round_.start - 1
        )  # the bonus of the round before; its own pass starts one token earlier
        alone = (
            gated.start(run.text_ids[:anchor], 64).draft(run.text_ids[anchor - 1], 4, 6).marginals
        )
        depth = min(4, config.max_new_tokens - (round_.start - 2) - 1)  # no deeper than the cap
        ids = [row[:6] for row in round_.marginals.token_ids]  # one more may have been looked up
        assert ids == list(alone.token_ids[:depth])
        for row, theirs in zip(round_.marginals.log_q, alone.log_q[:depth], strict=True):
            ours = row[:6]
            torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), atol=2e-5, rtol=0)
