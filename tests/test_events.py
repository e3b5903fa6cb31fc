"""A run's events: plain data that add up to its record."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.records import Trace
from presto.records.measures import Clock, totals
from presto.runs.events import (
    GrowingRun,
    RoundDecoded,
    RunStarted,
    collected,
    events_of,
)
from tests.support import synthetic


def grown(trace: Trace, rounds: int) -> GrowingRun:
    """A run that was given up after so many rounds."""
    start, *events = events_of(trace)
    assert isinstance(start, RunStarted)
    run = GrowingRun(start.head)
    for event in events[:rounds]:
        assert isinstance(event, RoundDecoded)
        run.add(event)
    return run


@given(seed=st.integers(0, 9), rounds=st.integers(1, 6), budget=st.sampled_from([0, 1, 8]))
def test_the_events_of_a_run_add_up_to_its_record(seed: int, rounds: int, budget: int) -> None:
    trace = synthetic.trace(seed, rounds, budget, width=3)
    assert collected(pickle.loads(pickle.dumps(list(events_of(trace))))) == trace


def test_a_run_that_was_given_up_is_a_valid_record_of_what_there_was() -> None:
    trace = synthetic.trace(rounds=4)
    run = grown(trace, 2)
    assert run.trace() == replace(trace, rounds=trace.rounds[:2], finish="stopped")
    assert (run.totals, run.clock) == (totals(run.trace()), Clock.of(run.trace()))


def test_only_the_last_round_says_why_the_run_is_over() -> None:
    _, *rounds = events_of(synthetic.trace(rounds=3))
    assert [event.finish for event in rounds] == [None, None, "length"]  # type: ignore[union-attr]


def test_nothing_told_is_no_run() -> None:
    with pytest.raises(ValueError, match="without any event"):
        collected([])
