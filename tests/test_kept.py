"""One definition of an accepted draft for the page, its tables and texts, and the challenges: what
lies behind the end of the text does not count.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.records import Round, Trace, load_recording
from presto.records.tree import bonus_committed, depths, kept, verdicts
from tests.support import synthetic
from ui.challenges import answers
from ui.round_payload import COLUMNS, round_json
from viz.nodes import CUT
from viz.view import round_sentence, view_of

RUNS = sorted((Path(__file__).parents[1] / "assets" / "runs").glob("*.json.gz"))


def told(trace: Trace, index: int) -> dict[str, int]:
    """How many accepted drafts of a round each part of the page tells of."""
    view = view_of(trace, index)
    alone = replace(view.round, start=len(trace.prompt_ids))
    sent = json.loads(round_json(view))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in sent["rows"]]
    said = round_sentence(view)
    return {
        "rows": sum(row["status"] == "accepted" for row in rows),  # table, tree, predictions
        "challenge": int(answers(replace(trace, rounds=(alone,)), None, [])["accepted"]),
        "sentence": 0 if said.startswith("nothing") else int(said.split()[0]),
    }


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(("rows", "challenge", "sentence"), count)


@st.composite
def ended(draw: st.DrawFn) -> Trace:
    """A run whose last round met the end of the text after some of its tokens."""
    trace = synthetic.trace(draw(st.integers(0, 9)), rounds=2, budget=12)
    *rounds, last = trace.rounds
    if draw(st.booleans()):
        last = replace(last, exact=None, committed=last.committed[1:])
    end = draw(st.integers(0, len(last.committed)))
    return replace(trace, rounds=(*rounds, replace(last, committed=last.committed[:end])))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_every_part_of_the_page_counts_the_same_accepted_drafts(path: Path) -> None:
    for trace in load_recording(path).traces[:2]:
        for index, round_ in enumerate(trace.rounds):
            assert told(trace, index) == same(len(kept(round_)))


@given(ended())
def test_what_lies_behind_the_end_of_the_text_is_no_accepted_draft(trace: Trace) -> None:
    last = trace.rounds[-1]
    exact = last.exact is not None
    assert told(trace, -1) == same(len(kept(last)))
    assert max(exact, len(last.committed)) == exact + len(kept(last)) + bonus_committed(last)
    for node in view_of(trace, -1).drafted:
        discarded = node.node in last.accepted and node.node not in kept(last)
        assert (node.word == CUT) == discarded
        assert node.status == "beyond" or not discarded


@given(ended())
def test_verdicts_end_where_the_text_ends(trace: Trace) -> None:
    last: Round = trace.rounds[-1]
    depth, found = depths(last.tree.parents), verdicts(last)
    assert {i for i, verdict in enumerate(found) if verdict == "accepted"} == set(kept(last))
    below = len(kept(last)) + 1
    assert all(depth[i] <= below for i, verdict in enumerate(found) if verdict == "rejected")
