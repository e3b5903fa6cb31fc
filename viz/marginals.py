"""The drafter's prefix-blind marginals of one round as a grid: what each position offered, and what
the tree used.
"""

from collections import defaultdict
from math import exp
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Trace
from viz.formula import decimal
from viz.plot import Chart, Plot, empty_plot, heatmap, scatter
from viz.text import label, plotly_text
from viz.theme import LIGHT, MONO, Palette, axis, axis_title, base_layout, shades_of
from viz.tree import probability_text
from viz.view import RoundView, view_of

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


def _use(view: RoundView) -> Use:
    use: Use = defaultdict(list)
    for row in view.drafted:
        use[row.depth, row.token].append(row.node)
    return use


def _cell(view: RoundView, use: Use, depth: int, rank: int) -> Cell:
    marginals, tree = view.round.marginals, view.round.tree
    token = marginals.token_ids[depth - 1][rank - 1]
    nodes, piece = use.get((depth, token), []), view.pieces[token]
    rhos = [tree.log_rho[node] for node in nodes]
    return Cell(
        depth=depth,
        rank=rank,
        token=token,
        label=label(piece, CELL),
        full=label(piece, FULL),
        q=exp(min(marginals.log_q[depth - 1][rank - 1], 0.0)),
        nodes=tuple(nodes),
        log_rho=(min(rhos), max(rhos)) if rhos else None,
        accepted=any(view.nodes[node].status == "accepted" for node in nodes),
    )


def _get_marginals_info(view: RoundView) -> MarginalsInfo:
    drafted, use = view.round.marginals.token_ids, _use(view)
    shown = min(SHOWN, view.config.top_k, len(drafted[0])) if drafted else 0
    rows = tuple(
        tuple(_cell(view, use, depth, rank) for depth in range(1, len(drafted) + 1))
        for rank in range(1, shown + 1)
    )
    drawn = {(cell.depth, cell.token) for row in rows for cell in row}
    below = len(use.keys() - drawn) if rows else 0
    return MarginalsInfo(rows, below, view.round.exact is not None)


def _usage(cell: Cell) -> str:
    if cell.log_rho is None:
        return "used by no node of the tree"
    least, greatest = (decimal(value) for value in cell.log_rho)
    nodes = "1 node" if len(cell.nodes) == 1 else f"{len(cell.nodes)} nodes"
    spread = least if least == greatest else f"{least} to {greatest}"
    return f"used by {nodes} of the tree, log ρ {spread}" + (
        "; accepted by the target" if cell.accepted else ""
    )


def _grid(info: MarginalsInfo, ink: Palette) -> dict[str, Any]:
    shades = [[i, shade] for i, shade in enumerate(shades_of(ink))]
    size = {} if len(info.rows[0]) > READABLE else {"size": 9}
    return heatmap(
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


def _outlines(cells: list[Cell], name: str, line: dict[str, Any]) -> dict[str, Any]:
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
    return scatter(
        x=xs, y=ys, mode="lines", line=line, name=name, hoverinfo="skip", showlegend=bool(cells)
    )


def _get_marginals_plot(info: MarginalsInfo, ink: Palette = LIGHT) -> Plot:
    if not info.rows:
        return empty_plot(ink, EMPTY)
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
    return Plot([_grid(info, ink), *boxes], base_layout(ink) | _layout(info, ink))


def _layout(info: MarginalsInfo, ink: Palette) -> dict[str, Any]:
    positions, ranks = len(info.rows[0]), len(info.rows)
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
            title=axis_title(ink, "rank by q"),
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
    return _get_marginals_plot(_get_marginals_info(view_of(trace, round)), ink).figure()


def _get_marginals_sentence(info: MarginalsInfo) -> str:
    """How to read the grid, and what of the tree lies below it."""
    if not info.rows:
        return ""
    after = "the exact token" if info.exact else "the last committed token"
    below = f" +{info.below} more of the tree rank lower." if info.below else ""
    return f"Positions count from {after}. Thin outline: used by the tree, thick: accepted.{below}"


CHART = Chart(
    name="marginals",
    title="Marginals",
    lead="the drafter's distribution per position: blind to the tokens before",
    label="The drafter's marginals: likeliest tokens per drafted position, those in the tree "
    "outlined.",
    info=_get_marginals_info,
    plot=_get_marginals_plot,
    sentence=_get_marginals_sentence,
)
