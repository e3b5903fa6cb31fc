"""The answers to challenges come from the run."""

import pytest

from presto.records import Tree
from presto.records.measures import acceptance_length
from presto.runs.counterfactuals import Alternative
from tests.support import synthetic
from ui.challenges import answers

LANES = {trace.method: trace for trace in synthetic.recording(rounds=6).traces}


def test_answers_are_measured_on_the_run() -> None:
    trace = LANES["presto"]
    found = answers(trace, LANES["linear"], [])
    assert found.keys() == {"tau", "longest", "accepted", "speedup"}
    assert found["tau"] == pytest.approx(acceptance_length(trace), abs=1e-4)
    assert found["longest"] == max(len(round_.committed) for round_ in trace.rounds)
    assert answers(trace, None, []).keys() == {"tau", "longest", "accepted"}


def test_rescued_rounds_are_those_with_more_than_the_blind_tree() -> None:
    def round_(own: int, blind: int) -> tuple[Alternative, ...]:
        return Alternative("blind", Tree((0,)), (), blind), Alternative(
            "pmi", Tree((0,)), (), own, own=True
        )

    found = [round_(5, 3), round_(4, 4), round_(2, 3), ()]
    assert answers(LANES["presto"], None, found)["rescued"] == 1
