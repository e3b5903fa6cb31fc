"""The figures of a benchmark result: τ, speed, overhead and accepted lengths, with their 95 %
intervals.

Names in a file come from anyone: they are shown through ``viz.text``.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, get_args

import plotly.graph_objects as go

from presto.records import Method
from viz.compare import STYLES
from viz.numbers import NAMES
from viz.results import Baseline, BenchResult, Figures, Interval, Methods
from viz.text import isolate, plotly_text, shorten, visible
from viz.theme import LIGHT, Palette, axis, base_layout, empty_figure

LONGEST = 28  # characters of a name in a figure
PAPER_OVERHEAD = 0.04  # PRESTO, arXiv 2607.22634: scores, search and mask take under 4 % of a round
ALL = "all prompts"
NOTHING = "The result file has no figures for this."
HATCHES = {"presto": "", "linear": "/", "blind": ".", "ar": "x"}


def _shown(name: str) -> str:
    return isolate(shorten(visible(name), LONGEST)).replace("␣", " ")


def where_line(result: BenchResult) -> str:
    """Pair, mode, device, precision, processor and the number of prompts per set. Plain text:
    escape it in a page.
    """
    where = result.where
    parts = [
        _shown(part)
        for part in (where.pair, where.mode, where.device, where.dtype, where.processor)
        if part
    ]
    sets = ", ".join(f"{_shown(name)} {count}" for name, count in result.prompts.items())
    return " · ".join([*parts, sets and f"prompts: {sets}"] if sets else parts)


class Bar(NamedTuple):
    """A method's bar in one group: its value and 95 % interval, and a remark for its card."""

    method: Method
    group: int
    value: float
    low: float
    high: float
    remark: str


class BarsInfo(NamedTuple):
    """Grouped bars, methods in the order of ``presto.records.Method``; no bars where nothing was
    measured.
    """

    groups: tuple[str, ...]
    bars: tuple[Bar, ...]


class Spread(NamedTuple):
    """How a method's rounds spread over committed tokens: rounds and their share, by tokens."""

    method: Method
    tokens: tuple[int, ...]
    rounds: tuple[int, ...]
    shares: tuple[float, ...]


def _ordered(methods: Methods) -> Iterable[tuple[Method, Figures]]:
    return ((name, methods[name]) for name in get_args(Method) if name in methods)


def _bar(method: Method, group: int, interval: Interval, remark: str = "") -> Bar:
    return Bar(method, group, interval.value, interval.low, interval.high, remark)


def _get_tau_info(result: BenchResult) -> BarsInfo:
    """A group per data set and one for all prompts (alone where there is only one set)."""
    sets = dict(result.datasets) if len(result.datasets) > 1 else {}
    groups = [*sets.items(), (ALL, result.methods)]
    bars = [
        _bar(method, group, figures.tau_macro, f"{figures.tokens_per_forward:.2f} tokens per pass")
        for group, (_, methods) in enumerate(groups)
        for method, figures in _ordered(methods)
    ]
    return BarsInfo(
        tuple(_shown(name) if i < len(sets) else ALL for i, (name, _) in enumerate(groups)),
        tuple(bars),
    )


def _get_speed_info(result: BenchResult) -> BarsInfo:
    """A group per baseline that was run, without the baseline itself (1 by definition)."""
    groups: list[str] = []
    bars: list[Bar] = []
    for baseline in get_args(Baseline):
        measured = [
            (method, figures, getattr(figures, f"ratio_to_{baseline}"))
            for method, figures in _ordered(result.methods)
        ]
        known = [row for row in measured if row[2] is not None and row[0] != baseline]
        bars += [
            _bar(m, len(groups), ratio, f"{f.tokens_per_second.value:.1f} tokens/s")
            for m, f, ratio in known
        ]
        groups += [f"against {NAMES[baseline]}"] if known else []
    return BarsInfo(tuple(groups), tuple(bars))


def _stage_words(figures: Figures) -> str:
    total = sum(figures.stages.values())
    return (
        " · ".join(f"{name} {part / total:.1%}" for name, part in figures.stages.items())
        if total
        else ""
    )


def _get_overhead_info(result: BenchResult) -> BarsInfo:
    """The share of time beside the model passes; autoregressive decoding has none by definition."""
    drafting = [(method, figures) for method, figures in _ordered(result.methods) if method != "ar"]
    bars = tuple(
        _bar(method, 0, figures.overhead_share, _stage_words(figures))
        for method, figures in drafting
    )
    return BarsInfo(("share of a round’s time",) if bars else (), bars)


def _get_histogram_info(result: BenchResult) -> tuple[Spread, ...]:
    """Per drafting method with any round; autoregressive rounds commit one token each and are left
    out.
    """
    spreads = []
    for method, figures in _ordered(result.methods):
        counts = dict(sorted(figures.histogram.items()))
        total = sum(counts.values())
        if method != "ar" and total:
            shares = tuple(count / total for count in counts.values())
            spreads.append(Spread(method, tuple(counts), tuple(counts.values()), shares))
    return tuple(spreads)


def _columns(method: Method, ink: Palette, **settings: Any) -> go.Bar:
    """A method's bars in its colour and hatching."""
    pattern = {
        "shape": HATCHES[method],
        "fillmode": "overlay",
        "size": 5,
        "fgcolor": ink.paper,
        "solidity": 0.35,
    }
    marker = {"color": getattr(ink, STYLES[method][0]), "pattern": pattern}
    return go.Bar(name=NAMES[method], marker=marker, **settings)


def _interval_trace(
    info: BarsInfo, method: Method, unit: Callable[[float], str], ink: Palette
) -> go.Bar:
    bars = [bar for bar in info.bars if bar.method == method]
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
        ink,
        x=[bar.group for bar in bars],
        y=[bar.value for bar in bars],
        error_y=reach,
        customdata=cards,
        hovertemplate=f"<b>{NAMES[method]}</b> %{{customdata[0]}}<br>"
        "95 %: %{customdata[1]} to %{customdata[2]}<br>%{customdata[3]}<extra></extra>",
    )


def _layout(ink: Palette, title: str) -> dict[str, Any]:
    words = {"text": title, "font": {"size": 11, "color": ink.muted}, "standoff": 4}
    return base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "barmode": "group",
        "bargap": 0.3,
        "bargroupgap": 0.08,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 11},
        },
        "showlegend": True,
        "yaxis": axis(ink, title=words, rangemode="tozero", automargin=True, nticks=6),
    }


def _get_bars_plot(
    info: BarsInfo,
    title: str,
    unit: Callable[[float], str],
    level: float | None = None,
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw the groups; ``level`` is a value to compare with, a thin line across."""
    if not info.bars:
        return empty_figure(ink, NOTHING)
    methods = [
        method for method in get_args(Method) if any(bar.method == method for bar in info.bars)
    ]
    names = [plotly_text(name) for name in info.groups]
    across = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "line": {"color": ink.muted, "width": 1},
    }
    layout = _layout(ink, title) | {
        "xaxis": axis(
            ink, tickvals=list(range(len(names))), ticktext=names, showgrid=False, automargin=True
        ),
        "shapes": [] if level is None else [{**across, "y0": level, "y1": level}],
    }
    return go.Figure([_interval_trace(info, method, unit, ink) for method in methods], layout)


def _get_histogram_plot(info: tuple[Spread, ...], ink: Palette = LIGHT) -> go.Figure:
    if not info:
        return empty_figure(ink, NOTHING)
    bars = [
        _columns(
            spread.method,
            ink,
            x=spread.tokens,
            y=spread.shares,
            customdata=spread.rounds,
            hovertemplate=f"<b>{NAMES[spread.method]}</b><br>"
            "%{x} tokens in %{y:.1%} of rounds (%{customdata})<extra></extra>",
        )
        for spread in info
    ]
    words = {
        "text": "tokens committed in a round",
        "font": {"size": 11, "color": ink.muted},
        "standoff": 4,
    }
    layout = _layout(ink, "share of rounds")
    layout["xaxis"] = axis(ink, title=words, dtick=1, showgrid=False, automargin=True)
    layout["yaxis"]["tickformat"] = ".0%"
    return go.Figure(bars, layout)


def tau_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw macro τ with its 95 % interval per method, for every data set and for all prompts
    together.
    """
    return _get_bars_plot(
        _get_tau_info(result), "macro τ: tokens per round", "{:.3f}".format, ink=ink
    )


def speed_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw the median paired ratio of tokens per second to autoregressive and to linear decoding;
    below 1 is slower.
    """
    return _get_bars_plot(
        _get_speed_info(result), "speed ratio, median over prompts", "{:.2f}×".format, 1.0, ink
    )


def overhead_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw the share of time spent on scores, search and mask, against the paper's 4 %."""
    figure = _get_bars_plot(
        _get_overhead_info(result), "overhead", "{:.2%}".format, PAPER_OVERHEAD, ink
    )
    return figure.update_yaxes(tickformat=".0%")


def histogram_figure(result: BenchResult, ink: Palette = LIGHT) -> go.Figure:
    """Draw in which share of its rounds each drafting method committed how many tokens."""
    return _get_histogram_plot(_get_histogram_info(result), ink)
