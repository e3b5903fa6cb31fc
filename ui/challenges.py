"""Answers to the page's challenges, computed from the run that is loaded."""

from collections.abc import Sequence

from presto.records import Trace
from presto.records.measures import acceptance_length, speedup
from presto.records.tree import kept
from presto.runs.counterfactuals import Alternative

ANSWERS = ("tau", "longest", "accepted", "speedup", "rescued")


def answers(
    trace: Trace, linear: Trace | None, alternatives: Sequence[Sequence[Alternative]]
) -> dict[str, float]:
    """The number behind every question that this run can answer; ``alternatives`` as from
    ``viz.alternatives.alternatives_of``.
    """
    if not trace.rounds:
        return {}
    known: dict[str, float] = {
        "tau": acceptance_length(trace),
        "longest": max(len(round_.committed) for round_ in trace.rounds),
        "accepted": len(kept(trace.rounds[0])),
    }
    ratio = speedup(trace, linear) if linear else None
    if ratio is not None:
        known["speedup"] = ratio
    if alternatives:
        known["rescued"] = sum(_better_than_blind(round_) for round_ in alternatives)
    return {name: round(value, 4) for name, value in known.items()}


def _better_than_blind(alternatives: Sequence[Alternative]) -> bool:
    own = next((one.committed for one in alternatives if one.own), 0)
    blind = next((one.committed for one in alternatives if one.name == "blind"), own)
    return own > blind
