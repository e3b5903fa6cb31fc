"""Settings with the budget and draft length that suit a loaded pair on this device."""

import logging
from dataclasses import replace

from presto.models.registry import Pair
from presto.records import DecodeConfig
from presto.records.tuning import Tuning
from presto.runs.budget import choose, curve_name, curves_of, speeds
from presto.runs.costs import are_known, costs_of
from presto.searches import SEARCHES

logger = logging.getLogger(__name__)


def must_measure(pair: Pair, config: DecodeConfig) -> bool:
    """Whether ``tuned`` measures the device first, which takes a second or two."""
    curves = curves_of(pair.spec.name)
    return curves is not None and curve_name(config) in curves.tau and not are_known(pair)


def tuned(pair: Pair, config: DecodeConfig) -> tuple[DecodeConfig, Tuning | None]:
    """``config`` with the budget and draft length that suit ``pair`` here, and why.

    A pair without a curve keeps those of ``config``, and the log says so.
    """
    curves, name = curves_of(pair.spec.name), curve_name(config)
    if curves is None or name not in curves.tau:
        logger.info(
            "%s has no acceptance curve: its budget stays %d", pair.spec.name, config.budget
        )
        return config, None
    tuning = Tuning(costs_of(pair), curves.of(name))
    single = SEARCHES.find(config.search).single_path
    shape = choose(speeds(tuning, single, pair.system.max_draft))
    if shape is None:
        logger.info("%s drafts too few positions: its budget stays %d", name, config.budget)
        return config, None
    return replace(config, budget=shape.budget, draft_length=shape.draft_length), tuning
