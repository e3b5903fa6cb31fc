"""The figures of a benchmark result: τ, speed, overhead and accepted lengths, with their 95 %
intervals.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

import plotly.graph_objects as go

from presto.benchmarks.results import BenchResult
from presto.records import Method
from presto.runs.variants import TITLES
from viz import plot
from viz.bench_info import (
    BarsInfo,
    EndsOf,
    Spread,
    _get_ends_info,
    _get_histogram_info,
    _get_overhead_info,
    _get_speed_info,
    _get_tau_info,
    in_order,
)
from viz.ends import SHORT
from viz.lanes import STYLES
from viz.plot import Chart, Plot, empty_plot
from viz.text import plotly_text
from viz.theme import LEGEND, LIGHT, Palette, axis, axis_title, base_layout

NOTHING = "The result file has no figures for this."
NAMES = {str(method): title for method, title in TITLES.items()}
# Colour (a field of Palette) and hatching of the methods; then those of scorers and searches.
HATCHES: dict[Method, str] = {"presto": "", "presto+": "-", "linear": "/", "blind": ".", "ar": "x"}
PAINTS = {str(method): (STYLES[method][0], hatch) for method, hatch in HATCHES.items()}
SPARE = [(colour, hatch) for hatch in ("", "\\", "+") for colour in ("rejected", "beyond", "ink")]


def _name(method: str) -> str:
    """What a figure calls a method, or PRESTO with a scorer or search."""
    return NAMES.get(method, f"PRESTO, {method}")


def _paints(methods: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour (a field of Palette) and hatching by method."""
    spare = cycle(SPARE)
    return {method: PAINTS[method] if method in PAINTS else next(spare) for method in methods}


def _columns(method: str, paint: tuple[str, str], ink: Palette, **settings: Any) -> dict[str, Any]:
    """A method's bars in its colour and hatching."""
    colour, hatch = paint
    pattern = {
        "shape": hatch,
        "fillmode": "overlay",
        "size": 5,
        "fgcolor": ink.paper,
        "solidity": 0.35,
    }
    marker = {"color": getattr(ink, colour), "pattern": pattern}
    return plot.bars(name=_name(method), marker=marker, **settings)


def _interval_trace(
    info: BarsInfo, method: str, paint: tuple[str, str], ink: Palette
) -> dict[str, Any]:
    bars, unit = [bar for bar in info.bars if bar.method == method], info.measure.unit
    cards = [
        [unit(bar.value), unit(bar.low), unit(bar.high), plotly_text(bar.remark)] for bar in bars
    ]
    reach = {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, bar.high - bar.value) for bar in bars],
        "arrayminus": [max(0.0, bar.value - bar.low) for bar in bars],
        "color": ink.ink,
        "thickness": 1.25,
        "width": 4,
    }
    return _columns(
        method,
        paint,
        ink,
        x=[bar.group for bar in bars],
        y=[bar.value for bar in bars],
        error_y=reach,
        customdata=cards,
        hovertemplate=f"<b>{_name(method)}</b> %{{customdata[0]}}<br>"
        "95 %: %{customdata[1]} to %{customdata[2]}<br>%{customdata[3]}<extra></extra>",
    )


def _layout(ink: Palette, title: str) -> dict[str, Any]:
    return base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "barmode": "group",
        "bargap": 0.3,
        "bargroupgap": 0.08,
        "legend": LEGEND,
        "showlegend": True,
        "yaxis": axis(
            ink, title=axis_title(ink, title), rangemode="tozero", automargin=True, nticks=6
        ),
    }


def _get_bars_plot(info: BarsInfo, ink: Palette = LIGHT) -> Plot:
    if not info.bars:
        return empty_plot(ink, NOTHING)
    paints, level = (
        _paints(in_order(dict.fromkeys(bar.method for bar in info.bars))),
        info.measure.level,
    )
    names = [plotly_text(name) for name in info.groups]
    line = {"color": ink.muted, "width": 1}
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": line}
    layout = _layout(ink, info.measure.title) | {
        "xaxis": axis(
            ink, tickvals=list(range(len(names))), ticktext=names, showgrid=False, automargin=True
        ),
        "shapes": [] if level is None else [{**across, "y0": level, "y1": level}],
    }
    layout["yaxis"]["tickformat"] = info.measure.ticks
    return Plot([_interval_trace(info, *paint, ink) for paint in paints.items()], layout)


def _get_histogram_plot(info: Sequence[Spread], ink: Palette = LIGHT) -> Plot:
    if not info:
        return empty_plot(ink, NOTHING)
    paints = _paints(spread.method for spread in info)
    bars = [
        _columns(
            spread.method,
            paints[spread.method],
            ink,
            x=spread.tokens,
            y=spread.shares,
            customdata=spread.rounds,
            hovertemplate=f"<b>{_name(spread.method)}</b><br>"
            "%{x} tokens in %{y:.1%} of rounds (%{customdata})<extra></extra>",
        )
        for spread in info
    ]
    title = axis_title(ink, "tokens committed in a round")
    layout = _layout(ink, "share of rounds")
    layout["xaxis"] = axis(ink, title=title, dtick=1, showgrid=False, automargin=True)
    layout["yaxis"]["tickformat"] = ".0%"
    return Plot(bars, layout)


def _get_ends_plot(info: Sequence[EndsOf], ink: Palette = LIGHT) -> Plot:
    if not info:
        return empty_plot(ink, NOTHING)
    paints = _paints(ends.method for ends in info)
    bars = [
        _columns(
            ends.method,
            paints[ends.method],
            ink,
            x=list(range(len(ends.reasons))),
            y=ends.shares,
            customdata=[[SHORT[r], n] for r, n in zip(ends.reasons, ends.rounds, strict=True)],
            hovertemplate=f"<b>{_name(ends.method)}</b><br>"
            "%{customdata[0]}: %{y:.1%} of rounds (%{customdata[1]})<extra></extra>",
        )
        for ends in info
    ]
    names = [SHORT[reason].replace(" ", "<br>", 1) for reason in info[0].reasons]
    places = {"tickvals": list(range(len(names))), "ticktext": names}
    layout = _layout(ink, "share of rounds")
    layout["xaxis"] = axis(ink, **places, showgrid=False, automargin=True)
    layout["yaxis"]["tickformat"] = ".0%"
    return Plot(bars, layout)


def tau_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw macro τ with its 95 % interval per method, for every data set and for all prompts
    together.
    """
    return _get_bars_plot(_get_tau_info(result), ink).figure()


def speed_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw the median paired ratio of tokens per second to autoregressive and to linear decoding;
    below 1 is slower.
    """
    return _get_bars_plot(_get_speed_info(result), ink).figure()


def overhead_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw the share of time spent on scores, search and mask, against the paper's 4 %."""
    return _get_bars_plot(_get_overhead_info(result), ink).figure()


def histogram_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw in which share of its rounds each drafting method committed how many tokens."""
    return _get_histogram_plot(_get_histogram_info(result), ink).figure()


def ends_by_method_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw in which share of its rounds each drafting method lost the text for which reason."""
    return _get_ends_plot(_get_ends_info(result), ink).figure()


CHARTS: tuple[Chart[BenchResult, Any], ...] = (
    Chart(
        name="tau",
        title="Acceptance length τ",
        lead="tokens per round, 95 % interval over prompts",
        label="Acceptance length per method and data set, with 95 % intervals.",
        info=_get_tau_info,
        plot=_get_bars_plot,
    ),
    Chart(
        name="speed",
        title="Speed",
        lead="tokens per second, paired ratios, 95 % interval",
        label="Speed against plain decoding and against linear drafting, with 95 % intervals.",
        info=_get_speed_info,
        plot=_get_bars_plot,
    ),
    Chart(
        name="histogram",
        title="Tokens per round",
        lead="how often a round committed so many",
        label="Histogram of tokens committed per round, by method.",
        info=_get_histogram_info,
        plot=_get_histogram_plot,
    ),
    Chart(
        name="ends",
        title="Where rounds end",
        lead="why the tree did not hold the target’s next token",
        label="Share of rounds by the reason for which they ended, by method.",
        info=_get_ends_info,
        plot=_get_ends_plot,
    ),
    Chart(
        name="overhead",
        title="Overhead",
        lead="scores, search and mask, of the round's time",
        label="Share of the round's time spent on scores, search and mask, by method.",
        info=_get_overhead_info,
        plot=_get_bars_plot,
    ),
)
