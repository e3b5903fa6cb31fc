"""Where rounds end: why the tree of a round did not hold the token that the target chose next.

Exact and without a model, as every replay is. Of two reasons that both hold the first counts:

- ``ended``: the run's text ends here, so that nobody knows what the target would have chosen;
- ``depth``: every drafted position was accepted. A longer draft may help;
- ``top_k``: the token is not among the position's top-K candidates. No tree over them holds it,
  only a better drafter (or a larger top-K) does;
- ``budget``: a tree of twice the budget holds the token: it was cut by the budget;
- ``unopened``: no budget brings the token, though it is a candidate, because the search did not
  open its path: the beam dropped its parent, or a single path drafts one token per position;
- ``outranked``: the token is a candidate that only a tree of more than twice the budget holds,
  because the score puts too many other nodes before it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from presto.records import DecodeConfig
from presto.records.bounds import MAX_BUDGET
from presto.runs.states import Replayed, States, check_free

RoundEnd = Literal["top_k", "unopened", "outranked", "budget", "depth", "ended"]
ROUND_ENDS: tuple[RoundEnd, ...] = get_args(RoundEnd)
NEAR = 2  # times the budget ("twice" in words): what such a tree holds was cut by the budget


def round_ends(states: States, config: DecodeConfig) -> Iterator[RoundEnd | None]:
    """Why each round of ``states`` ends under ``config``; ``None`` where nothing was drafted.

    With the run's own settings these are the rounds of the run itself. ``ValueError`` if ``config``
    changes what a replay cannot follow.
    """
    check_free(config, states.trace.config)
    for index in range(len(states)):
        found = states.replay(index, config)
        yield found and _end(states, index, found, config)


def _end(states: States, index: int, found: Replayed, config: DecodeConfig) -> RoundEnd | None:
    depth = len(found.accepted)
    place = states.root(index) + depth + 1  # of the token that the tree did not hold
    if place >= states.end:
        return "ended"
    candidates = states.candidates(index, config)
    if not candidates:
        return None
    if depth == len(candidates):
        return "depth"
    if states.text[place] not in candidates[depth]:
        return "top_k"
    if len(_wider(states, index, config, NEAR * config.budget).accepted) > depth:
        return "budget"
    widest = _wider(states, index, config, MAX_BUDGET)
    is_reached = len(widest.accepted) > depth or len(widest.tree.tokens) > MAX_BUDGET
    return "outranked" if is_reached else "unopened"


def _wider(states: States, index: int, config: DecodeConfig, budget: int) -> Replayed:
    """The round under a larger budget, at most the largest there is."""
    found = states.replay(index, replace(config, budget=min(budget, MAX_BUDGET)))
    assert found is not None, "the round is drafted"
    return found
