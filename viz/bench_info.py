"""What the figures of a benchmark result show, selected from its file.

Names in a file come from anyone: they are shown through ``viz.text``.
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, get_args

from presto.benchmarks.parts import Shard
from presto.benchmarks.results import Baseline, BenchResult, Figures, Interval, Methods
from presto.records import Method
from presto.runs.ends import ROUND_ENDS, RoundEnd
from presto.runs.variants import TITLES
from viz.text import isolate, shorten, visible

LONGEST = 28  # characters of a name in a figure
PAPER_OVERHEAD = 0.04  # PRESTO, arXiv 2607.22634: scores, search and mask take under 4 % of a round
ALL = "all prompts"


def _shown(name: str) -> str:
    return isolate(shorten(visible(name), LONGEST)).replace("␣", " ")


def where_line(result: BenchResult) -> str:
    """Pair, mode, device, precision, processor and the number of prompts per set. Plain text:
    escape it in a page.
    """
    where = result.where
    parts = [
        _shown(part)
        for part in (where.pair, where.mode, where.device, where.dtype, where.processor)
        if part
    ]
    sets = ", ".join(f"{_shown(name)} {count}" for name, count in result.prompts.items())
    parts += [f"prompts: {sets}"] if sets else []
    if result.part is not None:
        parts.append(f"part {result.part.number} of {result.part.of}")
    return " · ".join(parts if result.complete else [*parts, _stopped(result)])


def _stopped(result: BenchResult) -> str:
    done, planned = sum(result.prompts.values()), result.plan
    count = sum(planned.prompts.values()) if planned else 0
    own = Shard(result.part.number, result.part.of).numbers(count) if result.part else range(count)
    of = f" of {len(own)}" if planned else ""
    return f"stopped after {done}{of} prompts"


class Measure(NamedTuple):
    """What the bars of a figure measure."""

    title: str  # of the axis
    unit: Callable[[float], str]
    level: float | None = None  # a value to compare with, a thin line across
    ticks: str = ""  # format of the axis' numbers


class Bar(NamedTuple):
    """A method's bar in one group: its value and 95 % interval, and a remark for its card."""

    method: str
    group: int
    value: float
    low: float
    high: float
    remark: str


class BarsInfo(NamedTuple):
    """Grouped bars, methods in the order of ``in_order``; no bars where nothing was measured."""

    measure: Measure
    groups: tuple[str, ...]
    bars: tuple[Bar, ...]


class Spread(NamedTuple):
    """How a method's rounds spread over committed tokens: rounds and their share, by tokens."""

    method: str
    tokens: tuple[int, ...]
    rounds: tuple[int, ...]
    shares: tuple[float, ...]


class EndsOf(NamedTuple):
    """Why a method's rounds end: rounds and their share, for each of ``reasons``."""

    method: str
    reasons: tuple[RoundEnd, ...]
    rounds: tuple[int, ...]
    shares: tuple[float, ...]


TAU = Measure("macro τ: tokens per round", "{:.3f}".format)
SPEED = Measure("speed ratio, median over prompts", "{:.2f}×".format, 1.0)
OVERHEAD = Measure("overhead", "{:.2%}".format, PAPER_OVERHEAD, ".0%")


def in_order(names: Collection[str]) -> list[str]:
    """Methods in the order of ``presto.records.Method``, then scorers and searches as they come."""
    known = [name for name in get_args(Method) if name in names]
    return [*known, *(name for name in names if name not in known)]


def _ordered(methods: Methods) -> Iterable[tuple[str, Figures]]:
    return ((name, methods[name]) for name in in_order(methods))


def _bar(method: str, group: int, interval: Interval, remark: str = "") -> Bar:
    return Bar(method, group, interval.value, interval.low, interval.high, remark)


def _get_tau_info(result: BenchResult) -> BarsInfo:
    """A group per data set and one for all prompts (alone where there is only one set)."""
    sets = dict(result.datasets) if len(result.datasets) > 1 else {}
    groups = [*sets.items(), (ALL, result.methods)]
    bars = [
        _bar(method, group, figures.tau_macro, f"{figures.tokens_per_forward:.2f} tokens per pass")
        for group, (_, methods) in enumerate(groups)
        for method, figures in _ordered(methods)
    ]
    names = [_shown(name) if i < len(sets) else ALL for i, (name, _) in enumerate(groups)]
    return BarsInfo(TAU, tuple(names), tuple(bars))


def _get_speed_info(result: BenchResult) -> BarsInfo:
    """A group per baseline that was run, without the baseline itself (1 by definition)."""
    groups: list[str] = []
    bars: list[Bar] = []
    for baseline in get_args(Baseline):
        measured = [
            (method, figures, getattr(figures, f"ratio_to_{baseline}"))
            for method, figures in _ordered(result.methods)
        ]
        known = [row for row in measured if row[2] is not None and row[0] != baseline]
        bars += [
            _bar(m, len(groups), ratio, f"{f.tokens_per_second.value:.1f} tokens/s")
            for m, f, ratio in known
        ]
        groups += [f"against {TITLES[baseline]}"] if known else []
    return BarsInfo(SPEED, tuple(groups), tuple(bars))


def _stages_in_words(figures: Figures) -> str:
    total = sum(figures.stages.values())
    parts = figures.stages.items() if total else ()
    return " · ".join(f"{name} {part / total:.1%}" for name, part in parts)


def _get_overhead_info(result: BenchResult) -> BarsInfo:
    """The share of time beside the model passes; autoregressive decoding has none by definition."""
    bars = tuple(
        _bar(method, 0, figures.overhead_share, _stages_in_words(figures))
        for method, figures in _ordered(result.methods)
        if method != "ar"
    )
    return BarsInfo(OVERHEAD, ("share of a round’s time",) if bars else (), bars)


def _get_histogram_info(result: BenchResult) -> tuple[Spread, ...]:
    """Per drafting method with any round; autoregressive rounds commit one token each and are left
    out.
    """
    spreads = []
    for method, figures in _ordered(result.methods):
        counts = dict(sorted(figures.histogram.items()))
        total = sum(counts.values())
        if method != "ar" and total:
            shares = tuple(count / total for count in counts.values())
            spreads.append(Spread(method, tuple(counts), tuple(counts.values()), shares))
    return tuple(spreads)


def _get_ends_info(result: BenchResult) -> tuple[EndsOf, ...]:
    """Per drafting method whose ends are known; all have the reasons that any of them has."""
    known = [(method, figures.ends) for method, figures in _ordered(result.methods)]
    known = [(method, ends) for method, ends in known if any(ends.values())]
    reasons = tuple(reason for reason in ROUND_ENDS if any(ends.get(reason) for _, ends in known))
    spreads = []
    for method, ends in known:
        rounds = tuple(ends.get(reason, 0) for reason in reasons)
        shares = tuple(count / sum(rounds) for count in rounds)
        spreads.append(EndsOf(method, reasons, rounds, shares))
    return tuple(spreads)
