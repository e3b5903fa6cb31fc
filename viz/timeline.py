"""The run at a glance: per round how many tokens it committed, by how they came, and how many the
blind tree would have.
"""

from collections.abc import Sequence

from presto.records import Round
from presto.runs.counterfactuals import Alternative
from viz.text import Kind, committed_kinds

KINDS: tuple[Kind, ...] = ("exact", "accepted", "bonus")  # a bar's parts, from below


def round_bar(round_: Round) -> list[int]:
    """Tokens that the round committed, one count per part of ``KINDS``."""
    kinds = [kind for kind, _ in committed_kinds(round_)]
    return [kinds.count(kind) for kind in KINDS]


def blind_counts(found: Sequence[Sequence[Alternative]]) -> list[int | None]:
    """Tokens that the blind tree of the run's budget would have committed at each round's state;
    ``None`` where nothing was drafted.
    """
    known = [{one.name: one.committed for one in alternatives} for alternatives in found]
    return [counts.get("blind") for counts in known]
