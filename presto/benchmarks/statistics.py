"""Means and medians over prompts, with percentile-bootstrap intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

RESAMPLES, SEED = 4000, 0


@dataclass(frozen=True)
class Estimate:
    """A statistic and its 95 % interval."""

    value: float
    low: float
    high: float


def estimate(values: Sequence[float], statistic: Callable[..., Any] = np.mean) -> Estimate:
    """``statistic`` of ``values`` with a 95 % percentile-bootstrap interval (Efron 1979),
    resampling the values.
    """
    sample = np.asarray(values, float)
    if sample.size == 0:
        raise ValueError("an estimate needs at least one value")
    picks = np.random.default_rng(SEED).integers(len(sample), size=(RESAMPLES, len(sample)))
    low, high = np.percentile(statistic(sample[picks], axis=1), [2.5, 97.5])
    return Estimate(*(round(float(value), 4) for value in (statistic(sample, axis=0), low, high)))
