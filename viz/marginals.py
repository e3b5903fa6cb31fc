"""The drafter's prefix-blind marginals of one round as a grid: what each position offered, and what
the tree used.
"""

from collections import defaultdict
from math import exp
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Round, Trace
from presto.records.tree import depths
from viz.formula import decimal
from viz.text import label, plotly_text
from viz.theme import LIGHT, MONO, Palette, axis, base_layout, empty_figure, shades_of
from viz.tree import probability_text

SHOWN = 8  # ranks drawn
READABLE = 16  # positions that fit side by side with 9 px text; more of them shrink it
CELL, FULL = 6, 160  # characters of a token in its cell and in its card
REACH = 0.45  # from a cell's centre to its outline: neighbours' outlines do not touch
HOVER = (
    "<b>%{customdata[0]}</b> · id %{customdata[1]}<br>"
    "position +%{customdata[2]} · rank %{customdata[3]} · q "
    "%{customdata[4]}<br>%{customdata[5]}<extra></extra>"
)
EMPTY = "Nothing was drafted in this round."
Use = dict[tuple[int, int], list[int]]  # (depth, token) -> nodes


class Cell(NamedTuple):
    """A candidate of one position. Positions (= depths in the tree) and ranks count from 1."""

    depth: int
    rank: int
    token: int
    label: str  # short, for the cell
    full: str
    q: float  # the drafter's probability
    nodes: tuple[
        int, ...
    ]  # of the tree, which place this token at this depth after one prefix each
    log_rho: tuple[float, float] | None  # least and greatest correction among these nodes
    accepted: bool


class MarginalsInfo(NamedTuple):
    """``rows[r][d]``: the candidate of rank ``r + 1`` at depth ``d + 1``; no rows when nothing was
    drafted.

    The first depth follows the tree's root, be it the last committed token or the exact token of
    the draft pass.
    """

    rows: tuple[tuple[Cell, ...], ...]
    below: int  # further (depth, token) pairs of the tree, whose rank is not drawn
    exact: bool


def _use(round_: Round) -> Use:
    use: Use = defaultdict(list)
    for node, depth in enumerate(depths(round_.tree.parents)):
        if node:
            use[depth, round_.tree.tokens[node]].append(node)
    return use


def _cell(trace: Trace, round_: Round, use: Use, depth: int, rank: int) -> Cell:
    token = round_.marginals.token_ids[depth - 1][rank - 1]
    nodes, piece = use.get((depth, token), []), trace.pieces[token]
    rhos = [round_.tree.log_rho[node] for node in nodes]
    return Cell(
        depth=depth,
        rank=rank,
        token=token,
        label=label(piece, CELL),
        full=label(piece, FULL),
        q=exp(min(round_.marginals.log_q[depth - 1][rank - 1], 0.0)),
        nodes=tuple(nodes),
        log_rho=(min(rhos), max(rhos)) if rhos else None,
        accepted=any(node in round_.accepted for node in nodes),
    )


def _get_marginals_info(trace: Trace, round_: int) -> MarginalsInfo:
    record = trace.rounds[round_]
    drafted, use = record.marginals.token_ids, _use(record)
    shown = min(SHOWN, len(drafted[0])) if drafted else 0
    rows = tuple(
        tuple(_cell(trace, record, use, depth, rank) for depth in range(1, len(drafted) + 1))
        for rank in range(1, shown + 1)
    )
    drawn = {(cell.depth, cell.token) for row in rows for cell in row}
    return MarginalsInfo(rows, len(use.keys() - drawn) if rows else 0, record.exact is not None)


def _usage(cell: Cell) -> str:
    if cell.log_rho is None:
        return "used by no node of the tree"
    least, greatest = (decimal(value) for value in cell.log_rho)
    nodes = "1 node" if len(cell.nodes) == 1 else f"{len(cell.nodes)} nodes"
    spread = least if least == greatest else f"{least} to {greatest}"
    return f"used by {nodes} of the tree, log ρ {spread}" + (
        "; accepted by the target" if cell.accepted else ""
    )


def _grid(info: MarginalsInfo, ink: Palette) -> go.Heatmap:
    shades = [[i, shade] for i, shade in enumerate(shades_of(ink))]
    size = {} if len(info.rows[0]) > READABLE else {"size": 9}
    return go.Heatmap(
        x=[cell.depth for cell in info.rows[0]],
        y=[row[0].rank for row in info.rows],
        z=[[round(cell.q, 4) for cell in row] for row in info.rows],
        zmin=0,
        zmax=1,
        colorscale=shades,
        showscale=False,
        text=[[plotly_text(cell.label) for cell in row] for row in info.rows],
        texttemplate="%{text}",
        textfont={"family": MONO, "color": ink.ink, **size},
        customdata=[[_customdata(cell) for cell in row] for row in info.rows],
        hovertemplate=HOVER,
    )


def _customdata(cell: Cell) -> list[str]:
    words = cell.full, cell.token, cell.depth, cell.rank, probability_text(cell.q), _usage(cell)
    return [plotly_text(word) for word in words]


def _outlines(cells: list[Cell], name: str, line: dict[str, Any]) -> go.Scatter:
    """A box around each cell, all in one trace."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for cell in cells:
        left, right, top, bottom = (
            cell.depth - REACH,
            cell.depth + REACH,
            cell.rank - REACH,
            cell.rank + REACH,
        )
        xs += [left, right, right, left, left, None]
        ys += [top, top, bottom, bottom, top, None]
    return go.Scatter(
        x=xs, y=ys, mode="lines", line=line, name=name, hoverinfo="skip", showlegend=bool(cells)
    )


def _get_marginals_plot(info: MarginalsInfo, ink: Palette = LIGHT) -> go.Figure:
    if not info.rows:
        return empty_figure(ink, EMPTY)
    used = [cell for row in info.rows for cell in row if cell.nodes]
    boxes = [
        _outlines(
            [cell for cell in used if not cell.accepted],
            "used by the tree",
            {"width": 1, "color": ink.ink},
        ),
        _outlines(
            [cell for cell in used if cell.accepted],
            "accepted",
            {"width": 3.5, "color": ink.accepted},
        ),
    ]
    return go.Figure([_grid(info, ink), *boxes], base_layout(ink) | _layout(info, ink))


def _layout(info: MarginalsInfo, ink: Palette) -> dict[str, Any]:
    positions, ranks = len(info.rows[0]), len(info.rows)
    small = {"font": {"size": 11, "color": ink.muted}, "standoff": 4}
    return {
        "xaxis": axis(
            ink,
            range=[0.5, positions + 0.5],
            tickvals=list(range(1, positions + 1)),
            ticktext=[f"+{depth}" for depth in range(1, positions + 1)],
            side="top",
            showgrid=False,
            automargin=True,
        ),
        "yaxis": axis(
            ink,
            range=[ranks + 0.5, 0.5],
            tickvals=list(range(1, ranks + 1)),
            title={"text": "rank by q", **small},
            showgrid=False,
            automargin=True,
        ),
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 6},
    }


def marginals_figure(trace: Trace, round: int = 0, ink: Palette = LIGHT) -> go.Figure:  # noqa: A002
    """Draw the marginals of ``trace.rounds[round]``, shaded by q.

    A token has one cell per position however many nodes place it there: the drafter knows no
    prefix, so all of them have the same q. Outlined cells are used by the tree, with a thick
    outline those of the accepted path.
    """
    return _get_marginals_plot(_get_marginals_info(trace, round), ink)


def marginals_sentence(trace: Trace, round: int = 0) -> str:  # noqa: A002
    """How to read the grid, and what of the tree lies below it."""
    info = _get_marginals_info(trace, round)
    if not info.rows:
        return ""
    after = "the exact token" if info.exact else "the last committed token"
    below = f" +{info.below} more of the tree rank lower." if info.below else ""
    return f"Positions count from {after}. Thin outline: used by the tree, thick: accepted.{below}"
