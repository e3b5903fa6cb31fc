"""Lanes side by side: runs of one prompt and seed on one clock, their figures, and where they
part.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import DecodeConfig, Trace
from presto.records.measures import (
    acceptance_length,
    committed_counts,
    elapsed_seconds,
    output_ids,
    speedup,
    tokens_per_second,
    total_seconds,
)
from viz.numbers import NAMES
from viz.text import plotly_text
from viz.theme import LIGHT, Palette, axis, base_layout, empty_figure

# Colour (a field of Palette) and dash of a method's lane, the same in every figure; then those of
# its further lanes.
STYLES = {
    "presto": ("accepted", "solid"),
    "linear": ("bonus", "dash"),
    "blind": ("exact", "dot"),
    "ar": ("muted", "dashdot"),
}
SPARE = (("rejected", "longdash"), ("ink", "longdashdot"), ("beyond", "5px,2px"))
STEPS = "%{fullData.name}<br>%{y} tokens after %{x:.3f} s<extra></extra>"
NOT_RUN = "No lane has run yet."


class Lane(NamedTuple):
    """A run on the clock: ``tokens[i]`` were committed ``seconds[i]`` after its first round began,
    from (0, 0) on.
    """

    name: str
    colour: str  # a field of Palette
    dash: str
    seconds: tuple[float, ...]
    tokens: tuple[int, ...]
    end: str


class LanesInfo(NamedTuple):
    """The lanes that have run; ``now``: when the first lane finished the marked round, ``None`` if
    none is marked.
    """

    lanes: tuple[Lane, ...]
    now: float | None


class LaneRow(NamedTuple):
    """One lane of the table. ``ratio``: tokens per second against the first lane, ``None`` where
    one has none.

    ``same``: whether the text is the autoregressive lane's as far as both go, ``None`` without such
    a lane. Where it is not, ``differs_at`` is the first output token that differs (from 0) and
    ``margin`` the gap between the target's two best logits there: near 0 it is a tie that rounding
    decided. ``text`` says this in words.
    """

    method: str
    scorer: str
    tau: float
    tokens_per_second: float
    ratio: float | None
    same: bool | None
    differs_at: int | None
    margin: float | None
    text: str


def scorer_words(config: DecodeConfig) -> str:
    """The scorer and what distinguishes it, in a few words."""
    lam = "" if config.scorer in ("blind", "dart") else f" λ {config.lam:g}"
    normalised = config.normalised and config.scorer != "blind"
    return f"{config.scorer}{lam}{', normalised' if normalised else ''}"


def lane_names(traces: Sequence[Trace]) -> list[str]:
    """A name per lane: the method, with the scorer where a method has several lanes, numbered if
    still alike.
    """
    several = Counter(trace.method for trace in traces)
    seen = Counter[str]()
    result = []
    for trace in traces:
        name = NAMES[trace.method] + (
            f" ({scorer_words(trace.config)})" if several[trace.method] > 1 else ""
        )
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return result


def _styles(traces: Sequence[Trace]) -> list[tuple[str, str]]:
    spare, free = cycle(SPARE), dict(STYLES)
    return [free.pop(trace.method) if trace.method in free else next(spare) for trace in traces]


def check_lanes(traces: Sequence[Trace]) -> None:
    """``ValueError`` unless all lanes continue one prompt with the same sampling: else their texts
    need not agree.
    """
    for trace in traces[1:]:
        if trace.prompt_ids != traces[0].prompt_ids:
            raise ValueError("lanes can be compared on one prompt only; these have several")
        if _sampling(trace.config) != _sampling(traces[0].config):
            raise ValueError(
                "lanes can be compared with one seed and temperature only; these have several"
            )


def _sampling(config: DecodeConfig) -> tuple[float, ...]:
    greedy = config.temperature == 0
    return () if greedy else (config.temperature, config.top_p, config.sample_top_k, config.seed)


def _get_lanes_info(traces: Sequence[Trace], round_: int | None = None) -> LanesInfo:
    check_lanes(traces)
    lanes = []
    for trace, name, (colour, dash) in zip(
        traces, lane_names(traces), _styles(traces), strict=True
    ):
        if trace.rounds:
            stopped = ", stopped" if trace.finish == "stopped" else ""
            end = f"{name} {total_seconds(trace):.2f} s{stopped}"
            seconds, tokens = (0.0, *elapsed_seconds(trace)), (0, *committed_counts(trace))
            lanes.append(Lane(name, colour, dash, seconds, tokens, end))
    return LanesInfo(tuple(lanes), None if round_ is None else elapsed_seconds(traces[0])[round_])


def _flag(lane: Lane, place: int, latest: float, ink: Palette) -> dict[str, Any]:
    """The label of a lane's end. Flags stand at different heights, as all lanes end at about the
    same tokens.
    """
    late = lane.seconds[-1] > latest / 2
    return {
        "text": plotly_text(lane.end),
        "x": lane.seconds[-1],
        "y": lane.tokens[-1],
        "ax": 0,
        "ay": -12 - 16 * place,
        "xanchor": "right" if late else "left",
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": getattr(ink, lane.colour),
        "font": {"size": 11, "color": getattr(ink, lane.colour)},
    }


def _get_lanes_plot(info: LanesInfo, ink: Palette = LIGHT) -> go.Figure:
    if not info.lanes:
        return empty_figure(ink, NOT_RUN)
    lines = [
        go.Scatter(
            x=lane.seconds,
            y=lane.tokens,
            mode="lines",
            line={
                "color": getattr(ink, lane.colour),
                "width": 2.5,
                "dash": lane.dash,
                "shape": "hv",
            },
            name=lane.name,
            hovertemplate=STEPS,
            showlegend=False,
        )
        for lane in info.lanes
    ]
    latest, most = (
        max(lane.seconds[-1] for lane in info.lanes),
        max(lane.tokens[-1] for lane in info.lanes),
    )
    order = sorted(info.lanes, key=lambda lane: lane.seconds[-1], reverse=True)
    here = {
        "type": "line",
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": ink.muted, "width": 1, "dash": "dot"},
    }
    layout = base_layout(ink) | {
        "xaxis": axis(
            ink, range=[0, (latest or 1) * 1.03], automargin=True, ticksuffix=" s", nticks=7
        ),
        "yaxis": axis(
            ink,
            range=[0, most * (1.12 + 0.09 * len(order))],
            automargin=True,
            nticks=6,
            tickformat="d",
        ),
        "annotations": [_flag(lane, place, latest, ink) for place, lane in enumerate(order)],
        "shapes": [] if info.now is None else [{**here, "x0": info.now, "x1": info.now}],
    }
    layout["yaxis"]["title"] = {
        "text": "tokens",
        "font": {"size": 11, "color": ink.muted},
        "standoff": 4,
    }
    return go.Figure(lines, layout)


def lanes_figure(
    traces: Sequence[Trace],
    round: int | None = None,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw tokens committed over seconds for several runs of one prompt and seed, prefill left out.

    ``round`` marks the moment at which the first lane finished it. ``ValueError`` for runs that
    cannot be compared.
    """
    return _get_lanes_plot(_get_lanes_info(traces, round), ink)


def lane_table(traces: Sequence[Trace]) -> list[LaneRow]:
    """One row per lane, in the order given. ``ValueError`` for runs that cannot be compared."""
    check_lanes(traces)
    reference = next((trace for trace in traces if trace.method == "ar" and trace.rounds), None)
    return [_row(trace, traces[0], reference) for trace in traces]


def _row(trace: Trace, first: Trace, reference: Trace | None) -> LaneRow:
    scorer = "" if trace.method == "ar" else scorer_words(trace.config)
    figures = (acceptance_length(trace), tokens_per_second(trace), speedup(trace, first))
    same, place, margin, words = None, None, None, ""
    if trace is reference:
        same, words = True, "the reference"
    elif reference is not None and trace.rounds:
        same, place, margin, words = _text_check(trace, reference)
    return LaneRow(NAMES[trace.method], scorer, *figures, same, place, margin, words)


def _text_check(trace: Trace, reference: Trace) -> tuple[bool, int | None, float | None, str]:
    ours, theirs = output_ids(trace), output_ids(reference)
    common = min(len(ours), len(theirs))
    place = next((i for i in range(common) if ours[i] != theirs[i]), None)
    if place is None:
        short = trace if len(ours) < len(theirs) else reference
        if len(ours) == len(theirs):
            return True, None, None, "identical to the autoregressive text"
        if short.finish in ("stopped", "length"):
            return True, None, None, f"identical as far as both go ({common} tokens)"
        place = common
    # An autoregressive round decides one token: its margin is that of this very position.
    lane = reference if place < len(theirs) else trace
    (index,) = aligned_rounds([lane], place)
    assert index is not None
    margin = lane.rounds[index].margin
    words = (
        f"differs from token {place + 1} on; the target’s two best logits are {margin:.2g} apart "
        "there"
    )
    return False, place, margin, words


def aligned_rounds(traces: Sequence[Trace], position: int) -> list[int | None]:
    """For each lane the index of the round that emitted output token ``position`` (from 0),
    ``None`` if none did.
    """
    result: list[int | None] = []
    for trace in traces:
        index = bisect_right(committed_counts(trace), position)
        result.append(index if position >= 0 and index < len(trace.rounds) else None)
    return result


def next_difference(traces: Sequence[Trace], position: int) -> int | None:
    """The next output token after ``position`` with which a round begins in one drafting lane but
    not in another.

    Counted from 0, as far as all drafting lanes go; ``None`` if there is none. Autoregressive lanes
    begin a round at every token and are left out.
    """
    counts = [committed_counts(trace) for trace in traces if trace.method != "ar" and trace.rounds]
    if len(counts) < 2:
        return None
    starts, shortest = [set(lane[:-1]) for lane in counts], min(lane[-1] for lane in counts)
    differing = starts[0].union(*starts) - starts[0].intersection(*starts)
    return min((start for start in differing if position < start < shortest), default=None)
