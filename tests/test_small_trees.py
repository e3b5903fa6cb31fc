"""The small trees of the lanes: every node of the round, with its verdict, where the large picture
has it.
"""

import json
from pathlib import Path

import pytest

from presto.records import load_recording
from tests.support import synthetic
from tests.support.checks import some
from tests.support.node import evaluate
from ui.compare_payload import STYLE, recorded_value
from viz.small_trees import small_style, small_tree, small_tree_words
from viz.theme import STATUS_NAMES, dark_of_light
from viz.tree import _get_tree_info
from viz.view import view_of

TRACE = synthetic.trace(seed=5, rounds=6, budget=24, pieces=synthetic.HOSTILE)


def test_a_small_tree_has_every_node_of_the_large_one() -> None:
    for index, round_ in enumerate(TRACE.rounds):
        view = view_of(TRACE, index)
        tree, info = small_tree(view), _get_tree_info(view)
        assert tree.root == round_.start
        assert {node.node for node in some(tree.nodes)} == set(info.nodes)
        for node in tree.nodes:
            row, (depth, breadth) = info.nodes[node.node], info.positions[node.node]
            assert (node.depth, node.breadth) == (depth, pytest.approx(breadth, abs=0.006))
            assert (node.status, node.token, node.full) == (row.status, row.token, row.full)
        accepted = f"{len(round_.accepted)} of 24 drafted nodes accepted, then the target’s own"
        assert small_tree_words(view) == accepted


def test_a_root_without_an_exact_token_stands_one_before_the_round() -> None:
    plain = synthetic.trace(rounds=2, budget=0)
    assert small_tree(view_of(plain, 1)).root == plain.rounds[1].start - 1
    assert small_tree_words(view_of(plain, 1)).startswith("nothing drafted")


def test_every_verdict_has_its_mark_its_line_and_a_dark_partner() -> None:
    style, dark = small_style(), dark_of_light()
    assert {one["status"] for one in style["verdicts"]} == set(STATUS_NAMES)
    for one in style["verdicts"]:
        assert one["marker"]["color"] in dark
        assert (one["line"] is None) == (one["status"] == "root")
    marks = {one["marker"]["symbol"] for one in style["verdicts"]}
    assert len(marks) == len(STATUS_NAMES)


def test_real_lanes_share_keys_wherever_their_trees_share_text() -> None:
    """Node for node: equal keys are equal tokens behind equal text."""
    path = Path(__file__).parents[1] / "assets" / "runs" / "2-fibonacci.json.gz"
    recording = load_recording(path)
    value = recorded_value(recording)
    assert json.loads(value["head"])["style"] == json.loads(json.dumps(STYLE))
    trace = recording.traces[0]
    text = [*trace.prompt_ids, *(t for round_ in trace.rounds for t in round_.committed)]
    meanings: dict[str, tuple[int, ...]] = {}
    shared = 0
    for lane in value["lanes"]:
        trees = [json.loads(body)["tree"] for body in lane["rounds"]]
        read = evaluate("small_trees.js", "data.map(logic.readTree)", trees)
        for tree, rows in zip(trees, read, strict=True):
            by_node = {row["node"]: row for row in rows}
            for row in rows:
                root, path_, here = tree["root"], [], row
                while here["parent"] in by_node:
                    path_.insert(0, here["token"])
                    here = by_node[here["parent"]]
                meaning = (*text[: root + 1], *path_)
                shared += row["key"] in meanings
                assert meanings.setdefault(row["key"], meaning) == meaning
    assert shared > 500
