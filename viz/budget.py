"""Why a run has its budget and draft length: tokens per second over budget, as they were expected
when both were chosen for the device.
"""

from math import log10
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Trace
from presto.records.measures import totals
from presto.records.tuning import Tuning
from presto.runs.budget import (
    Shape,
    curve_name,
    curves_of,
    draft_milliseconds,
    nodes_of,
    pass_milliseconds,
    speeds,
)
from presto.runs.variants import PLAIN
from presto.searches import SEARCHES
from viz.plot import Chart, Plot, Rows, empty_plot, scatter
from viz.theme import LEGEND, LIGHT, Palette, axis, axis_title, base_layout
from viz.view import RunView

NO_CURVE = "No curve: nothing was chosen for this run."
HEADROOM = 1.25  # for the label of the chosen point
EDGE = 0.06  # beside the first and the last budget, in powers of ten
HOVER = "%{y:.1f} tokens/s with a budget of %{x}, %{fullData.name}<extra></extra>"


class SpeedCurve(NamedTuple):
    """Expected tokens per second of one draft length, by budget."""

    length: int
    budgets: tuple[int, ...]
    speeds: tuple[float, ...]


class ExpectedRound(NamedTuple):
    """What a round of the chosen shape is expected to cost, in milliseconds, and to commit."""

    rows: int  # that the target's pass verifies
    verify: float
    least: tuple[int, float]  # rows and milliseconds of the smallest pass that was measured
    draft: float
    tau: float
    smallest: tuple[int, float]  # the smallest budget of the curve, and τ there
    speed: float  # tokens per second


class BudgetInfo(NamedTuple):
    """The curves, that of the chosen draft length last; none where ``reason`` says why."""

    curves: tuple[SpeedCurve, ...]
    own: Shape
    expected: ExpectedRound | None  # None where the run's own shape is on no curve
    measured: float  # the run's own tokens per second, 0 before its first round
    reason: str = ""


def _reason(head: Trace) -> str:
    """Why nothing was chosen for a run."""
    if head.method == PLAIN:
        return "Plain decoding drafts nothing, so there is no budget to choose."
    config, curves = head.config, curves_of(head.system)
    given = f"budget of {config.budget} and draft length of {config.draft_length}"
    if curves is None or curve_name(config) not in curves.tau:
        return (
            f"The {given} are those of the settings: what larger trees gain was not measured for "
            "this pair."
        )
    return f"The {given} were given. A run with “Auto budget” shows the curve it is chosen by."


def _curves(found: dict[Shape, float], own: Shape) -> tuple[SpeedCurve, ...]:
    lengths = sorted({shape.draft_length for shape in found}, key=lambda n: (n == own[1], n))
    made = []
    for length in lengths:
        points = sorted((s.budget, v) for s, v in found.items() if s.draft_length == length)
        budgets, values = zip(*points, strict=True)
        made.append(SpeedCurve(length, budgets, values))
    return tuple(made)


def _expected(tuning: Tuning, own: Shape, speed: float, single_path: bool) -> ExpectedRound:
    costs, curve = tuning.costs, tuning.acceptance
    nodes, tau = nodes_of(own, single_path), curve.tau[curve.lengths.index(own.draft_length)]
    return ExpectedRound(
        rows=1 + nodes,
        verify=pass_milliseconds(costs, nodes),
        least=(costs.rows[0], costs.verify[0]),
        draft=draft_milliseconds(costs, own.draft_length),
        tau=tau[curve.budgets.index(own.budget)],
        smallest=(curve.budgets[0], tau[0]),
        speed=speed,
    )


def _get_budget_info(run: RunView) -> BudgetInfo:
    head, measured = run.head, run.totals.tokens_per_second
    own = Shape(head.config.budget, head.config.draft_length)
    if head.tuning is None:
        return BudgetInfo((), own, None, measured, _reason(head))
    search = SEARCHES.get(head.config.search)
    single = search is not None and search.single_path
    # The costs go as far as the drafter does.
    found = speeds(head.tuning, single, head.tuning.costs.lengths[-1])
    if not found:
        reason = "None of the budgets lies between measured costs."
        return BudgetInfo((), own, None, measured, reason)
    expected = _expected(head.tuning, own, found[own], single) if own in found else None
    return BudgetInfo(_curves(found, own), own, expected, measured)


def _line(curve: SpeedCurve, chosen: bool, ink: Palette) -> dict[str, Any]:
    return scatter(
        x=list(curve.budgets),
        y=[round(speed, 2) for speed in curve.speeds],
        mode="lines+markers" if chosen or len(curve.budgets) < 2 else "lines",
        line={"color": ink.accepted if chosen else ink.muted, "width": 2.5 if chosen else 1},
        marker={"color": ink.accepted if chosen else ink.muted, "size": 5},
        opacity=1 if chosen else 0.55,
        name=f"{curve.length} drafted",
        showlegend=chosen,
        hovertemplate=HOVER,
    )


def _marks(info: BudgetInfo, ink: Palette) -> list[dict[str, Any]]:
    """The chosen point, and what the run itself measures."""
    budgets = [budget for curve in info.curves for budget in curve.budgets]
    level = scatter(
        x=[min(budgets), max(budgets)],
        y=[round(info.measured, 2)] * 2,
        mode="lines",
        line={"color": ink.exact, "width": 1.5, "dash": "dot"},
        name="measured",
        hovertemplate="%{y:.1f} tokens/s, measured in this run<extra></extra>",
    )
    measured = [level] if info.measured > 0 else []
    if info.expected is None:
        return measured
    chosen = scatter(
        x=[info.own.budget],
        y=[round(info.expected.speed, 2)],
        mode="markers+text",
        marker={
            "symbol": "diamond-open",
            "size": 13,
            "color": ink.bonus,
            "line": {"width": 2.5, "color": ink.bonus},
        },
        text=[f"{info.own.budget} nodes"],
        textposition="top center",
        textfont={"size": 11, "color": ink.bonus},
        name="chosen",
        hovertemplate=HOVER,
        cliponaxis=False,
    )
    return [*measured, chosen]


def _get_budget_plot(info: BudgetInfo, ink: Palette = LIGHT) -> Plot:
    if not info.curves:
        return empty_plot(ink, NO_CURVE)
    budgets = sorted({budget for curve in info.curves for budget in curve.budgets})
    lines = [_line(curve, curve.length == info.own.draft_length, ink) for curve in info.curves]
    layout = base_layout(ink) | {
        "xaxis": axis(
            ink,
            type="log",
            range=[log10(budgets[0]) - EDGE, log10(budgets[-1]) + EDGE],
            tickvals=budgets,
            title=axis_title(ink, "budget"),
            automargin=True,
        ),
        "yaxis": axis(
            ink,
            title=axis_title(ink, "tokens/s"),
            range=[0, HEADROOM * max(info.measured, *(max(curve.speeds) for curve in info.curves))],
            automargin=True,
            nticks=6,
        ),
        "legend": LEGEND,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 6},
    }
    return Plot([*lines, *_marks(info, ink)], layout)


def _get_budget_sentence(info: BudgetInfo) -> str:
    """What a round costs, what the tree gains, and whether it came as expected."""
    if info.reason:
        return info.reason
    here = f"; measured in this run: {info.measured:.1f}" if info.measured > 0 else ""
    own = f"{info.own.budget} nodes, {info.own.draft_length} drafted"
    if info.expected is None:
        return f"The run had {own}, which is on none of these lines{here}."
    known = info.expected
    (rows, least), (budget, tau) = known.least, known.smallest
    gain = f" ({tau:.2f} with a budget of {budget})" if info.own.budget > budget else ""
    return (
        f"Chosen: {own}. On the run’s device the target’s pass over {known.rows} rows takes "
        f"{known.verify:.1f} ms (over {rows}: {least:.1f}) and the draft {known.draft:.1f} ms. On "
        f"other texts such a round commits {known.tau:.2f} tokens{gain}. Expected: "
        f"{known.speed:.1f} tokens/s{here}."
    )


def _get_budget_rows(info: BudgetInfo) -> Rows:
    """The curves as a table: a row per budget, a column per draft length."""
    if not info.curves:
        return ()
    curves = sorted(info.curves)
    known = [dict(zip(curve.budgets, curve.speeds, strict=True)) for curve in curves]
    budgets = sorted({budget for curve in known for budget in curve})
    head = ("budget", *(f"tokens/s, {curve.length} drafted" for curve in curves))
    cells = [
        (str(b), *(f"{curve[b]:.1f}" if b in curve else "–" for curve in known)) for b in budgets
    ]
    return head, *cells


def budget_figure(trace: Trace, ink: Palette = LIGHT) -> go.Figure:
    """Draw the tokens per second that were expected of every budget on the run's device, one line
    per draft length; the one chosen and what the run measured are marked.
    """
    return _get_budget_plot(_get_budget_info(RunView(trace, totals(trace))), ink).figure()


def budget_sentence(trace: Trace) -> str:
    """Why the run has its budget, or why nobody can say, in words."""
    return _get_budget_sentence(_get_budget_info(RunView(trace, totals(trace))))


CHART = Chart(
    name="budget",
    title="Why this budget",
    lead="tokens per second expected on the run’s device; grey: other draft lengths",
    label="Expected tokens per second over the budget, a line per draft length, the chosen point "
    "marked.",
    info=_get_budget_info,
    plot=_get_budget_plot,
    sentence=_get_budget_sentence,
    rows=_get_budget_rows,
)
