"""A round of a live run costs the server the same work however many rounds came before it.

Work is counted, not timed: calls of functions, Python's own and built-in ones, per update.
"""

import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import viz.view
from presto.records import Method, Trace
from presto.runs import events
from presto.runs.events import RunEvent, events_of
from tests.support import synthetic
from tests.support.checks import some
from ui.compare_payload import ComparePayload
from ui.explore_payload import ExplorePayload

ROUNDS, EDGE = 120, 15
METHODS: tuple[Method, ...] = ("ar", "linear", "presto")
SHARE = 1.1  # the most that a late update may cost of an early one: rounds differ a little


def lane(method: Method) -> Trace:
    return synthetic.trace(1, ROUNDS, 12, method=method, width=8, keep=0.6)


def calls(work: Callable[[], object]) -> int:
    """How many functions ``work`` calls."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def costs(payload: Any, lanes: list[tuple[int, Trace]]) -> list[list[int]]:
    """Calls per update of each lane's rounds, the first left out, which fills caches."""

    def update(lane: int, event: RunEvent) -> None:
        payload.take(lane, event)
        payload.value("running")

    result = []
    for number, trace in lanes:
        start, *rounds = events_of(trace)
        payload.take(number, start)
        result.append([calls(partial(update, number, event)) for event in rounds][1:])
    return result


PAGES: dict[str, Callable[[], list[list[int]]]] = {
    "explore": lambda: costs(
        ExplorePayload("live", ""), [(0, lane("presto")), (1, lane("linear"))]
    ),
    "compare": lambda: costs(
        ComparePayload("live", "", names=METHODS),
        [(number, lane(method)) for number, method in enumerate(METHODS)],
    ),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_late_round_calls_no_more_functions_than_an_early_one(page: str) -> None:
    for counted in some(PAGES[page]()):
        early, late = statistics.median(counted[:EDGE]), statistics.median(counted[-EDGE - 1 : -1])
        assert late <= SHARE * early


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Counts of what is built: rows of nodes, texts of rounds, whole traces."""
    counts = dict.fromkeys(("node_rows", "round_text", "trace"), 0)

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **named)

        return call

    for name in ("node_rows", "round_text"):
        monkeypatch.setattr(viz.view, name, counting(name, getattr(viz.view, name)))
    monkeypatch.setattr(events, "replace", counting("trace", events.replace))
    return counts


@pytest.mark.parametrize("rounds", [3, 30])
def test_rows_and_text_are_built_once_a_round_and_a_trace_only_when_a_lane_is_over(
    rounds: int, built: dict[str, int]
) -> None:
    methods: tuple[Method, ...] = ("presto", "linear")
    told = [list(events_of(synthetic.trace(1, rounds, 6, method=method))) for method in methods]
    payload = ExplorePayload("live", "")
    built["trace"] = 0  # without those that ``events_of`` made
    for number, lane_events in enumerate(told):
        for event in lane_events:
            payload.take(number, event)
            payload.value("running")
        assert built == {"node_rows": rounds, "round_text": rounds, "trace": number}
    payload.value("done")
    assert built == {"node_rows": rounds, "round_text": rounds, "trace": 2}


def test_what_an_update_adds_to_the_value_does_not_grow() -> None:
    payload, sizes, before = ExplorePayload("live", ""), [], set[str]()
    for event in events_of(lane("presto")):
        payload.take(0, event)
        value = payload.value("running")
        parts = {
            value["head"],
            value["speedup"],
            *value["rounds"],
            *value["bars"],
            *value["points"],
        }
        sizes.append(sum(map(len, parts - before)))
        before |= parts
    early, late = statistics.median(sizes[2 : 2 + EDGE]), statistics.median(sizes[-EDGE:])
    assert late <= SHARE * early
