"""Cumulative speed-up over linear drafting by round: measured time, and target passes as if all cost alike."""

from typing import NamedTuple

import plotly.graph_objects as go

from presto.measures import committed_counts, cumulative_pass_ratio, cumulative_speedup
from presto.records import Trace
from viz.theme import LIGHT, Palette, axis, base_layout, note

BY_TIME = "round %{x}: %{y:.2f}× the speed of linear<extra></extra>"
BY_PASSES = "round %{x}: %{y:.2f}× (%{customdata} tokens per pass)<extra></extra>"
WAITING = "Appears as soon as linear drafting has run on the same prompt."
MEASURED, PASSES = "measured time", "per target pass"


class SpeedupInfo(NamedTuple):
    """Per round (counted from 1): the two ratios to linear drafting, ``None`` where linear is not that far."""

    rounds: tuple[int, ...]
    seconds: tuple[float | None, ...]
    passes: tuple[float | None, ...]
    tokens_per_pass: tuple[float, ...]


def _get_speedup_info(trace: Trace, linear: Trace | None) -> SpeedupInfo:
    counts = committed_counts(trace)
    rounds = tuple(range(1, len(counts) + 1))
    rates = tuple(count / number for count, number in zip(counts, rounds, strict=True))
    if linear is None or not linear.rounds:
        return SpeedupInfo(rounds, (None,) * len(rounds), (None,) * len(rounds), rates)
    seconds, passes = cumulative_speedup(trace, linear), cumulative_pass_ratio(trace, linear)
    return SpeedupInfo(rounds, tuple(seconds), tuple(passes), rates)


def _line(info: SpeedupInfo, name: str, colour: str, dash: str, hover: str) -> go.Scatter:
    return go.Scatter(
        x=info.rounds,
        y=info.seconds if name == MEASURED else info.passes,
        customdata=[f"{rate:.2f}" for rate in info.tokens_per_pass],
        mode="lines+markers" if len(info.rounds) < 3 else "lines",
        line={"color": colour, "width": 2.5, "dash": dash},
        name=name,
        hovertemplate=hover,
    )


def _get_speedup_plot(info: SpeedupInfo, round_: int | None = None, ink: Palette = LIGHT) -> go.Figure:
    known = [value for value in (*info.seconds, *info.passes) if value is not None]
    thin = {"color": ink.muted, "width": 1}
    level = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": thin}
    here = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {**thin, "dash": "dot"}}
    shown = -1 if round_ is None else round_ + 1
    layout = base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "shapes": [level, {**here, "x0": shown, "x1": shown, "visible": round_ is not None}],
        "xaxis": axis(ink, range=[0.5, max(len(info.rounds), 2) + 0.5], automargin=True, nticks=8, tickformat="d"),
        "yaxis": axis(ink, range=[0, max([1.5, *known]) * 1.08], ticksuffix="×", automargin=True, nticks=6),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 11}},
        "annotations": [note(ink, WAITING) | {"y": 0.2}] * (not known),
    }
    lines = [_line(info, PASSES, ink.bonus, "dash", BY_PASSES), _line(info, MEASURED, ink.accepted, "solid", BY_TIME)]
    return go.Figure(lines, layout)


def speedup_figure(
    trace: Trace,
    linear: Trace | None,
    round: int | None = None,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw how ``trace`` gains on ``linear`` round by round; below 1× it loses. ``round`` marks one of them."""
    return _get_speedup_plot(_get_speedup_info(trace, linear), round, ink)
