"""What other settings would have committed at the states of a run, in one round or on average."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.build import check_installed
from presto.models.tables import table_of
from presto.records import Trace
from presto.runs.counterfactuals import Alternative, counterfactuals, reproduced
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from viz.plot import Chart, Plot, bars, empty_plot
from viz.text import plotly_text
from viz.theme import LIGHT, Palette, axis, axis_title, base_layout

BARS = "%{customdata}: %{x:.4~g} tokens<extra></extra>"
NOT_DRAFTED = "Nothing was drafted here, so no setting could have done otherwise."
THIS_ROUND, ALL_ROUNDS = (
    "tokens this round would commit",
    "tokens per round, at this run’s own states",
)


class Replay(NamedTuple):
    """What other settings would have committed, per round; none, and why, if no replay is exact."""

    rounds: list[tuple[Alternative, ...]]
    problem: str = ""


def replay(trace: Trace) -> Replay:
    """Replay a finished run with other settings."""
    problem = why_not(trace)
    if problem:
        return Replay([], problem)
    return Replay(list(counterfactuals(trace, table_of(trace.system))))


def why_not(trace: Trace) -> str:
    """Why no replay of the run is exact, in a sentence; empty if it is."""
    table, chosen = table_of(trace.system), trace.config
    if chosen.scorer not in SCORERS:
        return f"The scorer {chosen.scorer} is not installed here: no replay."
    if chosen.search not in SEARCHES:
        return f"The search {chosen.search} is not installed here: no replay."
    if table is None:
        return "The n-gram table of this pair is not here: no replay."
    if max(trace.pieces) >= table.vocab:
        return "The run has tokens that its pair does not have: no replay."
    try:
        check_installed(chosen)
    except ValueError as error:
        return f"The run’s settings are not allowed here ({error}): no replay."
    if not reproduced(trace, table):
        return "The run’s trees cannot be rebuilt exactly from its record: no replay."
    return ""


def alternatives_of(trace: Trace) -> list[tuple[Alternative, ...]]:
    """Per round of a finished run what other settings would have committed; empty if no replay is
    exact.
    """
    return replay(trace).rounds


class AlternativesInfo(NamedTuple):
    """A bar per setting: tokens committed, in one round or on average over ``rounds`` of them;
    empty without any.
    """

    title: str  # what the values are
    names: tuple[str, ...]
    values: tuple[float, ...]
    own: tuple[bool, ...]
    rounds: int


def _get_alternatives_info(found: Sequence[Alternative]) -> AlternativesInfo:
    return AlternativesInfo(
        THIS_ROUND,
        tuple(one.name for one in found),
        tuple(float(one.committed) for one in found),
        tuple(one.own for one in found),
        int(bool(found)),
    )


def _get_alternatives_total_info(per_round: Sequence[Sequence[Alternative]]) -> AlternativesInfo:
    drafted = [found for found in per_round if found]
    if not drafted:
        return AlternativesInfo(ALL_ROUNDS, (), (), (), 0)
    sums = [sum(one.committed for one in column) for column in zip(*drafted, strict=True)]
    means = tuple(total / len(drafted) for total in sums)
    first = _get_alternatives_info(drafted[0])
    return first._replace(title=ALL_ROUNDS, values=means, rounds=len(drafted))


def _get_alternatives_sentence(info: AlternativesInfo) -> str:
    """The round's outcome in words: which settings would have committed more, and which less."""
    if not info.names:
        return ""
    own = info.values[info.own.index(True)]
    rows = list(zip(info.names, info.values, strict=True))
    more = [name for name, value in rows if value > own]
    less = [name for name, value in rows if value < own]
    if not more and not less:
        return f"All settings would have committed {own:.0f} here."
    said = {"more": more, "less": less}
    parts = [f"{word} with {', '.join(names)}" for word, names in said.items() if names]
    return f"This run committed {own:.0f}; {'; '.join(parts)}."


def _bars(info: AlternativesInfo, own: bool, ink: Palette) -> dict[str, Any]:
    """The run's own bar, or all others."""
    rows = [i for i, mine in enumerate(info.own) if mine == own]
    said = ", this run’s own" if own else ""
    return bars(
        x=[info.values[i] for i in rows],
        y=rows,
        orientation="h",
        customdata=[plotly_text(info.names[i]) + said for i in rows],
        text=[f"{info.values[i]:.3g}" for i in rows],
        textposition="outside",
        textfont={"size": 11, "color": ink.ink},
        marker={
            "color": ink.accepted if own else ink.grid,
            "line": {"color": ink.muted, "width": 0 if own else 1},
        },
        hovertemplate=BARS,
        cliponaxis=False,
        showlegend=False,
    )


def _get_alternatives_plot(info: AlternativesInfo, ink: Palette = LIGHT) -> Plot:
    if not info.names:
        return empty_plot(ink, NOT_DRAFTED)
    names = [plotly_text(name) for name in info.names]
    marked = [
        f"<b>{name} ◂</b>" if own else name for name, own in zip(names, info.own, strict=True)
    ]
    title = axis_title(ink, info.title)
    rows = {
        "range": [len(names) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": marked,
    }
    layout = base_layout(ink) | {
        "barmode": "overlay",
        "bargap": 0.35,
        "xaxis": axis(
            ink, range=[0, (max(info.values) or 1) * 1.12], automargin=True, nticks=6, title=title
        ),
        "yaxis": axis(ink, automargin=True, showgrid=False, **rows),
    }
    return Plot([_bars(info, False, ink), _bars(info, True, ink)], layout)


def alternatives_figure(
    per_round: Sequence[Sequence[Alternative]],
    round: int = 0,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw how many tokens each setting would have committed in this round; the run's own setting
    is marked.
    """
    return _get_alternatives_plot(_get_alternatives_info(per_round[round]), ink).figure()


def alternatives_total_figure(
    per_round: Sequence[Sequence[Alternative]], ink: Palette = LIGHT
) -> go.Figure:
    """Draw the mean over all rounds of what each setting would have committed at this run's own
    states.

    Not the τ of a run of its own, which goes through other states.
    """
    return _get_alternatives_plot(_get_alternatives_total_info(per_round), ink).figure()


CHART = Chart(
    name="alternatives",
    title="Other scorers",
    lead="what each would have had accepted at this very state, by exact replay",
    label="Tokens this round would have committed with other scorers at the same state.",
    info=_get_alternatives_info,
    plot=_get_alternatives_plot,
    sentence=_get_alternatives_sentence,
)
