"""Cumulative speed-up over linear drafting by round: measured time, and target passes as if all
cost alike.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from presto.records import Round, Trace
from presto.records.measures import (
    acceptance_length,
    committed_counts,
    cumulative_pass_ratio,
    cumulative_speedup,
    elapsed_seconds,
    output_ids,
    speedup,
    total_seconds,
)
from presto.runs.replay import oracle_length
from viz.numbers import NAMES
from viz.theme import LIGHT, Palette, axis, base_layout, note

BY_TIME = "round %{x}: %{y:.2f}× the speed of linear<extra></extra>"
BY_PASSES = "round %{x}: %{y:.2f}× (%{customdata} tokens per pass)<extra></extra>"
BY_AR = "round %{x}: plain decoding at %{y:.2f}× the speed of linear<extra></extra>"
BY_ORACLE = (
    "round %{x}: %{y:.2f}× with an oracle’s choice among the top 8 at every state<extra></extra>"
)
WAITING = "Appears as soon as linear drafting has run on the same prompt."
MEASURED, PASSES, PLAIN = "measured time", "per target pass", "AR"
TOP = 8  # candidates per position that the oracle chooses from
ORACLE = f"oracle@{TOP}"
Ratios = tuple[float | None, ...]


class SpeedupInfo(NamedTuple):
    """Per round (counted from 1): ratios to linear drafting at as many tokens, ``None`` where it is
    not that far.
    """

    rounds: tuple[int, ...]
    seconds: Ratios
    passes: Ratios
    tokens_per_pass: tuple[float, ...]
    ar: Ratios  # the speed of plain decoding by measured time
    oracle: Ratios  # as ``passes``, with the tokens of ``oracle_committed``


def _oracle(trace: Trace, round_: Round, text: Sequence[int]) -> int:
    """Tokens an oracle commits at this state of a run whose output is ``text``, never more than are
    left of it.
    """
    place, exact = round_.start - len(trace.prompt_ids), round_.exact is not None
    behind = place + exact  # the marginals' first position follows the exact token, if there is one
    continuation = text[behind : behind + len(round_.marginals.token_ids)]
    return min(exact + oracle_length(round_.marginals, continuation, TOP), len(text) - place)


def oracle_committed(trace: Trace) -> list[int]:
    """Per round: what the best path through each position's top 8 would have committed there
    (oracle@8).

    It is computed at this run's own states: after its longer steps the oracle does not move on
    along its own text, it is put back to where the run went. Later tokens of the run tell what the
    target wanted, so the last rounds are cut at what has been emitted so far. It bounds what any
    tree over the top 8 could commit at these states; a tree that uses lower ranks can commit more.
    """
    text = output_ids(trace)
    return [_oracle(trace, round_, text) for round_ in trace.rounds]


def _oracle_ratios(trace: Trace, passes: Sequence[float | None]) -> Ratios:
    """``passes`` with the oracle's tokens per round in place of the run's own; nothing without
    recorded marginals.
    """
    if not any(round_.marginals.token_ids for round_ in trace.rounds):
        return (None,) * len(passes)
    totals = accumulate(oracle_committed(trace))
    gains = (total / count for total, count in zip(totals, committed_counts(trace), strict=True))
    return tuple(ratio and ratio * gain for ratio, gain in zip(passes, gains, strict=True))


def _seconds_at(counts: Sequence[int], run: Trace) -> Ratios:
    """When ``run`` had committed that many tokens; its clock runs evenly inside its rounds."""
    tokens, times = [0, *committed_counts(run)], [0.0, *elapsed_seconds(run)]
    return tuple(
        float(np.interp(count, tokens, times)) if count <= tokens[-1] else None for count in counts
    )


def _ar_ratios(counts: Sequence[int], linear: Trace, ar: Trace | None) -> Ratios:
    if ar is None:
        return (None,) * len(counts)
    both = zip(_seconds_at(counts, linear), _seconds_at(counts, ar), strict=True)
    return tuple(theirs / own if theirs is not None and own else None for theirs, own in both)


def _get_speedup_info(trace: Trace, linear: Trace | None, ar: Trace | None = None) -> SpeedupInfo:
    counts = committed_counts(trace)
    rounds = tuple(range(1, len(counts) + 1))
    rates = tuple(count / number for count, number in zip(counts, rounds, strict=True))
    if linear is None or not linear.rounds:
        unknown: Ratios = (None,) * len(rounds)
        return SpeedupInfo(rounds, unknown, unknown, rates, unknown, unknown)
    passes = cumulative_pass_ratio(trace, linear)
    return SpeedupInfo(
        rounds=rounds,
        seconds=tuple(cumulative_speedup(trace, linear)),
        passes=tuple(passes),
        tokens_per_pass=rates,
        ar=_ar_ratios(counts, linear, ar),
        oracle=_oracle_ratios(trace, passes),
    )


def _line(
    info: SpeedupInfo, values: Ratios, name: str, line: dict[str, object], hover: str
) -> go.Scatter:
    return go.Scatter(
        x=info.rounds,
        y=values,
        customdata=[f"{rate:.2f}" for rate in info.tokens_per_pass],
        mode="lines+markers" if len(info.rounds) < 3 else "lines",
        line=line,
        name=name,
        hovertemplate=hover,
    )


def _lines(info: SpeedupInfo, ink: Palette) -> list[go.Scatter]:
    """The two ratios of the run itself, then the lanes beside it that are known, for comparison."""
    thick = {"width": 2.5}
    own = [
        _line(info, info.passes, PASSES, {**thick, "color": ink.bonus, "dash": "dash"}, BY_PASSES),
        _line(
            info, info.seconds, MEASURED, {**thick, "color": ink.accepted, "dash": "solid"}, BY_TIME
        ),
    ]
    beside = [
        (info.ar, PLAIN, {"width": 1.25, "color": ink.muted, "dash": "dot"}, BY_AR),
        (info.oracle, ORACLE, {"width": 1.25, "color": ink.exact, "dash": "dashdot"}, BY_ORACLE),
    ]
    return own + [
        _line(info, *lane) for lane in beside if any(value is not None for value in lane[0])
    ]


def _get_speedup_plot(
    info: SpeedupInfo, round_: int | None = None, ink: Palette = LIGHT
) -> go.Figure:
    known = [
        value
        for lane in (info.seconds, info.passes, info.ar, info.oracle)
        for value in lane
        if value is not None
    ]
    thin = {"color": ink.muted, "width": 1}
    level = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": thin}
    here = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {**thin, "dash": "dot"}}
    shown = -1 if round_ is None else round_ + 1
    layout = base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "shapes": [level, {**here, "x0": shown, "x1": shown, "visible": round_ is not None}],
        "xaxis": axis(
            ink,
            range=[0.5, max(len(info.rounds), 2) + 0.5],
            automargin=True,
            nticks=8,
            tickformat="d",
        ),
        "yaxis": axis(
            ink, range=[0, max([1.5, *known]) * 1.08], ticksuffix="×", automargin=True, nticks=6
        ),
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 10.5},
        },
        "annotations": [note(ink, WAITING) | {"y": 0.2}] * (not known),
    }
    return go.Figure(_lines(info, ink), layout)


def speedup_figure(
    trace: Trace,
    linear: Trace | None,
    round: int | None = None,  # noqa: A002
    ink: Palette = LIGHT,
    ar: Trace | None = None,
) -> go.Figure:
    """Draw how ``trace`` gains on ``linear`` round by round; below 1× it loses. ``round`` marks one
    of them.

    Beside it: plain decoding, if ``ar`` has run, and the oracle@8 on this run's marginals (see
    ``oracle_committed``).
    """
    return _get_speedup_plot(_get_speedup_info(trace, linear, ar), round, ink)


def _mean_round(trace: Trace) -> float:
    return total_seconds(trace) / len(trace.rounds)


def _because(trace: Trace, linear: Trace) -> str:
    """Why a run is slower than linear drafting: tokens and seconds per round against each other."""
    tokens, theirs = (
        round(acceptance_length(run), 1) for run in (trace, linear)
    )  # compared as they are shown
    longer = _mean_round(trace) / _mean_round(linear)
    more = "more" if tokens > theirs else "no more"
    joint = "but" if tokens > theirs else "and" if longer >= 1 else "though"
    subject = "the tree" if trace.method in ("presto", "blind") else NAMES[trace.method]
    verb = "accepts" if trace.method != "ar" else "commits"
    return (
        f"{subject} {verb} {more} ({tokens} against {theirs} tokens a round) {joint} its rounds "
        "take "
        f"{longer:.1f} times as long"
    )


def speed_sentence(trace: Trace, linear: Trace | None) -> str:
    """How the run compares with linear drafting by measured time, in words; below 1× with the
    reason.
    """
    ratio = speedup(trace, linear) if linear else None
    if linear is None or ratio is None:
        return "Not compared: linear drafting has not run on this prompt."
    if f"{ratio:.2f}" == "1.00":
        return "1.00×: as fast as linear drafting on this prompt."
    if ratio > 1:
        return f"{ratio:.2f}× the speed of linear drafting on this prompt."
    return f"{ratio:.2f}×: {_because(trace, linear)}."
