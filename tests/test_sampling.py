"""The target's draw: a true sample, keyed by position, with the usual filters."""

import numpy as np
import pytest
import torch

from presto.decoding.sampling import Sampler, keep_likeliest
from presto.kernels.noise import gumbel
from presto.records.config import LEAST_TEMPERATURE

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0])


def test_gumbel_max_draws_from_the_softmax() -> None:
    temperature, draws = 0.7, 20_000
    counts = np.zeros(4)
    sampler = Sampler(temperature, 0, 1.0, seed=3)
    for position in range(draws):
        counts[sampler.pick(LOGITS, position)] += 1
    expected = torch.softmax(LOGITS.double() / temperature, 0).numpy()
    # Four standard errors of a binomial share.
    assert np.all(
        np.abs(counts / draws - expected) < 4 * np.sqrt(expected * (1 - expected) / draws)
    )


def test_the_noise_is_the_one_that_recorded_runs_were_sampled_with() -> None:
    assert gumbel(5, 7, 3) == pytest.approx([1.62205302, -0.2452394, -0.67669812])
    assert gumbel(5, 7, 2, stream=1) == pytest.approx([3.58458261, -0.80540498])


def test_noise_depends_on_seed_and_position_only() -> None:
    assert np.array_equal(gumbel(5, 7, 10), gumbel(5, 7, 10))
    assert not np.array_equal(gumbel(5, 7, 10), gumbel(5, 8, 10))
    assert not np.array_equal(gumbel(5, 7, 10), gumbel(6, 7, 10))
    assert gumbel(2**63 - 1, 0, 3).shape == (3,)
    assert not np.array_equal(gumbel(5, 7, 10), gumbel(5, 7, 10, stream=1))


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
    logits = LOGITS.double().numpy()
    result = keep_likeliest(logits, top_k, top_p)
    assert np.flatnonzero(result == logits).tolist() == kept
    assert set(np.delete(result, kept)) <= {-np.inf}


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
    assert np.isfinite(keep_likeliest(np.array(logits), top_k, top_p)).sum() == kept


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_the_least_temperature_draws_the_likeliest_token(scale: float) -> None:
    logits = scale * LOGITS.flip(0)
    assert Sampler(LEAST_TEMPERATURE, 0, 1.0, seed=1).pick(logits, 5) == 3


def test_greedy_takes_the_lowest_of_equal_logits() -> None:
    assert Sampler(0.0, 0, 1.0, 0).pick(torch.tensor([1.0, 3.0, 3.0]), 4) == 1
