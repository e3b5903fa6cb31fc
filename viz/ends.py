"""Where the rounds of a run end, and what to mend: why trees did not hold the target's token."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import DecodeConfig, Trace
from presto.runs.ends import ROUND_ENDS, RoundEnd, round_ends
from presto.runs.states import States
from viz.plot import Chart, Plot, Rows, bars, empty_plot
from viz.theme import LIGHT, Palette, axis, axis_title, base_layout

EMPTY = "Nothing was drafted in this run."
SHORT: dict[RoundEnd, str] = {
    "top_k": "not in the top-K",
    "unopened": "path not opened",
    "outranked": "outranked",
    "budget": "cut by the budget",
    "depth": "whole draft accepted",
    "ended": "the run ended",
}
# Of the target's token at the place where the tree lost the text.
MEANING: dict[RoundEnd, str] = {
    "top_k": "it is not among the candidates of its position",
    "unopened": "a candidate, but the search opens no path to it, whatever the budget",
    "outranked": "a candidate behind more nodes than a tree of twice the budget holds",
    "budget": "a tree of twice the budget would have held it",
    "depth": "it follows the last drafted position",
    "ended": "the text ends before it",
}
MEND: dict[RoundEnd, str] = {
    "top_k": "the drafter (or the top-K)",
    "unopened": "the search (a wider beam, or a tree in place of one path)",
    "outranked": "the score",
    "budget": "the budget",
    "depth": "the draft length",
    "ended": "–",
}
HOVER = "<b>%{customdata[0]}</b>: %{x} rounds<br>%{customdata[1]}<extra></extra>"


class EndedRun(NamedTuple):
    """A run that is over: its settings, and why each of its rounds ended."""

    config: DecodeConfig
    ends: Sequence[RoundEnd | None]


class EndsInfo(NamedTuple):
    """Rounds by why they ended, in the order of ``ROUND_ENDS``, and how many there are together."""

    counts: dict[RoundEnd, int]
    rounds: int
    top_k: int


def ended_run(trace: Trace) -> EndedRun:
    """Why the rounds of ``trace`` ended; the n-gram table of its pair must be here."""
    states = States(trace, table_of(trace.system))
    return EndedRun(trace.config, list(round_ends(states, trace.config)))


def _get_ends_info(run: EndedRun) -> EndsInfo:
    found = Counter(end for end in run.ends if end)
    counts = {end: found[end] for end in ROUND_ENDS if found[end]}
    return EndsInfo(counts, found.total(), run.config.top_k)


def _percent(count: int, rounds: int) -> str:
    return f"{count / rounds:.0%}".replace("%", " %")


def _get_ends_plot(info: EndsInfo, ink: Palette = LIGHT) -> Plot:
    if not info.rounds:
        return empty_plot(ink, EMPTY)
    names = list(info.counts)
    bar = bars(
        x=list(info.counts.values()),
        y=list(range(len(names))),
        orientation="h",
        customdata=[[SHORT[name], MEANING[name]] for name in names],
        text=[f"{count} · {_percent(count, info.rounds)}" for count in info.counts.values()],
        textposition="outside",
        textfont={"size": 11, "color": ink.ink},
        marker={"color": [ink.muted if name == "ended" else ink.accepted for name in names]},
        hovertemplate=HOVER,
        cliponaxis=False,
        showlegend=False,
    )
    rows = {
        "range": [len(names) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": [SHORT[name] for name in names],
    }
    most = 1.3 * max(info.counts.values())
    across = axis(ink, range=[0, most], automargin=True, nticks=6, tickformat="d")
    layout = base_layout(ink) | {
        "bargap": 0.35,
        "xaxis": across | {"title": axis_title(ink, "rounds")},
        "yaxis": axis(ink, automargin=True, showgrid=False, **rows),
    }
    return Plot([bar], layout)


def _get_ends_sentence(info: EndsInfo) -> str:
    """A rule of thumb: the most frequent reason names what to mend first."""
    mendable = {end: count for end, count in info.counts.items() if end != "ended"}
    if not mendable:
        return EMPTY
    end, count = max(mendable.items(), key=lambda pair: pair[1])
    where = {
        "top_k": f"where the target’s token is not among the drafter’s top {info.top_k}",
        "unopened": "where the search opened no path to the target’s token",
        "outranked": "where the score puts too many other nodes before the target’s token",
        "budget": "where a tree of twice the budget would have held the target’s token",
        "depth": "with the whole draft accepted",
    }[end]
    share = _percent(count, info.rounds)
    return f"{count} of {info.rounds} rounds ({share}) end {where}. To mend first: {MEND[end]}."


def _get_ends_rows(info: EndsInfo) -> Rows:
    if not info.rounds:
        return ()
    head = ("a round ends", "meaning", "rounds", "share", "what to mend")
    cells = [
        (SHORT[end], MEANING[end], str(count), _percent(count, info.rounds), MEND[end])
        for end, count in info.counts.items()
    ]
    return head, *cells


def ends_figure(trace: Trace, ink: Palette = LIGHT) -> go.Figure:
    """Draw in how many rounds of the run the tree lost the text for which reason."""
    return _get_ends_plot(_get_ends_info(ended_run(trace)), ink).figure()


def ends_sentence(trace: Trace) -> str:
    """Where most rounds of the run end, and what to mend first, in words."""
    return _get_ends_sentence(_get_ends_info(ended_run(trace)))


CHART: Chart[EndedRun, Any] = Chart(
    name="ends",
    title="Where rounds end",
    lead="why the trees of this run did not hold the target’s next token",
    label="Rounds of the run by the reason for which they ended.",
    info=_get_ends_info,
    plot=_get_ends_plot,
    sentence=_get_ends_sentence,
    rows=_get_ends_rows,
)
