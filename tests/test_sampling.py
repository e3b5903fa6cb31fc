"""The target's draw: a true sample, keyed by position, with the usual filters."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from presto.decoding import sampling
from presto.decoding.sampling import Sampler, keep_likeliest
from presto.kernels.noise import gumbel
from presto.records.config import LEAST_TEMPERATURE

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0])


def noise(seed: int, position: int, size: int, stream: int = 0) -> np.ndarray:
    return gumbel(seed, np.array([position]), size, stream)[0]


def test_gumbel_max_draws_from_the_softmax() -> None:
    temperature, draws = 0.7, 20_000
    sampler = Sampler(temperature, 0, 1.0, seed=3)
    drawn = sampler.draw(LOGITS.expand(draws, 4), 0, torch.arange(draws), draws)
    expected = torch.softmax(LOGITS.double() / temperature, 0).numpy()
    # Four standard errors of a binomial share.
    assert np.all(
        np.abs(np.bincount(drawn) / draws - expected)
        < 4 * np.sqrt(expected * (1 - expected) / draws)
    )


def test_the_noise_is_the_one_that_recorded_runs_were_sampled_with() -> None:
    assert noise(5, 7, 3) == pytest.approx([1.38413069, -0.36781047, 3.15366062], abs=1e-7)
    assert noise(5, 7, 2, stream=1) == pytest.approx([0.00294951, 3.37350963], abs=1e-7)


def plain_noise(seed: int, position: int, token: int, stream: int) -> float:
    """``gumbel`` in Python's unlimited integers, as SplitMix64 is published."""

    def mixed(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)

    step = 0x9E3779B97F4A7C15
    state = mixed((mixed((seed + stream * step) % 2**64) + position * step) % 2**64)
    bits = mixed((state + (token + 1) * step) % 2**64)
    return -math.log(-math.log(((bits >> 12) + 0.5) / 2**52))


@given(seed=st.integers(0, 2**63 - 1), position=st.integers(0, 10**6), stream=st.integers(0, 1))
def test_noise_is_that_of_splitmix64(seed: int, position: int, stream: int) -> None:
    expected = [plain_noise(seed, position, token, stream) for token in range(3)]
    assert noise(seed, position, 3, stream) == pytest.approx(expected, rel=1e-12)


def test_noise_is_the_same_in_torch() -> None:
    found = sampling.gumbel(5, torch.arange(7, 10), 40).numpy()
    assert found == pytest.approx(gumbel(5, np.arange(7, 10), 40), rel=1e-12)


def test_noise_is_independent_of_its_neighbours() -> None:
    """Tokens, positions, seeds and streams: no two of them share noise, none is correlated."""
    seeds, places = (0, 1, 2**40), np.arange(40)
    drawn = [gumbel(seed, places, 5000, stream) for seed in seeds for stream in (0, 1)]
    rows = torch.from_numpy(np.concatenate(drawn))
    assert rows.unique().numel() == rows.numel()
    beside = torch.corrcoef(torch.cat([rows, rows.roll(1, 1)]))
    beside.fill_diagonal_(0)
    assert beside.abs().max() < 6 / 5000**0.5
    # Mean and variance of the law: Euler's constant and π²/6.
    assert rows.mean() == pytest.approx(0.5772, abs=0.01)
    assert rows.var() == pytest.approx(math.pi**2 / 6, rel=0.01)


@given(
    logits=st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=9),
    top_k=st.integers(0, 6),
    top_p=st.sampled_from((0.3, 0.8, 1.0)),
    seed=st.integers(0, 99),
)
def test_rows_drawn_together_are_those_drawn_alone(
    logits: list[list[int]], top_k: int, top_p: float, seed: int
) -> None:
    rows, sampler = torch.tensor(logits, dtype=torch.float32), Sampler(0.8, top_k, top_p, seed)
    levels = torch.arange(len(rows)) % 3
    together = sampler.draw(rows, 7, levels, 3)
    alone = [sampler.pick(row, 7 + level) for row, level in zip(rows, levels.tolist(), strict=True)]
    assert together.tolist() == torch.cat(alone).tolist()


def plainly_kept(scores: np.ndarray, top_k: int, top_p: float) -> list[int]:
    """Token ids that the filters keep of ``scores [vocab]``, counted one after the other."""
    order = sorted(range(len(scores)), key=lambda token: (-scores[token], token))
    order = order[: top_k or len(order)]
    weights = np.exp(scores[order] - scores[order[0]])
    mass, kept = 0.0, []
    for token, weight in zip(order, weights / weights.sum(), strict=True):
        if mass >= top_p:
            break
        kept.append(token)
        mass += weight
    return sorted(kept)


@given(
    scores=st.lists(st.integers(-4, 4), min_size=1, max_size=8),
    top_k=st.integers(0, 9),
    top_p=st.floats(0.05, 0.99),
)
def test_filters_are_those_of_the_definition(scores: list[int], top_k: int, top_p: float) -> None:
    row = torch.tensor([scores], dtype=torch.float64)
    result = keep_likeliest(row, top_k, top_p)[0].isfinite().nonzero()[:, 0].tolist()
    assert result == plainly_kept(row[0].numpy(), top_k, top_p)


@pytest.mark.parametrize(
    ("top_k", "top_p", "kept"),
    [
        (0, 1.0, [0, 1, 2, 3]),
        (2, 1.0, [0, 1]),
        (0, 0.5, [0]),
        (0, 0.7, [0, 1]),
        (3, 0.95, [0, 1, 2]),
        (9, 1.0, [0, 1, 2, 3]),
        (1, 1.0, [0]),
    ],
)
def test_filters_keep_the_likeliest(top_k: int, top_p: float, kept: list[int]) -> None:
    logits = LOGITS.double()[None]
    result = keep_likeliest(logits, top_k, top_p)
    assert np.flatnonzero(result == logits).tolist() == kept
    assert set(np.delete(result.numpy(), kept)) <= {-np.inf}


@pytest.mark.parametrize(
    ("logits", "top_k", "top_p", "kept"),
    [
        (
            [50.0, 1.0, 2.0, 0.0],
            3,
            1.0,
            3,
        ),  # a nucleus of 1 cuts nothing
        ([400.0, 399.9, 0.0, 0.0], 0, 0.7, 2),
        ([900.0, 0.0, 0.0, 0.0], 0, 0.7, 1),
    ],
)
def test_filters_take_logits_of_any_size(
    logits: list[float], top_k: int, top_p: float, kept: int
) -> None:
    row = torch.tensor([logits], dtype=torch.float64)
    assert keep_likeliest(row, top_k, top_p).isfinite().sum() == kept


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_the_least_temperature_draws_the_likeliest_token(scale: float) -> None:
    logits = scale * LOGITS.flip(0)
    assert Sampler(LEAST_TEMPERATURE, 0, 1.0, seed=1).pick(logits, 5) == 3


def test_greedy_takes_the_lowest_of_equal_logits() -> None:
    assert Sampler(0.0, 0, 1.0, 0).pick(torch.tensor([1.0, 3.0, 3.0]), 4) == 1
