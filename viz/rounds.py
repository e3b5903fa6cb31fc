"""Tokens per round under other settings, at the states of a run, beside the run's own."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import Trace, changed
from presto.runs.counterfactuals import replayed
from viz.plot import Plot, empty_plot, scatter
from viz.theme import LEGEND, LIGHT, Palette, axis, axis_title, base_layout

OWN, OTHER = "this run", "this setting"
WHAT = "Each round is judged at the run’s own states: this is not a run of its own."
EMPTY = "Nothing was drafted in this run."
HOVER = "round %{x}: %{y} tokens<extra></extra>"


class RoundsInfo(NamedTuple):
    """Tokens committed per round: the run's own, and the other setting's as far as they are known;
    ``None`` where nothing was drafted.
    """

    own: tuple[int | None, ...]
    other: tuple[int | None, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Both counts of every round that is known and drafted."""
        both = zip(self.own, self.other, strict=False)
        return [(own, other) for own, other in both if own is not None and other is not None]


def _get_rounds_info(trace: Trace, other: Sequence[int | None]) -> RoundsInfo:
    own = [len(round_.committed) for round_ in trace.rounds]
    drafted = [*(count is not None for count in other), *([True] * (len(own) - len(other)))]
    return RoundsInfo(
        tuple(count if known else None for count, known in zip(own, drafted, strict=True)),
        tuple(other),
    )


def _line(
    counts: Sequence[int | None], name: str, line: dict[str, Any], opacity: float
) -> dict[str, Any]:
    return scatter(
        x=list(range(1, len(counts) + 1)),
        y=list(counts),
        mode="lines+markers" if len(counts) < 3 else "lines",
        line={"shape": "hvh", **line},
        name=name,
        opacity=opacity,
        hovertemplate=HOVER,
    )


def _get_rounds_plot(info: RoundsInfo, ink: Palette = LIGHT) -> Plot:
    if not any(count is not None for count in info.own):
        return empty_plot(ink, EMPTY)
    lines = [
        _line(info.own, OWN, {"width": 1.5, "dash": "dot", "color": ink.muted}, 1),
        _line(info.other, OTHER, {"width": 2.25, "color": ink.accepted}, 0.9),
    ]
    most = max(count for count in (*info.own, *info.other) if count is not None)
    layout = base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "xaxis": axis(
            ink,
            range=[0.5, max(len(info.own), 2) + 0.5],
            automargin=True,
            nticks=8,
            tickformat="d",
        ),
        "yaxis": axis(
            ink,
            range=[0, most + 1],
            automargin=True,
            nticks=6,
            tickformat="d",
            title=axis_title(ink, "tokens"),
        ),
        "legend": LEGEND,
    }
    return Plot(lines, layout)


def _get_rounds_sentence(info: RoundsInfo) -> str:
    pairs = info.pairs
    if not pairs:
        return EMPTY
    own, other = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    better = sum(theirs > ours for ours, theirs in pairs)
    worse = sum(theirs < ours for ours, theirs in pairs)
    equal = len(pairs) - better - worse
    return (
        f"Mean {other:.2f} tokens per round against {own:.2f}; better in {better}, equal in "
        f"{equal}, worse in {worse} of {len(pairs)} rounds. {WHAT}"
    )


def rounds_figure(
    trace: Trace, changes: Mapping[str, Any] | None = None, ink: Palette = LIGHT
) -> go.Figure:
    """Draw the tokens per round that a setting with these ``changes`` commits at the run's states.

    ``ValueError`` for a change that a replay cannot follow.
    """
    config = changed(trace.config, changes or {})
    found = [one and one.committed for one in replayed(trace, config, table_of(trace.system))]
    return _get_rounds_plot(_get_rounds_info(trace, found), ink).figure()
