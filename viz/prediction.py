"""How well each score predicts the target: path scores of all drafted nodes against the target's
own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from presto.records import Round, Trace
from viz.formula import decimal
from viz.nodes import Node
from viz.plot import Chart, Plot, empty_plot, scatter
from viz.text import plotly_text
from viz.theme import LEGEND, LIGHT, Palette, axis, axis_title, base_layout
from viz.view import RoundView, view_of

BLIND, ALIGNED = "prefix-blind", "prefix-aligned"
EMPTY = "Nothing was drafted in this round."
DIAGONAL = "the target’s own value"
LEAST = 3  # nodes, for a rank correlation to mean anything
SIZE, ACCEPTED_SIZE = 6, 11
HOVER = (
    "<b>%{customdata[0]}</b> · depth %{customdata[1]}<br>%{customdata[2]}<br>"
    "path score %{x:.2f} · target’s log-probability of the path %{y:.2f}<extra></extra>"
)


class PredictionInfo(NamedTuple):
    """All drafted nodes, accepted ones last (drawn on top); ``target[i]`` is the target's log p of
    node i's path.

    Verification computes the target's probability of every node, so none is left out. Correlations
    are Spearman's; ``None`` with fewer than three nodes or where one side does not vary. Mean ranks
    are of the accepted path.
    """

    nodes: tuple[Node, ...]
    target: tuple[float, ...]  # nats, at temperature 1, summed from the root
    blind_correlation: float | None
    aligned_correlation: float | None
    blind_mean_rank: float | None
    aligned_mean_rank: float | None
    normalised: bool  # then the aligned path score estimates log p itself


def path_log_p(round_: Round) -> list[float]:
    """The target's log-probability of each node's path from the root, in nats at temperature 1; the
    root has 0.
    """
    sums = [0.0]
    for parent, log_p in zip(round_.tree.parents[1:], round_.log_p[1:], strict=True):
        sums.append(round(sums[parent] + log_p, 5))  # as stored, so that ties stay ties
    return sums


def _average_ranks(values: Sequence[float]) -> np.ndarray:
    """1-based ascending ranks ``[n]``; equal values share the mean of theirs."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: np.ndarray = (counts.cumsum() - (counts - 1) / 2)[place]
    return ranks


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation of two equally long sequences, with average ranks for ties."""
    if len(first) < LEAST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(np.corrcoef(_average_ranks(first), _average_ranks(second))[0, 1])


def _mean(ranks: list[int]) -> float | None:
    return sum(ranks) / len(ranks) if ranks else None


def _get_prediction_info(view: RoundView) -> PredictionInfo:
    sums = path_log_p(view.round)
    nodes = sorted(view.drafted, key=lambda row: row.status == "accepted")
    target = [sums[row.node] for row in nodes]
    accepted = [row for row in nodes if row.status == "accepted"]
    return PredictionInfo(
        nodes=tuple(nodes),
        target=tuple(target),
        blind_correlation=rank_correlation([row.blind or 0.0 for row in nodes], target),
        aligned_correlation=rank_correlation([row.aligned or 0.0 for row in nodes], target),
        blind_mean_rank=_mean([row.blind_rank or 0 for row in accepted]),
        aligned_mean_rank=_mean([row.aligned_rank or 0 for row in accepted]),
        normalised=view.config.normalised,
    )


def _legend(name: str, correlation: float | None) -> str:
    return f"{name}, " + (
        "no rank correlation" if correlation is None else f"rank correlation {decimal(correlation)}"
    )


def _points(info: PredictionInfo, name: str, ink: Palette) -> dict[str, Any]:
    aligned = name == ALIGNED
    tint = ink.accepted if aligned else ink.bonus
    score = "aligned" if aligned else "blind"
    words = [(row.full, row.depth, f"{name} · {row.word}") for row in info.nodes]
    return scatter(
        x=[getattr(row, score) for row in info.nodes],
        y=info.target,
        ids=[f"{row.node}:{score[0]}" for row in info.nodes],
        customdata=[[plotly_text(word) for word in line] for line in words],
        mode="markers",
        marker={
            "symbol": "diamond" if aligned else "circle-open",
            "size": [ACCEPTED_SIZE if row.status == "accepted" else SIZE for row in info.nodes],
            "color": tint,
            "opacity": 0.8,
            "line": {"width": 0 if aligned else 1.5, "color": tint},
        },
        name=_legend(name, info.aligned_correlation if aligned else info.blind_correlation),
        hovertemplate=HOVER,
        cliponaxis=False,
    )


def _diagonal(info: PredictionInfo, ink: Palette) -> dict[str, Any]:
    """Where a score equals the target's log-probability, inside the ranges of both."""
    scores = [score or 0.0 for row in info.nodes for score in (row.blind, row.aligned)]
    low = max(min(scores), min(info.target))
    line = {"width": 1, "color": ink.muted}
    return scatter(
        x=[low, 0],
        y=[low, 0],
        mode="lines",
        line=line,
        name=DIAGONAL,
        hoverinfo="skip",
        showlegend=False,
    )


def _get_prediction_plot(info: PredictionInfo, ink: Palette = LIGHT) -> Plot:
    if not info.nodes:
        return empty_plot(ink, EMPTY)
    lines = [_diagonal(info, ink)] if info.normalised else []
    layout = {
        "xaxis": axis(ink, title=axis_title(ink, "path score"), automargin=True),
        "yaxis": axis(ink, title=axis_title(ink, "target log p"), automargin=True),
        "legend": LEGEND,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
    }
    return Plot(
        [*lines, _points(info, BLIND, ink), _points(info, ALIGNED, ink)], base_layout(ink) | layout
    )


def prediction_figure(trace: Trace, round: int = 0, ink: Palette = LIGHT) -> go.Figure:  # noqa: A002
    """Draw both path scores of every drafted node of ``trace.rounds[round]`` against the target's
    log-probability.

    Hollow circles are prefix-blind, diamonds prefix-aligned, large marks the accepted path. The
    thin line is where a score equals the target's value; it is drawn when scores are normalised,
    since only then do they estimate it.
    """
    return _get_prediction_plot(_get_prediction_info(view_of(trace, round)), ink).figure()


def _get_prediction_sentence(info: PredictionInfo) -> str:
    """The accepted path's mean rank under each score, in words."""
    if info.blind_mean_rank is None:
        return "Nothing of the tree was accepted in this round." if info.nodes else ""
    ranks = (
        f"{info.blind_mean_rank:.1f} by the blind score, {info.aligned_mean_rank:.1f} by the "
        "aligned one"
    )
    return f"Mean rank of the accepted path: {ranks}." + (
        " Line: score = target." if info.normalised else ""
    )


CHART = Chart(
    name="prediction",
    title="Prediction",
    lead="path scores against the target's own path log-probability",
    label="Path score of every node, blind and aligned, against the target's log-probability.",
    info=_get_prediction_info,
    plot=_get_prediction_plot,
    sentence=_get_prediction_sentence,
)
