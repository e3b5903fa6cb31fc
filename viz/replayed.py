"""A round as other settings would have had it: its tree, and how it fares beside the run's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import Choice, DecodeConfig, Round, Stages, Trace, changed, settings
from presto.records.bounds import MAX_BUDGET
from presto.records.tree import spelled
from presto.runs.states import Replayed, States, check_free
from presto.searches import SEARCHES
from viz.nodes import BONUS, Node, node_rows
from viz.text import full_label
from viz.theme import LIGHT, Palette
from viz.tree import _get_tree_info, _get_tree_plot
from viz.view import RoundView

ENDED = "beyond: the run’s text ends before it"
NOT_DRAFTED = "Nothing was drafted in this round, whatever the settings."


@dataclass(frozen=True)
class ReplayedView(RoundView):
    """A replayed round. The target was never asked about nodes that its run did not draft:
    ``asked`` are those it was asked about.
    """

    asked: frozenset[int] = frozenset()
    text_ends: bool = False  # whether all that is known of the text was accepted

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """As of any round, without probabilities where none are known."""
        rows = node_rows(self.round, self.pieces)
        return tuple(self._known(row) for row in rows)

    def _known(self, row: Node) -> Node:
        if row.node not in self.asked and row.node != BONUS:
            row = row._replace(probability=None)
        if self.text_ends and row.status == "rejected" and row.parent == self._last:
            row = row._replace(status="beyond", word=ENDED)
        return row

    @property
    def _last(self) -> int:
        return self.round.accepted[-1] if self.round.accepted else 0


def replayed_view(states: States, index: int, found: Replayed, config: DecodeConfig) -> RoundView:
    """Round ``index`` with the tree that ``config`` builds at its state."""
    trace, own = states.trace, states.trace.rounds[index]
    known = dict(zip(spelled(own.tree), range(len(own.tree.tokens)), strict=True))
    same = [known.get(path) for path in spelled(found.tree)]
    following = states.root(index) + len(found.accepted) + 1
    ended = following >= len(states.text)
    round_ = replace(
        own,
        tree=found.tree,
        log_p=tuple(0.0 if node is None else own.log_p[node] for node in same),
        accepted=found.accepted,
        choice=_choice(own, found, None if ended else states.text[following]),
        committed=tuple(states.text[own.start : own.start + found.committed]),
        margin=0.0,
        forwards=0,
        seconds=Stages(),
    )
    asked = frozenset(node for node, before in enumerate(same) if before is not None)
    return ReplayedView(
        round_, trace.pieces, config, trace.finish, asked=asked - {0}, text_ends=ended
    )


def _choice(own: Round, found: Replayed, token: int | None) -> Choice:
    """The target's pick at the replayed stop; what else it thought is known at the run's own."""
    if token is None or len(found.accepted) == len(own.accepted):
        return own.choice
    return Choice(token)


def setting_words(config: DecodeConfig, own: DecodeConfig) -> str:
    """What ``config`` changes, in words: "λ 0.4, budget 64"; empty where nothing."""
    return ", ".join(
        _worded(setting.title, getattr(config, name))
        for name, setting in settings().items()
        if getattr(config, name) != getattr(own, name)
    )


def _begun(words: str) -> str:
    """``words`` at the beginning of a sentence; a symbol stays what it is."""
    return words if words.startswith("λ") else words[:1].upper() + words[1:]


def _worded(title: str, value: Any) -> str:
    name = title[:1].lower() + title[1:]
    if isinstance(value, bool):
        return f"{name} {'on' if value else 'off'}"
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


def replayed_sentence(
    states: States, index: int, found: Replayed | None, config: DecodeConfig
) -> str:
    """How many tokens ``config`` commits instead of how many, and where its tree loses the text."""
    if found is None:
        return NOT_DRAFTED
    own = len(states.trace.rounds[index].committed)
    words = setting_words(config, states.trace.config)
    beside = "as in the run" if found.committed == own else f"instead of {own}"
    count = f"{found.committed} token{'' if found.committed == 1 else 's'}"
    start = _begun(words) if words else "The run’s own settings"
    return (
        f"{start}: {count}{f' {beside}' * bool(words)}; {loss_words(states, index, found, config)}."
    )


def loss_words(states: States, index: int, found: Replayed, config: DecodeConfig) -> str:
    """Where the tree of ``config`` no longer holds the text, and why."""
    depth, round_ = len(found.accepted), states.trace.rounds[index]
    place = states.root(index) + depth + 1
    candidates = states.candidates(index, config)
    if place >= min(states.end, len(states.text)):
        return "the run’s text ends there"
    if depth == len(candidates):
        return f"all {depth} drafted positions accepted"
    token = states.text[place]
    here, ranked = candidates[depth], f"‘{full_label(states.trace.pieces[token])}’"
    if token not in here:
        return f"lost at +{depth + 1}, where {ranked} is not among the top {len(here)}"
    verb = "fell to" if len(round_.accepted) > depth else "has"
    return f"lost at +{depth + 1}, where {ranked} {_rank(states, index, depth, config, verb)}"


def _rank(states: States, index: int, depth: int, config: DecodeConfig, verb: str) -> str:
    """The place of the token that was lost in the order in which the search takes nodes."""
    search = SEARCHES.find(config.search)
    if search.single_path:
        return "was not the token drafted"
    if not search.nested:
        return "was not chosen"
    wider = states.replay(index, replace(config, budget=MAX_BUDGET))
    assert wider is not None, "the round is drafted"
    if len(wider.accepted) > depth:
        return f"{verb} rank {wider.accepted[depth]:,}"
    full = len(wider.tree.tokens) == 1 + MAX_BUDGET
    return f"{verb} a rank beyond {MAX_BUDGET:,}" if full else "was not kept by the beam"


def replayed_figure(
    trace: Trace,
    round: int = 0,  # noqa: A002
    changes: Mapping[str, Any] | None = None,
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw the tree that a setting with these ``changes`` builds at the state of
    ``trace.rounds[round]``.

    ``ValueError`` for a change that a replay cannot follow, or a round without drafts.
    """
    states, config = States(trace, table_of(trace.system)), changed(trace.config, changes or {})
    check_free(config, trace.config)
    index = range(len(states))[round]
    found = states.replay(index, config)
    if found is None:
        raise ValueError(f"round {round} cannot be replayed: nothing was drafted there")
    view = replayed_view(states, index, found, config)
    return _get_tree_plot(_get_tree_info(view), ink).figure()
