"""Why a run has its budget: the curve shown is the one it was chosen by, and words say what is not
there.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.records import Method, Trace
from presto.records.measures import Totals, totals
from presto.records.tuning import Tuning
from presto.runs.budget import choose, speeds
from tests.support import synthetic
from tests.support.checks import some
from tests.support.strategies import tunings
from viz.budget import (
    BudgetInfo,
    _get_budget_info,
    _get_budget_plot,
    _get_budget_rows,
    _get_budget_sentence,
    budget_figure,
    budget_sentence,
)
from viz.view import RunView

RUN = synthetic.trace(rounds=2)
TUNED = replace(RUN, tuning=synthetic.TUNING)


def tuned(tuning: Tuning, search: str = "best_first", **config: Any) -> Trace:
    return replace(
        RUN, rounds=(), tuning=tuning, config=replace(RUN.config, search=search, **config)
    )


def info_of(trace: Trace) -> BudgetInfo:
    return _get_budget_info(RunView(trace, totals(trace)))


@given(tunings(), st.booleans())
def test_the_curves_are_those_that_the_choice_was_made_by(tuning: Tuning, single: bool) -> None:
    found = speeds(tuning, single, 31)
    shape = choose(found)
    search = "linear" if single else "best_first"
    if shape is None:
        assert "lies between measured costs" in info_of(tuned(tuning, search)).reason
        return
    trace = tuned(tuning, search, budget=shape.budget, draft_length=shape.draft_length)
    info = info_of(trace)
    drawn = {
        (b, c.length): v for c in info.curves for b, v in zip(c.budgets, c.speeds, strict=True)
    }
    assert drawn == {tuple(shape): speed for shape, speed in found.items()}
    assert info.curves[-1].length == shape.draft_length  # drawn over the others
    assert info.expected is not None
    assert info.expected.speed == max(found.values())
    spent = info.expected.verify + info.expected.draft
    assert info.expected.speed == pytest.approx(1000 * info.expected.tau / spent)
    mark = budget_figure(trace).data[-1]
    assert mark.name == "chosen"
    assert mark.x == (shape.budget,)
    assert mark.y[0] == pytest.approx(max(found.values()), abs=0.006)


@given(tunings())
def test_the_table_has_every_number_of_the_figure(tuning: Tuning) -> None:
    info = info_of(tuned(tuning))
    rows = _get_budget_rows(info)
    if not info.curves:
        assert rows == ()
        return
    headings, *cells = rows
    assert [len(row) for row in cells] == [len(headings)] * len(cells)
    read = {
        (int(row[0]), heading): cell
        for row in some(cells)
        for heading, cell in zip(headings[1:], row[1:], strict=True)
        if cell != "–"
    }
    assert read == {
        (budget, f"tokens/s, {curve.length} drafted"): f"{speed:.1f}"
        for curve in info.curves
        for budget, speed in zip(curve.budgets, curve.speeds, strict=True)
    }


def test_what_is_chosen_is_said_with_its_numbers() -> None:
    assert _get_budget_sentence(_get_budget_info(RunView(TUNED, Totals()))) == (
        "Chosen: 32 nodes, 12 drafted. On the run’s device the target’s pass over 33 rows takes "
        "30.0 ms (over 1: 10.0) and the draft 6.0 ms. On other texts such a round commits 3.60 "
        "tokens (2.40 with a budget of 16). Expected: 100.0 tokens/s."
    )
    measured = totals(TUNED).tokens_per_second
    assert budget_sentence(TUNED).endswith(
        f"Expected: 100.0 tokens/s; measured in this run: {measured:.1f}."
    )


def test_the_runs_own_speed_is_drawn_once_it_is_measured() -> None:
    def names(run: RunView) -> list[str]:
        return [part["name"] for part in _get_budget_plot(_get_budget_info(run)).data]

    assert names(RunView(TUNED, Totals())) == ["4 drafted", "12 drafted", "chosen"]
    known = _get_budget_plot(info_of(TUNED))
    (level,) = [part for part in known.data if part["name"] == "measured"]
    assert level["y"] == [round(totals(TUNED).tokens_per_second, 2)] * 2
    assert known.layout["yaxis"]["range"][1] > max(level["y"][0], 100.0)


def test_a_shape_that_is_on_no_line_is_not_marked() -> None:
    for changes in ({"budget": 31}, {"draft_length": 5}):
        trace = tuned(synthetic.TUNING, **changes)
        assert "on none of these lines" in budget_sentence(trace)
        assert "chosen" not in [part.name for part in budget_figure(trace).data]


@pytest.mark.parametrize(
    ("method", "system", "said"),
    [
        ("presto", "smollm2-gated", "The budget of 32 and draft length of 12 were given."),
        ("presto", "qwen3-8b-dflash", "was not measured for this pair"),
        ("presto", "somebodys", "was not measured for this pair"),
        ("ar", "smollm2-gated", "Plain decoding drafts nothing"),
    ],
)
def test_a_run_without_a_curve_says_why(method: Method, system: str, said: str) -> None:
    trace = replace(RUN, method=method, system=system)
    assert said in budget_sentence(trace)
    figure = budget_figure(trace)
    assert figure.data == ()
    assert "nothing was chosen" in figure.layout.annotations[0].text
    assert _get_budget_rows(info_of(trace)) == ()


def test_a_search_that_is_not_installed_is_drawn_as_a_tree() -> None:
    info = info_of(tuned(synthetic.TUNING, "somebodys"))
    assert info.expected is not None
    assert info.expected.rows == 33
