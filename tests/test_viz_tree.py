"""The tree figure: its info is right, its layout tidy, its drawing says what the info says."""

import math
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import pytest

from presto.records import Trace
from presto.records.tree import verdicts
from tests.support import synthetic
from tests.support.checks import some
from viz import tree_figure
from viz.layout import tidy_layout
from viz.nodes import BONUS, CUT
from viz.tree import LABELLED, _get_tree_info, _get_tree_plot
from viz.view import round_sentence, view_of

TRACES = {
    "empty": synthetic.trace(1, rounds=1, budget=0),
    "one round": synthetic.trace(2, rounds=1, budget=4),
    "usual": synthetic.trace(3, rounds=3, budget=32),
    "512": synthetic.trace(4, rounds=2, budget=512, depth=15),
    "hostile": synthetic.trace(5, rounds=3, budget=20, pieces=synthetic.HOSTILE),
}
any_trace = pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)


@any_trace
def test_info_has_every_node_once_and_the_bonus(trace: Trace) -> None:
    for index, round_ in enumerate(trace.rounds):
        info = _get_tree_info(view_of(trace, index))
        assert set(info.nodes) == {*range(len(round_.tree.tokens)), BONUS}
        assert [info.nodes[i].status for i in range(len(round_.tree.tokens))] == verdicts(round_)
        assert nx.is_arborescence(info.graph)


@any_trace
def test_layout_is_tidy(trace: Trace) -> None:
    info = _get_tree_info(view_of(trace, 0))
    rows: dict[float, list[float]] = {}
    for node, (depth, breadth) in info.positions.items():
        assert depth == info.nodes[node].depth
        rows.setdefault(depth, []).append(breadth)
        below = [info.positions[child][1] for child in info.graph.successors(node)]
        if below:
            assert breadth == pytest.approx((below[0] + below[-1]) / 2)
            assert below == sorted(below)
    for breadths in rows.values():
        ordered = sorted(breadths)
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(ordered))


def test_edges_never_cross() -> None:
    info = _get_tree_info(view_of(TRACES["512"], 0))
    levels: dict[float, list[tuple[float, float]]] = {}
    for parent, child in info.graph.edges:
        (depth, start), (_, end) = info.positions[parent], info.positions[child]
        levels.setdefault(depth, []).append((start, end))
    for edges in some(levels.values()):
        edges.sort()
        ends = [end for _, end in edges]
        assert ends == sorted(ends)


def test_siblings_stand_in_score_order_the_bonus_first() -> None:
    info = _get_tree_info(view_of(TRACES["usual"], 0))
    for node in info.graph:
        drafted = [child for child in info.graph.successors(node) if child != BONUS]
        scores = [info.nodes[child].aligned or 0.0 for child in drafted]
        assert scores == sorted(scores, reverse=True)
        assert BONUS not in list(info.graph.successors(node))[1:]
    assert BONUS in info.graph


def test_single_node_layout() -> None:
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_node(0)
    assert tidy_layout(graph, 0) == {0: (0.0, 0.0)}


@any_trace
@pytest.mark.parametrize("vertical", [False, True])
def test_figure_draws_every_node_once_by_status(trace: Trace, vertical: bool) -> None:
    info = _get_tree_info(view_of(trace, 0))
    figure = _get_tree_plot(info, vertical=vertical).figure()
    drawn = {int(node): part for part in figure.data for node in part.ids or ()}
    assert set(drawn) == set(info.nodes)
    assert {node: part.legendgroup for node, part in drawn.items()} == {
        n: r.status for n, r in info.nodes.items()
    }
    assert figure.layout.template.layout.to_plotly_json() == {}


def test_hostile_tokens_are_spelled_and_the_hover_is_constant() -> None:
    figure = tree_figure(TRACES["hostile"], round=1)
    nodes = [part for part in figure.data if part.ids]
    assert len({part.hovertemplate for part in nodes}) == 1
    shown = "".join(map(str, (part.text for part in nodes))) + str(
        [list(part.customdata) for part in nodes]
    )
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "$x$" not in shown


def test_large_trees_keep_labels_where_the_target_was_asked() -> None:
    trace = TRACES["512"]
    info = _get_tree_info(view_of(trace, 0))
    assert info.unlabelled == sum(row.status == "beyond" for row in info.nodes.values()) > LABELLED
    assert f"+{info.unlabelled} more" in _get_tree_plot(info).figure().layout.annotations[0].text


def test_rows_carry_both_scores_ranks_and_paths() -> None:
    trace = TRACES["usual"]
    tree = trace.rounds[0].tree
    rows = view_of(trace, 0).nodes[1:-1]
    assert sorted(row.blind_rank or 0 for row in rows) == list(range(1, len(rows) + 1))
    assert [row.aligned for row in rows] == list(tree.aligned[1:])
    assert [row.path.endswith(row.full) for row in rows] == [True] * 32
    probabilities = [math.exp(log_p) for log_p in trace.rounds[0].log_p[1:]]
    assert [row.probability for row in rows] == pytest.approx(probabilities)


def test_a_run_cut_by_the_cap_has_no_bonus_and_says_so() -> None:
    trace = TRACES["usual"]
    whole = next(r for r in trace.rounds if r.accepted)
    cut = replace(whole, start=3, committed=whole.committed[:1])
    short = replace(trace, rounds=(cut,))
    rows = view_of(short, 0).nodes
    assert not {"bonus", "accepted"} & {row.status for row in rows}
    assert [row.node for row in rows if row.word == CUT] == list(whole.accepted)
    assert "the run ended" in round_sentence(view_of(short, 0))


def test_sentence_of_an_autoregressive_round() -> None:
    assert round_sentence(view_of(TRACES["empty"], 0)).startswith("nothing drafted")
