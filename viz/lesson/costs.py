"""Chapter ten: what more accepted tokens cost, by the costs that the run itself measured."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from presto.records import DecodeConfig, Trace
from presto.records.measures import (
    acceptance_length,
    speedup,
    stage_totals,
    tokens_per_second,
    totals,
)
from presto.runs.ends import RoundEnd
from presto.runs.states import States
from viz.ends import EndsInfo, _get_ends_info, _get_ends_plot, ended_run
from viz.lesson.course import Course, Lesson, Question
from viz.plot import Plot, scatter
from viz.speedup import _get_speedup_info, _get_speedup_plot, oracle_committed
from viz.theme import LEGEND, LIGHT, Palette, axis, axis_title, base_layout

GRID = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # budgets of the curve


class Costs(NamedTuple):
    """Seconds that the run's own lanes measured: a pass of the target over one row, what each
    further row adds, and all of a round but that pass.
    """

    one: float
    row: float
    beside: float

    def round(self, budget: int) -> float:
        """A round with so many nodes: between the measured sizes, and beyond them, along a straight
        line.
        """
        return self.beside + self.one + budget * self.row


def costs_of(course: Course) -> Costs:
    """Measured on the plain lane (one row) and on the run shown (its trees and their root)."""
    plain, shown = course.lane("ar"), course.shown
    one = stage_totals(plain).verify / len(plain.rounds)
    drafted = [round_ for round_ in shown.rounds if len(round_.tree.tokens) > 1]
    verify = sum(round_.seconds.verify for round_ in drafted) / len(drafted)
    nodes = sum(len(round_.tree.tokens) - 1 for round_ in drafted) / len(drafted)
    spent = totals(shown).seconds / len(shown.rounds) - stage_totals(shown).verify / len(
        shown.rounds
    )
    return Costs(one, max(0.0, verify - one) / nodes, spent)


def tokens_per_round(states: States, config: DecodeConfig) -> float:
    """What a round commits on average at the run's own states under these settings."""
    found = [states.replay(index, config) for index in range(len(states))]
    counts = [one.committed for one in found if one is not None]
    return sum(counts) / len(counts) if counts else 1.0


class Expected(NamedTuple):
    """Tokens per round, seconds per round, and tokens per second of a setting; and of plain
    decoding.
    """

    tau: float
    seconds: float
    speed: float
    plain: float


def expected(course: Course, config: DecodeConfig) -> Expected:
    """What a run under ``config`` would do, by exact replay and the run's own measured costs."""
    tau = tokens_per_round(course.states, config)
    seconds = costs_of(course).round(config.budget)
    return Expected(tau, seconds, tau / seconds, tokens_per_second(course.lane("ar")))


def _curve(course: Course) -> list[float]:
    own = course.shown.config
    return [expected(course, replace(own, budget=budget)).speed for budget in GRID]


def _get_cost_plot(
    speeds: Sequence[float], plain: float, own: tuple[int, float], ink: Palette = LIGHT
) -> Plot:
    line = {"color": ink.accepted, "width": 2.5}
    curve = scatter(
        x=list(GRID),
        y=[round(speed, 2) for speed in speeds],
        mode="lines+markers",
        line=line,
        name="PRESTO",
        hovertemplate="%{y:.1f} tokens/s with a budget of %{x}<extra></extra>",
    )
    level = scatter(
        x=[GRID[0], GRID[-1]],
        y=[round(plain, 2)] * 2,
        mode="lines",
        line={"color": ink.muted, "width": 1.5, "dash": "dot"},
        name="AR",
        hovertemplate="%{y:.1f} tokens/s, one token at a time<extra></extra>",
    )
    here = scatter(
        x=[own[0]],
        y=[round(own[1], 2)],
        mode="markers",
        marker={"symbol": "diamond-open", "size": 12, "color": ink.bonus},
        name="measured",
        hovertemplate="%{y:.1f} tokens/s, measured in this run<extra></extra>",
    )
    layout = base_layout(ink) | {
        "xaxis": axis(
            ink, type="log", tickvals=list(GRID), title=axis_title(ink, "budget"), automargin=True
        ),
        "yaxis": axis(
            ink, rangemode="tozero", title=axis_title(ink, "tokens/s"), automargin=True, nticks=6
        ),
        "legend": LEGEND,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 6},
    }
    return Plot([curve, level, here], layout)


def _oracle(trace: Trace) -> float:
    found = oracle_committed(trace)
    return sum(found) / len(found) if found else acceptance_length(trace)


def _common(ends: EndsInfo) -> RoundEnd:
    """Why most rounds end; the first of equals."""
    return max((name for name in ends.counts if name != "ended"), key=ends.counts.__getitem__)


def _values(course: Course, speeds: Sequence[float], ends: EndsInfo) -> dict[str, str]:
    shown, plain, linear = course.shown, course.lane("ar"), course.lane("linear")
    own, found = shown.config.budget, costs_of(course)
    best = max(range(len(GRID)), key=speeds.__getitem__)
    over = speedup(shown, linear)
    largest = tokens_per_round(course.states, replace(shown.config, budget=GRID[-1]))
    return {
        "tau": f"{acceptance_length(shown):.1f}",
        "linear_tau": f"{acceptance_length(linear):.1f}",
        "oracle": f"{_oracle(shown):.1f}",
        "speed": f"{tokens_per_second(shown):.1f}",
        "plain": f"{tokens_per_second(plain):.1f}",
        "over_linear": f"{over:.2f}" if over else "–",
        "budget": str(own),
        "one": f"{1000 * found.one:.0f}",
        "tree": f"{1000 * (found.one + own * found.row):.0f}",
        "beside": f"{1000 * found.beside:.0f}",
        "best": str(GRID[best]),
        "best_speed": f"{speeds[best]:.1f}",
        "largest": str(GRID[-1]),
        "largest_tau": f"{largest:.1f}",
        "largest_speed": f"{speeds[-1]:.1f}",
        "device": shown.device,
        "common": str(ends.counts[_common(ends)]),
        "rounds": str(ends.rounds),
        "topk": str(ends.top_k),
    }


def costs(course: Course) -> Lesson:
    """More accepted is not always faster."""
    shown, plain, linear = course.shown, course.lane("ar"), course.lane("linear")
    own, measured = shown.config.budget, tokens_per_second(shown)
    speeds = _curve(course)
    ends = _get_ends_info(ended_run(shown))
    reasons = tuple(name for name in ends.counts if name != "ended")
    common = _common(ends)
    values = _values(course, speeds, ends)
    info = _get_speedup_info(shown, linear, plain)
    picture = {
        "kind": "costs",
        "plots": {
            "cost": _get_cost_plot(speeds, tokens_per_second(plain), (own, measured))._asdict(),
            "speedup": _get_speedup_plot(info)._asdict(),
            "ends": _get_ends_plot(ends)._asdict(),
        },
        "knobs": [
            {"name": "budget", "low": 1, "high": GRID[-1], "step": 1, "value": own},
            {"name": "lam", "low": 0, "high": 1, "step": 0.05, "value": shown.config.lam},
        ],
    }
    asked = Question("choice", common, tuple(reasons)), Question("slower", None)
    return Lesson(values, picture, asked)
