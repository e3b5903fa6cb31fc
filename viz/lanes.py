"""Lanes: runs of one prompt and seed, their names and styles, and all of them on one clock."""

from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import DecodeConfig, Method, Trace, check_lanes
from presto.records.measures import Clock
from presto.runs.variants import TITLES
from presto.scorers import SCORERS
from viz.plot import Plot, empty_plot, scatter
from viz.text import plotly_text
from viz.theme import LIGHT, Palette, axis, axis_title, base_layout

# Colour (a field of Palette) and dash of a method's lane, the same in every figure; then those of
# its further lanes.
STYLES: dict[Method, tuple[str, str]] = {
    "presto": ("accepted", "solid"),
    "presto+": ("ink", "longdashdot"),
    "linear": ("bonus", "dash"),
    "blind": ("exact", "dot"),
    "ar": ("muted", "dashdot"),
}
SPARE = (("rejected", "longdash"), ("beyond", "5px,2px"))
STEPS = "%{fullData.name}<br>%{y} tokens after %{x:.3f} s<extra></extra>"
NOT_RUN = "No lane has run yet."


class LaneCurve(NamedTuple):
    """A run on the clock."""

    name: str
    colour: str  # a field of Palette
    dash: str
    clock: Clock
    flag: str  # what stands at its end


class LanesInfo(NamedTuple):
    """The lanes that have begun; ``now``: when the first lane finished the marked round, ``None``
    if none is marked.
    """

    lanes: tuple[LaneCurve, ...]
    now: float | None


def scorer_words(config: DecodeConfig) -> str:
    """The scorer and what distinguishes it, in a few words."""
    scorer = SCORERS.get(config.scorer)
    lam = f" λ {config.lam:g}" if scorer is None or scorer.uses_lam else ""
    normalised = config.normalised and (scorer is None or scorer.corrects)
    return f"{config.scorer}{lam}{', normalised' if normalised else ''}"


def lane_names(runs: Sequence[tuple[Method, DecodeConfig]]) -> list[str]:
    """A name per lane: the method, with the scorer where a method has several lanes, numbered if
    still alike.
    """
    several = Counter(method for method, _ in runs)
    seen = Counter[str]()
    result = []
    for method, config in runs:
        name = TITLES[method] + (f" ({scorer_words(config)})" if several[method] > 1 else "")
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return result


def lane_styles(methods: Sequence[Method]) -> list[tuple[str, str]]:
    """Colour (a field of Palette) and dash of each lane; all differ, up to seven."""
    spare, free = cycle(SPARE), dict(STYLES)
    return [free.pop(method) if method in free else next(spare) for method in methods]


def end_flag(name: str, run: Trace | None, seconds: float) -> str:
    """What stands at a lane's end: its name, and when it is over, its time. ``run``: if it is."""
    stopped = ", stopped" if run and run.finish == "stopped" else ""
    return f"{name} {seconds:.2f} s{stopped}" if run else name


def _get_lanes_info(traces: Sequence[Trace], round_: int | None = None) -> LanesInfo:
    check_lanes(traces)
    names = lane_names([(trace.method, trace.config) for trace in traces])
    styles = lane_styles([trace.method for trace in traces])
    curves = []
    for trace, name, style in zip(traces, names, styles, strict=True):
        clock = Clock.of(trace)
        if trace.rounds:
            curves.append(LaneCurve(name, *style, clock, end_flag(name, trace, clock.seconds[-1])))
    now = None if round_ is None else Clock.of(traces[0]).seconds[1:][round_]
    return LanesInfo(tuple(curves), now)


def _flag(lane: LaneCurve, place: int, ink: Palette) -> dict[str, Any]:
    """The label of a lane's end. Flags stand at different heights, as all lanes end at about the
    same tokens.
    """
    tint = getattr(ink, lane.colour)
    return {
        "text": plotly_text(lane.flag),
        "x": lane.clock.seconds[-1],
        "y": lane.clock.tokens[-1],
        "ax": 0,
        "ay": -12 - 16 * place,
        "xanchor": "auto",
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": tint,
        "font": {"size": 11, "color": tint},
    }


def _curve(lane: LaneCurve, ink: Palette) -> dict[str, Any]:
    line = {"color": getattr(ink, lane.colour), "width": 2.5, "dash": lane.dash, "shape": "hv"}
    return scatter(
        x=lane.clock.seconds,
        y=lane.clock.tokens,
        mode="lines",
        line=line,
        name=lane.name,
        hovertemplate=STEPS,
        showlegend=False,
    )


def _get_lanes_plot(info: LanesInfo, ink: Palette = LIGHT) -> Plot:
    """Trace and annotation ``i`` belong to lane ``i``; the axes fit themselves to both."""
    if not info.lanes:
        return empty_plot(ink, NOT_RUN)
    latest = sorted((lane.clock.seconds[-1] for lane in info.lanes), reverse=True)
    places = [latest.index(lane.clock.seconds[-1]) for lane in info.lanes]
    marked = {
        "type": "line",
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": ink.muted, "width": 1, "dash": "dot"},
    }
    title = axis_title(ink, "tokens")
    fitted = {"rangemode": "tozero", "automargin": True}
    layout = base_layout(ink) | {
        "xaxis": axis(ink, ticksuffix=" s", nticks=7, **fitted),
        "yaxis": axis(ink, nticks=6, tickformat="d", title=title, **fitted),
        "annotations": [
            _flag(lane, place, ink) for lane, place in zip(info.lanes, places, strict=True)
        ],
        "shapes": [] if info.now is None else [{**marked, "x0": info.now, "x1": info.now}],
    }
    return Plot([_curve(lane, ink) for lane in info.lanes], layout)


def lanes_figure(
    traces: Sequence[Trace],
    round: int | None = None,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw tokens committed over seconds for several runs of one prompt and seed, prefill left out.

    ``round`` marks the moment at which the first lane finished it. ``ValueError`` for runs that
    cannot be compared.
    """
    return _get_lanes_plot(_get_lanes_info(traces, round), ink).figure()
