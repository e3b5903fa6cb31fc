"""What is said of a film: sums that add up, the path of every row, the mask of the target."""

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.models.tables import table_of
from presto.records import DecodeConfig, Tree, changed
from presto.runs.states import States
from presto.scorers import SCORERS
from tests.support.checks import some
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.plugins import own_ones
from tests.support.replayable import BEAM, REAL, TRACE, hostile, under
from tests.support.runs import PROMPT, TABLE, run
from tests.support.scorers import USUAL
from tests.support.strategies import changes
from ui.explore_payload import shown_first
from ui.film_payload import film_value
from ui.payload import dump
from ui.questions import Question
from ui.what_if import film_answer
from viz.alternatives import why_not
from viz.film import FIRST, FilmInfo, _get_film_info, seen_by
from viz.text import full_label, label, path_text
from viz.tree import tree_figure
from viz.view import view_of

CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, seed=4, top_k=12)


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def film(index: int, **settings: Any) -> FilmInfo:
    states = States(TRACE, table_of(TRACE.system))
    info = _get_film_info(states, index, changed(TRACE.config, settings))
    assert info is not None
    return info


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("scorer", USUAL)
def test_every_score_is_the_sum_of_its_parts(scorer: str, normalised: bool) -> None:
    corrects = SCORERS[scorer].corrects
    for search in ("best_first", "beam", "linear"):
        info = film(4, scorer=scorer, normalised=normalised, search=search, budget=24)
        parts = 2 + corrects + (normalised and corrects)
        for row in some(info.rows):
            assert len(row.parts) == len(info.heads)
            total, *values = map(number, (row.parts[0], *row.parts[-parts:]))
            assert total == pytest.approx(sum(values), abs=0.005 * (parts + 1))
            if row.depth == 1:
                assert row.parts[-parts] == "0.00"


def test_the_parts_are_those_of_the_tree() -> None:
    info, tree = film(4), TRACE.rounds[4].tree
    rows = {row.node: row for row in info.rows if row.node}
    assert sorted(rows) == [*range(1, len(tree.tokens))]
    assert info.heads == ("path score", "before", "log q", "λ·log ρ", "normalised")
    for node, row in rows.items():
        total, before, log_q, log_rho, _ = map(number, row.parts)
        assert total == pytest.approx(tree.aligned[node], abs=0.0051)
        assert before == pytest.approx(tree.aligned[tree.parents[node]], abs=0.0051)
        assert log_q == pytest.approx(tree.log_q[node], abs=0.0051)
        assert log_rho == pytest.approx(TRACE.config.lam * tree.log_rho[node], abs=0.0051)


def test_a_step_names_the_node_that_it_takes() -> None:
    info, view = film(4), view_of(TRACE, 4)
    taken = [step for step in info.steps if step.row is not None]
    assert [info.rows[step.row or 0].node for step in taken] == [row.node for row in view.drafted]
    for step, node in zip(taken, view.drafted, strict=True):
        row = info.rows[step.row or 0]
        assert (row.token, row.depth) == (label(view.pieces[node.token]), node.depth)
        assert f"Node {node.node}: “{node.full}” below " in step.sentence
        above = [view.pieces[view.nodes[n].token] for n in info.sees[node.node][1:-1]]
        assert row.above == path_text(above, 40)
    assert info.steps[0].sentence == "The search opens the root: 32 candidates below it."
    assert info.steps[-1].sentence.endswith(" The budget is used.")
    for step in info.steps:
        assert {info.rows[row].node for row in step.queue} <= {
            None,
            *range(step.taken + 1, len(view.drafted) + 1),
        }


def test_a_beam_tells_its_frontier_by_depth() -> None:
    info = film(5, **BEAM)
    opening = [step for step in info.steps if step.row is None]
    assert len(opening) == len(info.levels)
    first, second, *_ = (step.sentence for step in opening)
    assert first == (
        "Depth +1: the beam opens the root, 32 candidates; the best 6 of them are opened next."
    )
    assert second.startswith("Depth +2: the beam opens 6 nodes, 192 candidates; ")
    assert opening[-1].sentence.endswith(" Now the best of all depths are taken.")
    for level in info.levels:
        assert {info.rows[row].depth for row in level.rows} <= {level.depth}
    wide = film(5, **BEAM | {"beam_width": 40})
    assert (len(wide.levels[0].rows), wide.levels[0].more) == (12, 20)


def test_what_prompt_lookup_found_comes_first_and_says_so() -> None:
    found = []
    for index in range(len(TRACE.rounds)):
        info = film(index, lookup=4)
        for step in info.steps:
            if step.row is not None and FIRST in info.rows[step.row].parts:
                assert info.heads[1] == "counts as"
                assert "Prompt lookup found it" in step.sentence
                found.append(step.taken)
    assert 1 in found


def test_a_score_above_its_parents_counts_as_the_least_on_its_path() -> None:
    info = film(4, normalised=False, lam=2.0)
    said = [step for step in info.steps if "It counts as " in step.sentence]
    for step in some(said):
        total, counts, *_ = info.rows[step.row or 0].parts
        assert number(counts) < number(total)


def test_scorers_of_scripts_have_their_sums() -> None:
    with own_ones():
        config = replace(CONFIG, scorer="first_letter", search="staircase")
        trace = run(tiny_gated(5), config, TABLE)
        info = _get_film_info(States(trace, TABLE), 0, config)
        assert info is not None
        assert info.heads[-3:] == ("log q", "λ·log ρ", "normalised")


# ---- the mask -----------------------------------------------------------------------------------


def mask_of(tree: Tree) -> np.ndarray:
    """What the target is given for a tree: the part of its mask behind the cache."""
    session = tiny_gated(5).start(PROMPT, 256)
    plan = session.plan(tree)
    return plan.mask[:, -len(tree.tokens) :].numpy()


@settings(max_examples=examples(60), deadline=None)
@given(own=changes)
def test_the_mask_is_the_one_that_the_target_gets(own: dict[str, Any]) -> None:
    config = replace(CONFIG, **own)
    trace = run(tiny_gated(5), config, TABLE, most=2)
    for index, round_ in enumerate(trace.rounds):
        tree = round_.tree
        shown = np.zeros((len(tree.tokens),) * 2, bool)
        for row, columns in enumerate(seen_by(tree.parents)):
            shown[row, list(columns)] = True
        assert (shown == mask_of(tree)).all()
        info = _get_film_info(States(trace, TABLE), index, config)
        if info is not None:
            assert info.sees == seen_by(tree.parents)


@given(st.integers(1, 40), st.randoms())
def test_any_row_sees_its_ancestors_from_the_root_down_to_itself(
    size: int, rng: random.Random
) -> None:
    parents = (-1, *(rng.randrange(node) for node in range(1, size)))
    for node, columns in enumerate(seen_by(parents)):
        assert columns[0] == 0
        assert columns[-1] == node
        assert all(parents[child] == parent for parent, child in pairwise(columns))


def test_a_row_is_told_in_words() -> None:
    info, view = film(4), view_of(TRACE, 4)
    assert info.seen[0] == f"Row 0, “{full_label(view.pieces[view.nodes[0].token])}”, sees itself."
    for node, columns in enumerate(info.sees):
        ends = {1: "sees itself.", 2: "sees the root and itself."}
        ends[3] = "sees the root, the node between and itself."
        many = f"sees the root, the {len(columns) - 2} nodes between and itself."
        assert info.seen[node].endswith(ends.get(len(columns), many))
    earlier = States(TRACE, table_of(TRACE.system)).root(4)
    assert f"the {earlier} tokens before the root" in info.mask


# ---- the answer ---------------------------------------------------------------------------------


def test_the_answer_is_the_film_with_its_tree_where_the_round_has_it() -> None:
    question = Question(TRACE, TRACE.config)
    answer = json.loads(dump(film_answer(question, 4)))
    tree = TRACE.rounds[4].tree
    assert [node["parent"] for node in answer["nodes"]] == [*tree.parents]
    drawn = {
        int(node): [x, y]
        for trace in tree_figure(TRACE, 4).data
        if trace.ids is not None
        for node, x, y in zip(trace.ids, trace.x, trace.y, strict=True)
    }
    assert [drawn[n] for n in range(len(tree.tokens))] == [n["place"] for n in answer["nodes"]]
    assert answer["sees"] == [list(row) for row in seen_by(tree.parents)]
    assert len(answer["steps"]) == len(tree.tokens)


def test_a_film_of_512_nodes_is_small_enough_to_send() -> None:
    info = film(5, budget=512)
    assert len(dump(film_value(info))) < 400_000


def test_foreign_text_is_made_visible() -> None:
    trace = shown_first(hostile())
    states = States(trace, table_of(trace.system))
    info = _get_film_info(states, 5, trace.config)
    assert info is not None
    texts = [*(row.token for row in info.rows), *(step.sentence for step in info.steps)]
    assert not any(ord(char) < 32 for text in texts for char in text)


def test_what_cannot_be_filmed_is_refused() -> None:
    question = Question(TRACE, TRACE.config)
    with pytest.raises(ValueError, match="whole number from 0 to 22"):
        film_answer(question, 23)
    plain = Question(REAL.traces[-1], REAL.traces[-1].config)
    assert film_answer(plain, 0) == {
        "problem": "Nothing was drafted in this round, whatever the settings."
    }


def test_runs_made_for_the_browser_are_exact() -> None:
    for settings_ in (BEAM, {"budget": 512}, {"search": "linear"}):
        (trace,) = under("Title", **settings_).traces
        assert why_not(trace) == ""
