"""The draft tree of one round: what was drafted, what the target accepted, where it went its own
way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import networkx as nx
import plotly.graph_objects as go

from presto.records import Trace
from viz.layout import left_to_right, tidy_layout, top_down
from viz.nodes import Node
from viz.plot import Plot, scatter
from viz.text import plotly_text
from viz.theme import (
    LIGHT,
    MONO,
    STATUS_NAMES,
    SYMBOLS,
    Palette,
    Status,
    axis,
    base_layout,
    colour,
    corner,
)
from viz.view import RoundView, view_of

ORDER: tuple[Status, ...] = (
    "beyond",
    "rejected",
    "accepted",
    "bonus",
    "root",
)  # drawn back to front
LINES: dict[Status, dict[str, Any]] = {
    "beyond": {"width": 1, "dash": "2px,2px"},
    "rejected": {"width": 1.25, "dash": "6px,3px"},
    "accepted": {"width": 4},
    "bonus": {"width": 2.5, "dash": "dot"},
}
SIZES: dict[Status, int] = {"beyond": 6, "rejected": 7, "accepted": 10, "bonus": 14, "root": 11}
LABELLED = 120  # above this many nodes only the accepted path and its siblings keep their labels
FAN = 0.62  # edges leave a parent level, so that its label has a line to stand on
Place = Callable[[float, float], tuple[float, float]]
HOVER = (
    "<b>%{customdata[0]}</b> · id %{customdata[1]} · depth %{customdata[2]}<br>%{customdata[3]}<br>"
    "blind %{customdata[4]} · aligned %{customdata[5]}<br>target probability %{customdata[6]}<br>"
    "%{customdata[7]}<extra></extra>"
)


class TreeInfo(NamedTuple):
    """A round's tree, placed: ``positions[node] = (depth, breadth)``, siblings by aligned score,
    best first.
    """

    graph: nx.DiGraph
    nodes: dict[int, Node]
    positions: dict[int, tuple[float, float]]
    unlabelled: int


def _get_tree_info(view: RoundView) -> TreeInfo:
    nodes = {row.node: row for row in view.nodes}
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    # The bonus has no score: it comes first, in line with the accepted path that it continues.
    by_score = sorted((row for row in nodes.values() if row.status != "root"), key=_sibling_order)
    graph.add_edges_from((row.parent, row.node) for row in by_score)
    unlabelled = sum(not _labelled(row, len(nodes)) for row in nodes.values())
    return TreeInfo(graph, nodes, tidy_layout(graph, 0), unlabelled)


def _sibling_order(row: Node) -> tuple[bool, bool, float, int]:
    score = row.blind if row.aligned is None else row.aligned
    return row.status != "bonus", row.aligned is None, -(score or 0.0), row.node


def _labelled(row: Node, total: int) -> bool:
    return total <= LABELLED or row.status != "beyond"


def _number(value: float | None, rank: int | None) -> str:
    return "–" if value is None else f"{value:.2f} (rank {rank})"


def probability_text(value: float | None) -> str:
    """A probability as a person reads it."""
    if value is None:
        return "–"
    return f"{value:.1%}" if value >= 0.001 else "< 0.1%"


def _customdata(row: Node) -> list[str]:
    scores = _number(row.blind, row.blind_rank), _number(row.aligned, row.aligned_rank)
    words = (
        row.full,
        row.token,
        row.depth,
        row.word,
        *scores,
        probability_text(row.probability),
        row.path,
    )
    return [plotly_text(word) for word in words]


def edge_trace(
    info: TreeInfo, rows: Iterable[Node], place: Place, line: Mapping[str, Any], group: str
) -> dict[str, Any]:
    """The edges from their parents to these nodes."""
    points: list[tuple[float | None, float | None]] = []
    for row in rows:
        (depth, breadth), end = info.positions[row.parent], info.positions[row.node]
        points += [place(depth, breadth), place(depth + FAN, breadth), place(*end), (None, None)]
    return scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="lines",
        line=dict(line),
        hoverinfo="skip",
        showlegend=False,
        legendgroup=group,
    )


def node_trace(
    info: TreeInfo,
    rows: Sequence[Node],
    place: Place,
    marker: Mapping[str, Any],
    group: str,
    name: str,
) -> dict[str, Any]:
    """The marks of these nodes, with their cards; the page gives them labels."""
    points = [place(*info.positions[row.node]) for row in rows]
    return scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        ids=[str(row.node) for row in rows],
        customdata=[_customdata(row) for row in rows],
        mode="markers",
        textfont={"family": MONO, "size": 11, "color": marker["color"]},
        marker=dict(marker),
        name=name,
        legendgroup=group,
        showlegend=bool(rows),
        hovertemplate=HOVER,
        cliponaxis=False,
    )


def _of_status(info: TreeInfo, status: Status) -> list[Node]:
    return [row for row in info.nodes.values() if row.status == status]


def _status_edges(info: TreeInfo, place: Place, status: Status, ink: Palette) -> dict[str, Any]:
    line = {**LINES[status], "color": colour(ink, status)}
    return edge_trace(info, _of_status(info, status), place, line, status)


def _status_nodes(info: TreeInfo, place: Place, status: Status, ink: Palette) -> dict[str, Any]:
    rows, tint = _of_status(info, status), colour(ink, status)
    size = SIZES[status] - 2 * (status == "beyond" and len(info.nodes) > LABELLED)
    rim = {"width": 2 if status == "rejected" else 1, "color": tint}
    marker = {"symbol": SYMBOLS[status], "size": size, "color": tint, "line": rim}
    trace = node_trace(info, rows, place, marker, status, STATUS_NAMES[status])
    labels = [plotly_text(row.label) if _labelled(row, len(info.nodes)) else "" for row in rows]
    muted = {"color": ink.muted if status == "beyond" else tint}
    return trace | {
        "text": labels,
        "mode": "markers+text",
        "textposition": "middle right" if status in ("beyond", "rejected") else "top right",
        "textfont": trace["textfont"] | muted,
    }


def _axes(info: TreeInfo, ink: Palette) -> tuple[dict[str, Any], dict[str, Any]]:
    """The axis along the depth and the one across it, both as drawn from left to right."""
    deepest = int(max(depth for depth, _ in info.positions.values()))
    breadths = [breadth for _, breadth in info.positions.values()]
    along = axis(
        ink,
        range=[-0.3, max(deepest, 3) + 0.9],
        tickvals=list(range(deepest + 1)),
        ticktext=["root", *(f"+{depth}" for depth in range(1, deepest + 1))],
        side="top",
    )
    across = axis(ink, range=[-max(breadths) - 0.8, 1.0 - min(breadths)], visible=False)
    return along, across


def _turned(along: dict[str, Any], across: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two axes for a root on top: both run the other way."""
    flip = [-across["range"][1], -across["range"][0]]
    down = {
        "range": [-along["range"][1], -along["range"][0]],
        "tickvals": [-value for value in along["tickvals"]],
    }
    return {**across, "range": flip}, {**along, **down, "side": "left"}


def _get_tree_plot(info: TreeInfo, ink: Palette = LIGHT, vertical: bool = False) -> Plot:
    place = top_down if vertical else left_to_right
    traces = [_status_edges(info, place, status, ink) for status in ORDER if status != "root"]
    traces += [_status_nodes(info, place, status, ink) for status in ORDER]
    layout = layout_of(info, ink, vertical)
    more = f"+{info.unlabelled} more without a label"
    return Plot(traces, layout | {"annotations": [corner(ink, more)] * (info.unlabelled > 0)})


def layout_of(info: TreeInfo, ink: Palette, vertical: bool = False) -> dict[str, Any]:
    """Axes and legend of a tree."""
    xaxis, yaxis = _axes(info, ink)
    if vertical:
        xaxis, yaxis = _turned(xaxis, yaxis)
    legend = {
        "orientation": "h",
        "x": 0,
        "y": -0.02,
        "yanchor": "top",
        "font": {"size": 11},
        "itemsizing": "constant",
    }
    return base_layout(ink) | {
        "xaxis": xaxis,
        "yaxis": yaxis,
        "legend": legend,
        "dragmode": "pan",
    }


def tree_figure(
    trace: Trace,
    round: int = 0,  # noqa: A002
    ink: Palette = LIGHT,
    vertical: bool = False,
) -> go.Figure:
    """Draw the draft tree of ``trace.rounds[round]``; ``vertical`` puts the root on top."""
    return _get_tree_plot(_get_tree_info(view_of(trace, round)), ink, vertical).figure()
