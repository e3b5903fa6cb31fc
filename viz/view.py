"""One round as all its figures and sentences see it.

What several of them need is worked out once per round, when it is first asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from presto.records import DecodeConfig, Finish, Piece, Round, Trace
from presto.records.measures import Totals
from presto.records.tree import bonus_committed, children, kept
from viz.nodes import Node, node_rows
from viz.text import RoundText, full_label, round_text, round_texts


class RunView(NamedTuple):
    """A run so far: its trace, of which figures of the whole run read no round, and the sums."""

    head: Trace
    totals: Totals


@dataclass(frozen=True)
class RoundView:
    """A round, and what of its run has a say in how it is shown.

    ``finish`` is the run's, ``stopped`` while it goes on. ``rest`` are the bytes of a character
    that the rounds before left incomplete.
    """

    round: Round
    pieces: Mapping[int, Piece]
    config: DecodeConfig
    finish: Finish
    rest: bytes = b""

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every token of the picture, with labels, depths, ranks and paths."""
        return node_rows(self.round, self.pieces)

    @cached_property
    def drafted(self) -> tuple[Node, ...]:
        """The tree's nodes below the root."""
        return self.nodes[1 : len(self.round.tree.tokens)]

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of every node, in order of expansion."""
        return children(self.round.tree.parents)

    @cached_property
    def text(self) -> RoundText:
        """What the round added to the text."""
        return round_text(self.round, self.pieces, self.rest)


def view_of(trace: Trace, index: int) -> RoundView:
    """Round ``index`` of a trace, counted from 0 (from the end if it is negative)."""
    round_ = trace.rounds[index]
    before = round_texts(trace)[:index]
    rest = before[-1].rest if before else b""
    return RoundView(round_, trace.pieces, trace.config, trace.finish, rest)


def round_sentence(view: RoundView) -> str:
    """What happened in the round, in words."""
    round_ = view.round
    drafted, taken = len(view.drafted), len(kept(round_))
    choice = full_label(view.pieces[round_.choice.token])
    own = (
        f", then the target’s own “{choice}”" if bonus_committed(round_) else ", then the run ended"
    )
    checked = f"{taken} of {drafted} drafted accepted" if drafted else "nothing drafted"
    total = len(round_.committed)
    return f"{checked}{own}: {total} token{'' if total == 1 else 's'}."
