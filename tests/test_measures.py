"""Measures on hand-made traces with known answers, and on random ones for what must always hold."""

from dataclasses import replace

import pytest

from presto.records import Choice, Marginals, Round, Stages, Trace
from presto.records.measures import (
    acceptance_length,
    committed_counts,
    cumulative_pass_ratio,
    cumulative_speedup,
    elapsed_seconds,
    overhead_share,
    speedup,
    stage_totals,
    tokens_per_forward,
    tokens_per_second,
    total_seconds,
)
from tests.support import synthetic


def made(*rounds: tuple[int, float]) -> Trace:
    """A trace whose rounds commit so many tokens in so many seconds."""
    start, result = 3, []
    for count, seconds in rounds:
        stages = Stages(draft=0.4 * seconds, score=0.1 * seconds, verify=0.5 * seconds)
        result.append(
            Round(
                start=start,
                exact=None,
                marginals=Marginals(),
                tree=synthetic.chain(0, (1,) * (count - 1)),
                log_p=(0.0,) * count,
                accepted=tuple(range(1, count)),
                choice=Choice(1),
                committed=(1,) * count,
                margin=1.0,
                forwards=2,
                seconds=stages,
            )
        )
        start += count
    return replace(synthetic.trace(rounds=0), rounds=tuple(result))


def test_counts_times_and_rates() -> None:
    trace = made((4, 1.0), (2, 1.0))
    assert acceptance_length(trace) == 3
    assert committed_counts(trace) == [4, 6]
    assert elapsed_seconds(trace) == pytest.approx([1, 2])
    assert tokens_per_second(trace) == pytest.approx(3)
    assert tokens_per_forward(trace) == pytest.approx(1.5)
    assert overhead_share(trace) == pytest.approx(0.1)
    assert stage_totals(trace).verify == pytest.approx(1.0)


def test_speedup_interpolates_inside_the_rounds_of_the_baseline() -> None:
    ours, linear = made((3, 1.0), (3, 1.0)), made((2, 1.0), (2, 1.0), (2, 1.0))
    assert cumulative_speedup(ours, linear) == pytest.approx([1.5, 1.5])
    assert cumulative_pass_ratio(ours, linear) == pytest.approx([1.5, 1.5])
    assert speedup(ours, linear) == pytest.approx(1.5)


def test_below_one_stays_below_one() -> None:
    assert cumulative_speedup(made((2, 3.0)), made((2, 1.0))) == pytest.approx([1 / 3])


def test_stops_where_the_baseline_ends() -> None:
    assert cumulative_speedup(made((2, 1.0), (3, 1.0)), made((2, 2.0))) == [
        pytest.approx(2.0),
        None,
    ]


@pytest.mark.parametrize("trace", [made(), made((1, 0.0))], ids=["no round", "no time"])
def test_nothing_measured_yet(trace: Trace) -> None:
    assert tokens_per_second(trace) == 0
    assert overhead_share(trace) == 0
    assert speedup(trace, made((1, 1.0))) is None
    assert cumulative_speedup(trace, made((1, 1.0))) == [None] * len(trace.rounds)
    assert cumulative_pass_ratio(made((1, 1.0)), made()) == [None]


@pytest.mark.parametrize("seed", range(5))
def test_a_run_against_itself_is_exactly_one(seed: int) -> None:
    trace = synthetic.trace(seed)
    assert cumulative_speedup(trace, trace) == pytest.approx([1.0] * len(trace.rounds))
    assert elapsed_seconds(trace)[-1] == pytest.approx(total_seconds(trace))
