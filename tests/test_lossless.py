"""The main property: speculative output is autoregressive output, whatever drafts, scores and
searches.
"""

from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.decoding.loop import autoregressive, decode
from presto.kernels.ngram import NgramModel, NgramTable
from presto.models.selfspec import GatedSystem
from presto.records import DecodeConfig, Round
from presto.records.config import LEAST_TEMPERATURE
from tests.support.doubles import tiny_gated
from tests.support.examples import LARGEST, examples

VOCAB = 23
TINY = 5e-324  # the smallest number above 0: its inverse overflows


@lru_cache(maxsize=16)
def system(seed: int, device: torch.device) -> GatedSystem:
    return tiny_gated(seed, VOCAB, device=device)


@lru_cache(maxsize=4)
def table(seed: int) -> NgramTable:
    generator = torch.Generator().manual_seed(seed)
    texts = torch.randint(0, VOCAB, (6, 60), generator=generator).tolist()
    return NgramTable.build(texts, VOCAB)


def tokens(rounds: list[Round]) -> list[int]:
    return [token for round_ in rounds for token in round_.committed]


configs = st.builds(
    DecodeConfig,
    scorer=st.sampled_from(("blind", "product", "pmi", "mixture", "dart")),
    normalised=st.booleans(),
    search=st.sampled_from(("linear", "beam", "best_first")),
    lam=st.sampled_from((TINY, 0.2, 0.7, 1.0)),
    order=st.sampled_from((2, 3)),
    budget=st.integers(1, 24),
    top_k=st.integers(1, 8),
    beam_width=st.integers(1, 8),
    draft_length=st.integers(1, 8),
    correct_first=st.booleans(),
    online_ngram=st.booleans(),
    sampled_draft=st.booleans(),
    temperature=st.sampled_from((0.0, 0.0, LEAST_TEMPERATURE, 0.5, 0.8, 1.3)),
    top_p=st.sampled_from((1.0, 0.9, 0.4, TINY)),
    sample_top_k=st.sampled_from((0, 1, 5)),
    seed=st.integers(0, 2**32),
    max_new_tokens=st.integers(1, 14),
)
prompts = st.lists(st.integers(2, VOCAB - 1), min_size=1, max_size=9).map(tuple)


@settings(max_examples=examples(LARGEST))
@given(
    model=st.integers(0, 7),
    prompt=prompts,
    config=configs,
    static=st.one_of(st.none(), st.integers(0, 3)),
)
def test_tree_decoding_emits_the_targets_own_text(
    device: torch.device,
    model: int,
    prompt: tuple[int, ...],
    config: DecodeConfig,
    static: int | None,
) -> None:
    counts = None if static is None else table(static)
    ngram = NgramModel(VOCAB, counts, online=config.online_ngram, order=config.order)
    rounds = list(decode(system(model, device), prompt, config, ngram))
    reference = list(autoregressive(system(model, device), prompt, config))
    assert tokens(rounds) == tokens(reference)
    assert sum(len(round_.committed) for round_ in rounds) <= config.max_new_tokens
    assert all(len(round_.tree.tokens) <= config.budget + 1 for round_ in rounds)


@pytest.mark.parametrize("seed", range(4))
def test_greedy_reference_is_transformers_generate(device: torch.device, seed: int) -> None:
    backbone = system(seed, device).backbone
    prompt = (2, 5, 7, 3)
    ids = torch.tensor([prompt], device=device)
    expected = backbone.model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=30, do_sample=False, pad_token_id=1
    )[0, len(prompt) :].tolist()
    config = DecodeConfig(max_new_tokens=30)
    assert tokens(list(autoregressive(system(seed, device), prompt, config))) == expected
    assert tokens(list(decode(system(seed, device), prompt, config))) == expected


def test_the_seed_decides_the_sample(device: torch.device) -> None:
    texts = {
        tuple(
            tokens(
                list(
                    decode(
                        system(1, device),
                        (2, 3),
                        DecodeConfig(temperature=1.5, seed=seed, max_new_tokens=20),
                    )
                )
            )
        )
        for seed in range(6)
    }
    assert len(texts) > 1
