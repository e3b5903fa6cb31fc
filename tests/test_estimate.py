"""The cost model of a round on a GPU: what it counts and works out."""

import pytest

from presto.benchmarks.estimate import (
    STAGES,
    Estimate,
    Gpu,
    Launches,
    Work,
    estimate,
    round_of,
    table,
    work,
)
from presto.benchmarks.random_pairs import QWEN_8B


@pytest.fixture(scope="module")
def stages() -> dict[str, Estimate]:
    return round_of("dflash", 128, 740)


def total(stages: dict[str, Estimate]) -> float:
    return sum(one.recorded for one in stages.values())


def test_kernels_follow_the_true_number_of_layers(stages: dict[str, Estimate]) -> None:
    """36 layers of the target, 5 of the drafter; what a stage around them launches is little."""
    assert list(stages) == list(STAGES)
    verify, draft = stages["verify"].launches, stages["draft"].launches
    assert 36 * 20 < verify.inside < 36 * 40
    assert 5 * 20 < draft.inside < 5 * 60
    assert verify.around + draft.around < 60
    assert stages["plan"].launches.inside == stages["decide"].launches.inside == 0


def test_a_pass_reads_all_weights_and_the_cache_once() -> None:
    near, far = (work(QWEN_8B, 128, 15, keys)["verify"] for keys in (740, 16_000))
    assert near.bytes == pytest.approx(2 * 7.57e9, rel=0.02)  # Qwen3-8B without its embedding
    assert far.bytes - near.bytes == 2 * 2 * 36 * 8 * 128 * (16_000 - 740)
    assert near.products == pytest.approx(129 * 7.57e9, rel=0.05)  # and attention


def test_the_slower_of_host_and_device_counts() -> None:
    gpu = Gpu(call=10, kernel=1, bandwidth=1e9, products=1e12)
    many, heavy = Launches(100, 10), Work(1e6, 0)
    assert estimate(many, Work(0, 0), gpu)[1:] == (1.1, 0.11)
    assert estimate(many, heavy, gpu)[1:] == (1.1, pytest.approx(1.11))
    assert estimate(Launches(1, 1), heavy, gpu).eager == pytest.approx(1.0)
    assert estimate(Launches(1, 1), Work(0, 1e9), gpu).eager == pytest.approx(2.0)


def test_larger_trees_and_longer_texts_cost_more(stages: dict[str, Estimate]) -> None:
    assert total(stages) < total(round_of("dflash", 512, 740))
    assert total(stages) < total(round_of("dflash", 128, 16_000))
    assert "round" in table(stages)
    assert all(one.recorded <= one.eager + 1 for one in stages.values())
