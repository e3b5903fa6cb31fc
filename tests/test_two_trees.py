"""Both trees of a state: the union is exactly the two, whatever they are, and says where each loses
the text.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presto
import viz
from presto.records import DecodeConfig, Tree
from presto.records.tree import spelled
from presto.runs.counterfactuals import lineup
from presto.runs.states import States
from tests.support.checks import some
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.runs import TABLE, run, scripted
from ui.questions import Question
from ui.table_rows import COLUMNS
from ui.what_if import trees_answer
from viz.nodes import BONUS
from viz.two_trees import (
    MARKS,
    MEMBERS,
    _get_both_info,
    _get_both_plot,
    two_trees,
    unite,
)

CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, top_k=12, seed=4)
changes = st.fixed_dictionaries(
    {
        "scorer": st.sampled_from(("pmi", "mixture", "blind")),
        "lam": st.sampled_from((0.0, 0.7, 2.0)),
        "search": st.sampled_from(("best_first", "beam", "linear")),
        "budget": st.integers(1, 20),
        "top_k": st.integers(1, 12),
    }
)


def zeros(tokens: tuple[int, ...], parents: tuple[int, ...]) -> Tree:
    none = (0.0,) * len(tokens)
    return Tree(tokens, parents, (0,) * len(tokens), none, none, none, none)


def test_two_trees_made_by_hand_are_united() -> None:
    # root → 5, 6; 5 → 7            root → 5, 8; 8 → 7
    union = unite(zeros((1, 5, 6, 7), (-1, 0, 0, 1)), zeros((1, 5, 8, 7), (-1, 0, 0, 2)))
    assert union.tree.tokens == (1, 5, 6, 7, 8, 7)
    assert union.tree.parents == (-1, 0, 0, 1, 0, 4)
    assert union.members == ("shared", "shared", "aligned", "aligned", "blind", "blind")
    assert union.numbers == (0, 1, 4, 5)


@settings(max_examples=examples(150), deadline=None)
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    cap=st.integers(1, 24),
    own=changes,
)
def test_the_union_is_exactly_the_two_trees(
    salt: int, exact: bool, eos: int, cap: int, own: dict[str, Any]
) -> None:
    system = scripted(salt, exact, eos)
    trace = run(system, replace(CONFIG, max_new_tokens=cap, **own))
    states = States(trace, None, system.vocab)
    for index, round_ in enumerate(trace.rounds):
        found = two_trees(states, index)
        blind = states.replay(index, lineup(trace.config)["blind"])
        assert found is not None
        assert blind is not None
        union, ours, theirs = found.both.round.tree, set(spelled(round_.tree)), spelled(blind.tree)
        whose = dict(zip(spelled(union), found.members, strict=True))
        assert whose.keys() == ours | set(theirs)
        for path, member in whose.items():
            expected = (path in ours, path in set(theirs))
            assert (member != "blind", member != "aligned") == expected
        # The run's own nodes keep their numbers, and the blind tree's rows go by the same ones.
        assert spelled(union)[: len(ours)] == spelled(round_.tree)
        rows = [row for row in found.blind.nodes if row.node != BONUS]
        assert [spelled(union)[row.node] for row in rows] == theirs
        paths = [
            [spelled(tree)[node] for node in accepted]
            for tree, accepted in ((round_.tree, round_.accepted), (blind.tree, blind.accepted))
        ]
        assert [spelled(union)[node] for node in found.text] == max(paths, key=len)
        _check_lost(found, len(round_.accepted), len(blind.accepted))


def _check_lost(found: Any, ours: int, theirs: int) -> None:
    ends = [row.node for row in found.both.nodes if row.node == BONUS]
    path = [*found.text, *ends]
    for name, depth in (("aligned", ours), ("blind", theirs)):
        words = (f"{name} loses it", "both lose it")
        said = [node for node, said in found.lost.items() if said in words]
        assert said == path[depth : depth + 1]


def test_only_the_runs_own_nodes_have_an_aligned_score() -> None:
    trace = run(tiny_gated(5), CONFIG, TABLE)
    states = States(trace, TABLE)
    for index, round_ in enumerate(some(trace.rounds)):
        found = two_trees(states, index)
        assert found is not None
        for row in found.both.nodes:
            if row.node > 0:
                member = found.members[row.node]
                assert row.word.startswith(MEMBERS[member])
                assert (row.aligned is None) == (member == "blind") == (row.aligned_rank is None)
                if member != "blind":
                    assert row.aligned == round_.tree.aligned[row.node]


def test_the_figure_tells_the_three_kinds_apart_by_mark_line_and_colour() -> None:
    trace = presto.load_recording("Fibonacci: code").traces[0]
    figure = viz.two_trees_figure(trace, 2)
    marks = {t.legendgroup: t for t in figure.data if t.ids is not None}
    lines = {t.legendgroup: t for t in figure.data if t.mode == "lines"}
    assert len({(marks[m].marker.symbol, marks[m].marker.color, marks[m].name) for m in MARKS}) == 3
    assert len({marks[m].marker.symbol for m in MARKS}) == 3
    assert len({marks[m].marker.color for m in MARKS}) == 3
    assert len({(lines[m].line.width, lines[m].line.dash) for m in MARKS}) == 3
    nodes = [int(node) for trace in marks.values() for node in trace.ids]
    assert len(nodes) == len(set(nodes))
    assert lines["text"].line.width > max(lines[m].line.width for m in MARKS)
    with pytest.raises(ValueError, match="nothing was drafted there"):
        viz.two_trees_figure(presto.load_recording("Fibonacci: code").traces[-1])


def test_the_answer_has_both_trees_by_the_same_numbers() -> None:
    path = Path(viz.__file__).parents[1] / "assets" / "runs" / "2-fibonacci.json.gz"
    trace = presto.load_recording(path).traces[0]
    question = Question(trace, trace.config)
    answer = json.loads(json.dumps(trees_answer(question, 2)))
    found = two_trees(question.states, 2)
    assert found is not None
    assert answer["sentence"] == found.sentence
    assert answer["sentence"].startswith("Aligned: 7 tokens, lost at +6, where ‘0’ has rank 73. ")
    whole = _get_both_plot(_get_both_info(found))
    assert answer["both"]["tree"] == json.loads(json.dumps(whole._asdict()))
    token = {}
    for view in ("blind", "both"):
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in answer[view]["rows"]]
        drawn = [int(n) for t in answer[view]["tree"]["data"] for n in t.get("ids", ())]
        assert sorted(drawn) == sorted(row["node"] for row in rows)
        token[view] = {row["node"]: row["token"] for row in rows if row["node"] != BONUS}
        labels = [row["labels"][0] for row in rows if "◂" in row["labels"][0]]
        assert labels == (view == "both") * labels
    assert token["blind"].items() <= token["both"].items()
    assert len(labels) == len(found.lost) == 2
    with pytest.raises(ValueError, match="whole number from 0 to 22"):
        trees_answer(question, 23)


def test_a_round_without_drafts_has_no_trees() -> None:
    trace = run(tiny_gated(5), replace(CONFIG, max_new_tokens=3), TABLE, method="ar")
    assert two_trees(States(trace, TABLE), 0) is None
