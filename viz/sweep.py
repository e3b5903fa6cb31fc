"""Mean tokens per round over λ × budget at a run's states, as a heat map."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import DecodeConfig, Trace, changed
from presto.runs.states import States
from presto.runs.sweep import BUDGETS, LAMS, SweepRow, sweep
from viz.plot import Plot, empty_plot, heatmap, scatter
from viz.theme import LIGHT, Palette, axis, axis_title, base_layout, shades_of

EMPTY = "Nothing was drafted in this run: nothing to sweep."
HOVER = "λ %{y}, budget %{x}: %{z:.2f} tokens per round<extra></extra>"
POINT = "this run’s own λ and budget<extra></extra>"
HEADINGS = ("lambda", "budget", "tokens per round")


class SweepInfo(NamedTuple):
    """The rows known so far, λ ascending, and the run's own point where it is on the map."""

    rows: tuple[SweepRow, ...]
    own: tuple[float, int] | None
    of: int  # rows there will be

    @property
    def best(self) -> tuple[float, int, float]:
        """λ, budget and mean of the highest cell; of equal ones the smallest budget, then λ."""
        cells = [
            (mean, -budget, -row.lam)
            for row in self.rows
            for budget, mean in zip(row.budgets, row.means, strict=True)
        ]
        mean, budget, lam = max(cells)
        return -lam, -budget, mean


def grid_of(config: DecodeConfig) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The λ and budgets to sweep: the usual ones and the run's own."""
    lams = tuple(sorted({*LAMS, round(config.lam, 4)}))
    return lams, tuple(sorted({*BUDGETS, config.budget}))


def _get_sweep_info(rows: Sequence[SweepRow], own: DecodeConfig, same: bool) -> SweepInfo:
    """``same``: whether the run's other settings are those that are swept."""
    return SweepInfo(
        tuple(rows), (round(own.lam, 4), own.budget) if same else None, len(grid_of(own)[0])
    )


def _get_sweep_plot(info: SweepInfo, ink: Palette = LIGHT) -> Plot:
    if not info.rows:
        return empty_plot(ink, EMPTY)
    faint, strong = shades_of(ink)
    budgets = [str(budget) for budget in info.rows[0].budgets]
    lams = [f"{row.lam:g}" for row in info.rows]
    cells = heatmap(
        x=budgets,
        y=lams,
        z=[list(row.means) for row in info.rows],
        colorscale=[[0, faint], [1, strong]],
        showscale=False,
        hovertemplate=HOVER,
        xgap=1,
        ygap=1,
    )
    traces = [cells]
    if info.own is not None and f"{info.own[0]:g}" in lams:
        traces.append(_point(f"{info.own[0]:g}", str(info.own[1]), ink))
    category = {"type": "category", "showgrid": False, "automargin": True}
    layout = base_layout(ink) | {
        "xaxis": axis(ink, **category, title=axis_title(ink, "budget")),
        "yaxis": axis(ink, **category, title=axis_title(ink, "λ"), nticks=11),
        "showlegend": False,
    }
    return Plot(traces, layout)


def _point(lam: str, budget: str, ink: Palette) -> dict[str, Any]:
    rim = {"width": 2, "color": ink.bonus}
    return scatter(
        x=[budget],
        y=[lam],
        mode="markers",
        marker={"symbol": "star-open", "size": 15, "color": ink.bonus, "line": rim},
        hovertemplate=POINT,
    )


def _get_sweep_sentence(info: SweepInfo) -> str:
    if not info.rows:
        return EMPTY
    lam, budget, mean = info.best
    star = "" if info.own is None else " ★ is the run’s own point."
    return f"Most at λ {lam:g} and budget {budget}: {mean:.2f} tokens per round.{star}"


def sweep_table(rows: Sequence[SweepRow]) -> list[list[Any]]:
    """Headings, then λ, budget and mean of every cell, for a file."""
    return [
        [*HEADINGS],
        *(
            [row.lam, budget, round(mean, 4)]
            for row in rows
            for budget, mean in zip(row.budgets, row.means, strict=True)
        ),
    ]


def sweep_figure(
    trace: Trace, changes: Mapping[str, Any] | None = None, ink: Palette = LIGHT
) -> go.Figure:
    """Draw the mean tokens per round over λ × budget at the run's states, under its own settings or
    with these ``changes``.

    ``ValueError`` for a change that a replay cannot follow.
    """
    config, own = changed(trace.config, changes or {}), trace.config
    rows = list(sweep(States(trace, table_of(trace.system)), config, *grid_of(own)))
    return _get_sweep_plot(_get_sweep_info(rows, own, swept_alike(config, own)), ink).figure()


def swept_alike(config: DecodeConfig, own: DecodeConfig) -> bool:
    """Whether a sweep of ``config`` passes through the run's own settings."""
    return changed(config, {"lam": own.lam, "budget": own.budget}) == own
