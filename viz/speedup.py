"""Cumulative speed-up over linear drafting by round: measured time, and target passes as if all
cost alike.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Method, Round, Trace
from presto.records.measures import Clock, Totals, output_ids, totals
from presto.runs.replay import oracle_length
from presto.runs.variants import TITLES
from viz.plot import Plot, scatter
from viz.theme import LEGEND, LIGHT, Palette, axis, base_layout, note

BY_TIME = "round %{x}: %{y:.2f}× the speed of linear<extra></extra>"
BY_PASSES = "round %{x}: %{y:.2f}× (%{customdata:.2f} tokens per pass)<extra></extra>"
BY_AR = "round %{x}: plain decoding at %{y:.2f}× the speed of linear<extra></extra>"
BY_ORACLE = (
    "round %{x}: %{y:.2f}× with an oracle’s choice among the top 8 at every state<extra></extra>"
)
WAITING = "Appears as soon as linear drafting has run on the same prompt."
MEASURED, PASSES, PLAIN = "measured time", "per target pass", "AR"
TOP = 8  # candidates per position that the oracle chooses from
ORACLE = f"oracle@{TOP}"
LOWEST_TOP = 1.62  # the axis shows at least that much
# The first rounds of a run are slow (caches are cold, kernels start): what a ratio of their times
# shows is that, not the methods. Runs of twice as many rounds or fewer are shown whole.
WARM_UP = 3


class SpeedupPoint(NamedTuple):
    """One round: ratios to linear drafting at as many tokens, ``None`` where a lane is not that
    far, has no clock or, for times, is still in its ``WARM_UP`` rounds.
    """

    seconds: float | None
    passes: float | None
    tokens_per_pass: float
    ar: float | None  # the speed of plain decoding by measured time
    oracle: float | None  # as ``passes``, with the tokens of ``oracle_committed``


class SpeedupInfo(NamedTuple):
    """The run's first rounds, as far as linear drafting goes, of ``rounds`` in all."""

    rounds: int
    points: tuple[SpeedupPoint, ...]
    has_ar: bool
    has_oracle: bool


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
    (oracle@8); empty where no marginals were recorded.

    It is computed at this run's own states: after its longer steps the oracle does not move on
    along its own text, it is put back to where the run went. Later tokens of the run tell what the
    target wanted, so the last rounds are cut at what has been emitted so far. It bounds what any
    tree over the top 8 could commit at these states; a tree that uses lower ranks can commit more.
    """
    if not any(round_.marginals.token_ids for round_ in trace.rounds):
        return []
    text = output_ids(trace)
    return [_oracle(trace, round_, text) for round_ in trace.rounds]


class SpeedupPoints:
    """The points of a run that is over, worked out as its baseline comes along: each once."""

    def __init__(self, trace: Trace, ar: Trace | None = None) -> None:
        self.run = Clock.of(trace)
        self.ar = None if ar is None else Clock.of(ar)
        self.oracle = list(accumulate(oracle_committed(trace), initial=0))
        self.points: list[SpeedupPoint] = []
        count = len(self.run.tokens) - 1
        self.warm_up = WARM_UP if count > 2 * WARM_UP else 0

    def extend(self, linear: Clock) -> list[SpeedupPoint]:
        """Add the points that linear drafting has now reached, and return them."""
        known, count = len(self.points), len(self.run.tokens) - 1
        while (
            len(self.points) < count and self.run.tokens[len(self.points) + 1] <= linear.tokens[-1]
        ):
            self.points.append(self._point(len(self.points) + 1, linear))
        return self.points[known:]

    def _point(self, rounds: int, linear: Clock) -> SpeedupPoint:
        tokens, passes = self.run.tokens[rounds], linear.rounds_at(self.run.tokens[rounds])
        assert passes is not None
        plain = self.ar and self._warm(self.ar, tokens)
        ours, base = self._warm(self.run, tokens), self._warm(linear, tokens)
        return SpeedupPoint(
            seconds=base / ours if base and ours else None,
            passes=passes / rounds,
            tokens_per_pass=tokens / rounds,
            ar=base / plain if base and plain else None,
            oracle=passes / rounds * self.oracle[rounds] / tokens if self.has_oracle else None,
        )

    def _warm(self, clock: Clock, tokens: int) -> float | None:
        """When that lane had committed ``tokens``; ``None`` where it had not, or was warming up."""
        rounds = clock.rounds_at(tokens)
        return None if rounds is None or rounds <= self.warm_up else clock.seconds_at(tokens)

    @property
    def has_oracle(self) -> bool:
        """Whether the run recorded the marginals that an oracle chooses from."""
        return len(self.oracle) > 1

    @property
    def info(self) -> SpeedupInfo:
        """All points so far."""
        return SpeedupInfo(
            len(self.run.tokens) - 1, tuple(self.points), self.ar is not None, self.has_oracle
        )


def _get_speedup_info(trace: Trace, linear: Trace | None, ar: Trace | None = None) -> SpeedupInfo:
    points = SpeedupPoints(trace, ar)
    if linear is not None:
        points.extend(Clock.of(linear))
    return points.info


def _line(
    info: SpeedupInfo, ratio: str, name: str, line: dict[str, Any], hover: str
) -> dict[str, Any]:
    """One ratio by round. ``meta`` says for a page that adds points itself where in a point what
    stands.
    """
    column, rate = map(SpeedupPoint._fields.index, (ratio, "tokens_per_pass"))
    return scatter(
        x=list(range(1, len(info.points) + 1)),
        y=[point[column] for point in info.points],
        customdata=[point.tokens_per_pass for point in info.points],
        meta={"y": column, "customdata": rate},
        mode="lines+markers" if info.rounds < 3 else "lines",
        line=line,
        name=name,
        hovertemplate=hover,
    )


def _lines(info: SpeedupInfo, ink: Palette) -> list[dict[str, Any]]:
    """The two ratios of the run itself, then the lanes beside it that are known, for comparison."""
    thick, thin = {"width": 2.5}, {"width": 1.25}
    passes = {**thick, "color": ink.bonus, "dash": "dash"}
    measured = {**thick, "color": ink.accepted, "dash": "solid"}
    plain = {**thin, "color": ink.muted, "dash": "dot"}
    oracle = {**thin, "color": ink.exact, "dash": "dashdot"}
    lines = [
        _line(info, "passes", PASSES, passes, BY_PASSES),
        _line(info, "seconds", MEASURED, measured, BY_TIME),
    ]
    lines += [_line(info, "ar", PLAIN, plain, BY_AR)] if info.has_ar else []
    lines += [_line(info, "oracle", ORACLE, oracle, BY_ORACLE)] if info.has_oracle else []
    return lines


def _get_speedup_plot(info: SpeedupInfo, round_: int | None = None, ink: Palette = LIGHT) -> Plot:
    thin = {"color": ink.muted, "width": 1}
    level = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": thin}
    here = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {**thin, "dash": "dot"}}
    shown = -1 if round_ is None else round_ + 1
    layout = base_layout(ink) | {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "shapes": [level, {**here, "x0": shown, "x1": shown, "visible": round_ is not None}],
        "xaxis": axis(
            ink, range=[0.5, max(info.rounds, 2) + 0.5], automargin=True, nticks=8, tickformat="d"
        ),
        "yaxis": axis(
            ink,
            rangemode="tozero",
            autorangeoptions={"include": LOWEST_TOP},
            ticksuffix="×",
            automargin=True,
            nticks=6,
        ),
        "legend": LEGEND,
        "annotations": [] if info.points else [note(ink, WAITING) | {"y": 0.2}],
    }
    return Plot(_lines(info, ink), layout)


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
    return _get_speedup_plot(_get_speedup_info(trace, linear, ar), round, ink).figure()


def _because(method: Method, run: Totals, linear: Totals) -> str:
    """Why a run is slower than linear drafting: tokens and seconds per round against each other."""
    # Tokens are compared as they are shown.
    tokens, theirs = (round(lane.acceptance_length, 1) for lane in (run, linear))
    longer = (run.seconds / run.rounds) / (linear.seconds / linear.rounds)
    more = "more" if tokens > theirs else "no more"
    joint = "but" if tokens > theirs else "and" if longer >= 1 else "though"
    subject = "the tree" if method in ("presto", "presto+", "blind") else TITLES[method]
    verb = "accepts" if method != "ar" else "commits"
    counts = f"({tokens} against {theirs} tokens a round)"
    return f"{subject} {verb} {more} {counts} {joint} its rounds take {longer:.1f} times as long"


def speed_in_words(method: Method, run: Totals, linear: Totals | None) -> str:
    """``speed_sentence`` from the sums of both runs."""
    if method == "linear":
        return "This is linear drafting itself, what the other methods are compared with."
    ratio = run.speedup_over(linear) if linear else None
    if linear is None or ratio is None:
        return "Not compared: linear drafting has not run on this prompt."
    if f"{ratio:.2f}" == "1.00":
        return "1.00×: as fast as linear drafting on this prompt."
    if ratio > 1:
        return f"{ratio:.2f}× the speed of linear drafting on this prompt."
    return f"{ratio:.2f}×: {_because(method, run, linear)}."


def speed_sentence(trace: Trace, linear: Trace | None) -> str:
    """How the run compares with linear drafting by measured time, in words; below 1× with the
    reason.
    """
    return speed_in_words(trace.method, totals(trace), totals(linear) if linear else None)
