"""Numbers as the page prints them."""

from dataclasses import replace

from presto.records import Stages
from tests.support import synthetic
from viz.numbers import phases, settings


def test_phases_have_the_rounds_own_times() -> None:
    seconds = Stages(
        draft=0.0123, score=0.00041, search=0.0002, mask=0.0003, verify=0.0456, commit=0.0
    )
    expected = [
        ("draft", "12 ms"),
        ("score", "0.41 ms"),
        ("build", "0.5 ms"),
        ("verify", "46 ms"),
        ("commit", "0 ms"),
    ]
    assert phases(seconds) == expected


def test_a_budget_that_was_chosen_is_told_with_its_draft_length() -> None:
    trace = synthetic.trace(rounds=0)
    assert " · budget 32 · " in settings(trace)
    chosen = settings(replace(trace, tuning=synthetic.TUNING))
    assert " · budget 32, 12 drafted (auto) · " in chosen
