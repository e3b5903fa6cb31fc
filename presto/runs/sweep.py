"""Mean tokens per round over λ × budget, at the states of a recorded run: exact, without a model.

The built-in searches take nodes one by one, so that a tree of a smaller budget is the beginning of
a larger one (``Search.nested``): one tree per round and λ answers all budgets at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from presto.records import DecodeConfig
from presto.runs.states import States, check_free
from presto.scorers import SCORERS
from presto.searches import SEARCHES

LAMS = tuple(round(0.1 * step, 1) for step in range(21))  # 0 to 2
BUDGETS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


class SweepRow(NamedTuple):
    """Mean tokens per round of one λ, for each of the ``budgets``."""

    lam: float
    budgets: tuple[int, ...]
    means: tuple[float, ...]


def sweep(
    states: States,
    config: DecodeConfig,
    lams: Sequence[float] = LAMS,
    budgets: Sequence[int] = BUDGETS,
) -> Iterator[SweepRow]:
    """A row per λ, its other settings those of ``config``; no row where nothing was drafted.

    A scorer that does not use λ has the same means in every row. ``ValueError`` if ``config``
    changes what a replay cannot follow.
    """
    check_free(config, states.trace.config)
    drafted = [index for index in range(len(states)) if states.is_drafted(index)]
    if not drafted:
        return
    chosen, found = tuple(sorted({*budgets})), tuple[float, ...]()
    for lam in lams:
        if SCORERS.find(config.scorer).uses_lam or not found:
            under = replace(config, lam=lam)
            rounds = [_committed(states, index, under, chosen) for index in drafted]
            found = tuple(sum(column) / len(drafted) for column in zip(*rounds, strict=True))
        yield SweepRow(lam, chosen, found)


def _committed(
    states: States, index: int, config: DecodeConfig, budgets: Sequence[int]
) -> list[int]:
    """Tokens that a drafted round commits under each of the budgets, which ascend."""
    if not SEARCHES.find(config.search).nested:
        found = (states.replay(index, replace(config, budget=budget)) for budget in budgets)
        return [one.committed for one in found if one]
    largest = states.replay(index, replace(config, budget=budgets[-1]))
    assert largest is not None, "the round is drafted"
    return [
        states.committed(index, sum(node <= budget for node in largest.accepted))
        for budget in budgets
    ]
