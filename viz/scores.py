"""Prefix-blind against prefix-aligned: how the n-gram correction reorders the nodes of one round's
tree.
"""

from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Trace
from viz.nodes import Node
from viz.plot import Chart, Plot, empty_plot, scatter
from viz.text import plotly_text, shorten
from viz.theme import (
    LIGHT,
    MONO,
    STATUS_NAMES,
    SYMBOLS,
    Palette,
    Status,
    axis,
    axis_title,
    base_layout,
    colour,
)
from viz.view import RoundView, view_of

ORDER: tuple[Status, ...] = ("beyond", "rejected", "accepted")
LINES: dict[Status, dict[str, Any]] = {
    "beyond": {"width": 1, "dash": "2px,2px"},
    "rejected": {"width": 1.25, "dash": "6px,3px"},
    "accepted": {"width": 3.5},
}
NEIGHBOURS = 2  # ranks this close would print their labels on top of each other
LABEL = 14  # letters beside a rank
ROOM = 0.6  # for them, in distances between the two sides
HEADROOM = 0.06  # over rank 1, in parts of the axis: half a letter
LOG_FROM = (
    64  # more ranks than this: a logarithmic axis, since the accepted path is among the first
)
HOVER = (
    "<b>%{customdata[0]}</b> · depth %{customdata[1]}<br>%{customdata[2]}<br>"
    "rank %{customdata[3]} blind → %{customdata[4]} aligned<extra></extra>"
)


class ScoresInfo(NamedTuple):
    """The drafted nodes with their two ranks; empty when nothing was drafted."""

    nodes: tuple[Node, ...]
    log_axis: bool


def _get_scores_info(view: RoundView) -> ScoresInfo:
    return ScoresInfo(view.drafted, len(view.drafted) > LOG_FROM)


def _labels(accepted: list[Node]) -> dict[int, str]:
    """One label per run of neighbouring aligned ranks, at its first node: the tokens of the
    accepted path in order.
    """
    groups: list[list[Node]] = []
    for row in sorted(accepted, key=lambda row: row.aligned_rank or 0):
        if groups and (row.aligned_rank or 0) - (groups[-1][-1].aligned_rank or 0) <= NEIGHBOURS:
            groups[-1].append(row)
        else:
            groups.append([row])
    return {
        group[0].node: "\u2009" + shorten("  ".join(row.label for row in group), LABEL)
        for group in groups
    }


def _rank_trace(rows: list[Node], status: Status, ink: Palette) -> dict[str, Any]:
    xs: list[float | None] = []
    ys: list[int | None] = []
    ids, hover, names = [], [], []
    labels = _labels(rows) if status == "accepted" else {}
    for row in rows:
        xs += [0, 1, None]
        ys += [row.blind_rank, row.aligned_rank, None]
        ids += [f"{row.node}:0", f"{row.node}:1", f"{row.node}:"]
        words = [row.full, row.depth, row.word, row.blind_rank, row.aligned_rank]
        hover += [shown := [plotly_text(word) for word in words], shown, []]
        names += ["", plotly_text(labels.get(row.node, "")), ""]
    tint, many = (
        colour(ink, status),
        len(rows) > LOG_FROM,
    )  # marks of many are a blur and cost more than their lines
    return scatter(
        x=xs,
        y=ys,
        ids=ids,
        customdata=hover,
        text=names,
        mode="lines+markers+text" if status == "accepted" else "lines" if many else "lines+markers",
        textposition="middle right",
        textfont={"family": MONO, "size": 11, "color": tint},
        line={**LINES[status], "color": tint},
        marker={"symbol": SYMBOLS[status], "size": 7 if status == "accepted" else 4, "color": tint},
        name=STATUS_NAMES[status],
        opacity=0.4 if many else 1,
        showlegend=False,
        hovertemplate=HOVER,
        cliponaxis=False,
    )


def _linear(count: int) -> dict[str, Any]:
    """An axis of ranks from 1 on top to ``count``."""
    step = 10 if count > 20 else 5 if count > 8 else 1
    ticks = sorted({1, *range(step, count + 1, step)})
    return {"range": [max(count, 2) + 0.8, 1 - max(0.8, HEADROOM * count)], "tickvals": ticks}


def _get_scores_plot(info: ScoresInfo, ink: Palette = LIGHT) -> Plot:
    if not info.nodes:
        return empty_plot(ink, "Nothing was drafted in this round.")
    traces = [
        _rank_trace([row for row in info.nodes if row.status == status], status, ink)
        for status in ORDER
    ]
    ranks = axis(
        ink,
        title=axis_title(ink, "rank"),
        automargin=True,
    )
    logarithmic = {"type": "log", "range": [2.8, -0.1], "tickvals": [1, 3, 10, 30, 100, 300]}
    ranks |= logarithmic if info.log_axis else _linear(len(info.nodes))
    sides = axis(
        ink,
        range=[-0.08, 1 + ROOM],
        tickvals=[0, 1],
        ticktext=["prefix-blind", "prefix-aligned"],
        side="top",
    )
    margin = {"l": 8, "r": 8, "t": 24, "b": 6}
    return Plot(traces, base_layout(ink) | {"xaxis": sides, "yaxis": ranks, "margin": margin})


def scores_figure(trace: Trace, round: int = 0, ink: Palette = LIGHT) -> go.Figure:  # noqa: A002
    """Draw the rank of every node of ``trace.rounds[round]`` under both scores, the accepted path
    highlighted.
    """
    return _get_scores_plot(_get_scores_info(view_of(trace, round)), ink).figure()


CHART = Chart(
    name="scores",
    title="Ranks",
    lead="rank of the same nodes under both scores",
    label="Rank of every node under the prefix-blind and the prefix-aligned score; the table has "
    "the same numbers.",
    info=_get_scores_info,
    plot=_get_scores_plot,
)
