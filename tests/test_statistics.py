"""Bootstrap intervals cover, and order is sane."""

import numpy as np
import pytest

from presto.benchmarks.statistics import estimate


def test_interval_covers_the_mean_about_95_percent_of_the_time() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        result = estimate(random.normal(3.0, 1.0, 48).tolist())
        covered += result.low <= 3.0 <= result.high
    assert 0.89 <= covered / 200 <= 0.99


def test_the_statistic_is_the_one_asked_for() -> None:
    values = [1.0, 2.0, 10.0]
    assert estimate(values).value == pytest.approx(13 / 3, abs=1e-4)
    assert estimate(values, np.median).value == 2.0
    assert estimate([5.0]).low == estimate([5.0]).high == 5.0


def test_no_values() -> None:
    with pytest.raises(ValueError, match="at least one"):
        estimate([])
