"""The aligned and the blind tree of one state on one layout: what both hold, what only one of them
does, and how far either follows the text.

The aligned tree is the run's own; its nodes keep their numbers, those that only the blind tree of
the same budget has follow them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import ROOT, Trace, Tree
from presto.records.tree import ranks, spelled
from presto.runs.counterfactuals import lineup
from presto.runs.replay import follow_text
from presto.runs.states import Replayed, States
from viz.layout import left_to_right
from viz.nodes import BONUS, Node
from viz.plot import Plot
from viz.replayed import loss_words, replayed_view
from viz.theme import LIGHT, SYMBOLS, Palette, Status, colour
from viz.tree import TreeInfo, _get_tree_info, edge_trace, layout_of, node_trace
from viz.view import RoundView

Member = Literal["shared", "aligned", "blind"]
MEMBERS: dict[Member, str] = {
    "shared": "in both trees",
    "aligned": "only in the aligned tree",
    "blind": "only in the blind tree",
}
LINES: dict[Member, dict[str, Any]] = {
    "shared": {"width": 1.25},
    "aligned": {"width": 2},
    "blind": {"width": 1.5, "dash": "6px,3px"},
}
MARKS: dict[Member, str] = {"shared": "circle", "aligned": "diamond", "blind": "square-open"}
SIZES: dict[Member, int] = {"shared": 6, "aligned": 8, "blind": 8}
HUES: dict[Member, str] = {"shared": "beyond", "aligned": "accepted", "blind": "rejected"}
TEXT = 7  # pixels of the line through the text that the target wrote


class Union(NamedTuple):
    """Two trees as one. ``members`` and ``numbers`` go by node: of the union whose it is, of the
    second tree its number in the union.
    """

    tree: Tree
    members: tuple[Member, ...]
    numbers: tuple[int, ...]


def unite(ours: Tree, theirs: Tree) -> Union:
    """The nodes of ``ours``, then those of ``theirs`` whose path ``ours`` does not have."""
    known = {path: node for node, path in enumerate(spelled(ours))}
    numbers, more = list[int](), list[int]()
    for node, path in enumerate(spelled(theirs)):
        if path not in known:
            known[path] = len(known)
            more.append(node)
        numbers.append(known[path])
    parts = {
        field.name: (*getattr(ours, field.name), *(getattr(theirs, field.name)[n] for n in more))
        for field in fields(Tree)
    }
    parents = (*ours.parents, *(numbers[theirs.parents[node]] for node in more))
    shared = set(numbers)
    own: list[Member] = ["shared" if n in shared else "aligned" for n in range(len(ours.tokens))]
    theirs_only: list[Member] = ["blind"] * len(more)
    return Union(Tree(**parts | {"parents": parents}), (*own, *theirs_only), tuple(numbers))


@dataclass(frozen=True)
class ListedView(RoundView):
    """A round whose rows are given."""

    rows: tuple[Node, ...] = ()

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The rows that are given."""
        return self.rows


class TwoTrees(NamedTuple):
    """Both trees of a state: their union and the blind one alone, by the same numbers.

    ``text`` are the nodes of the union that spell the text the target went on to write; ``lost``
    says at which of them, or at the bonus, which tree no longer holds it.
    """

    both: RoundView
    blind: RoundView
    members: tuple[Member, ...]
    text: tuple[int, ...]
    lost: Mapping[int, str]
    sentence: str


def two_trees(states: States, index: int) -> TwoTrees | None:
    """The trees of round ``index``; ``None`` where nothing was drafted."""
    own = states.trace.config
    config = lineup(own)["blind"]
    ours, theirs = states.replay(index, own), states.replay(index, config)
    if ours is None or theirs is None:
        return None
    union = unite(ours.tree, theirs.tree)
    text = follow_text(union.tree, states.text[states.root(index) + 1 :])
    whole = Replayed(union.tree, text, states.committed(index, len(text)))
    view = replayed_view(states, index, whole, own)
    both = _listed(view, _union_rows(view.nodes, union, ours.tree))
    blind = replayed_view(states, index, theirs, config)
    counts = Counter(union.members[ROOT + 1 :])
    nodes = ", ".join(f"{counts[member]} {words}" for member, words in MEMBERS.items())
    ends = (
        f"{name}: {_tokens(found.committed)}, {loss_words(states, index, found, under)}."
        for name, found, under in (("Aligned", ours, own), ("Blind", theirs, config))
    )
    return TwoTrees(
        both=both,
        blind=_listed(blind, _renumbered(blind.nodes, union.numbers)),
        members=union.members,
        text=text,
        lost=_lost(both, text, len(ours.accepted), len(theirs.accepted)),
        sentence=" ".join((*ends, f"Nodes: {nodes}.")),
    )


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


def _listed(view: RoundView, rows: tuple[Node, ...]) -> RoundView:
    return ListedView(view.round, view.pieces, view.config, view.finish, view.rest, rows=rows)


def _renumbered(rows: tuple[Node, ...], numbers: tuple[int, ...]) -> tuple[Node, ...]:
    """The rows of the blind tree by their numbers in the union."""

    def number(node: int) -> int:
        return numbers[node] if node >= ROOT else node

    return tuple(row._replace(node=number(row.node), parent=number(row.parent)) for row in rows)


def _union_rows(rows: tuple[Node, ...], union: Union, ours: Tree) -> tuple[Node, ...]:
    """The rows of the union, each with whose it is; only the run's own have an aligned score."""
    aligned_rank = ranks(ours.aligned)

    def known(row: Node) -> Node:
        if row.node <= ROOT:
            return row
        member = union.members[row.node]
        row = row._replace(word=f"{MEMBERS[member]}; {row.word}")
        if member == "blind":
            return row._replace(log_rho=None, aligned=None, aligned_rank=None)
        return row._replace(aligned_rank=aligned_rank[row.node])

    return tuple(map(known, rows))


def _lost(view: RoundView, text: tuple[int, ...], ours: int, theirs: int) -> dict[int, str]:
    """Where the trees no longer hold the text, of which they have so many tokens."""
    path = [*text, *(row.node for row in view.nodes if row.node == BONUS)]
    if ours == theirs:
        return dict.fromkeys(path[ours : ours + 1], "both lose it")
    found = dict.fromkeys(path[theirs : theirs + 1], "blind loses it")
    return found | dict.fromkeys(path[ours : ours + 1], "aligned loses it")


class BothInfo(NamedTuple):
    """The union, placed, whose each node is, and the path of the text."""

    placed: TreeInfo
    members: tuple[Member, ...]
    path: tuple[int, ...]


def _get_both_info(trees: TwoTrees) -> BothInfo:
    placed = _get_tree_info(trees.both)
    bonus = (BONUS,) if BONUS in placed.nodes else ()
    return BothInfo(placed, trees.members, (ROOT, *trees.text, *bonus))


def _rows(info: BothInfo, member: Member) -> list[Node]:
    rows = info.placed.nodes.values()
    return [row for row in rows if row.node > ROOT and info.members[row.node] == member]


def _text_trace(info: BothInfo, ink: Palette) -> dict[str, Any]:
    """A broad line under the path of the text."""
    rows = [info.placed.nodes[node] for node in info.path[1:]]
    line = {"width": TEXT, "color": ink.exact}
    trace = edge_trace(info.placed, rows, left_to_right, line, "text")
    return trace | {"opacity": 0.4}


def _get_both_plot(info: BothInfo, ink: Palette = LIGHT) -> Plot:
    placed, traces = info.placed, [_text_trace(info, ink)]
    for member, line in LINES.items():
        tint = getattr(ink, HUES[member])
        edges = line | {"color": tint}
        traces.append(edge_trace(placed, _rows(info, member), left_to_right, edges, member))
    for member, name in MEMBERS.items():
        tint = getattr(ink, HUES[member])
        marker = {"symbol": MARKS[member], "size": SIZES[member], "color": tint}
        rim = {"line": {"width": 1.5, "color": tint}}
        rows = _rows(info, member)
        traces.append(node_trace(placed, rows, left_to_right, marker | rim, member, name))
    others: tuple[Status, ...] = ("bonus", "root")
    for status in others:
        rows = [row for row in placed.nodes.values() if row.status == status]
        tint = colour(ink, status)
        marker = {"symbol": SYMBOLS[status], "size": 12, "color": tint}
        rim = {"line": {"width": 1, "color": tint}}
        traces.append(node_trace(placed, rows, left_to_right, marker | rim, status, status))
    return Plot(traces, layout_of(placed, ink))


def two_trees_figure(
    trace: Trace,
    round: int = 0,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw the aligned and the blind tree of ``trace.rounds[round]`` on one layout.

    ``ValueError`` for a round without drafts.
    """
    states = States(trace, table_of(trace.system))
    found = two_trees(states, range(len(states))[round])
    if found is None:
        raise ValueError(f"round {round} has no trees: nothing was drafted there")
    return _get_both_plot(_get_both_info(found), ink).figure()
