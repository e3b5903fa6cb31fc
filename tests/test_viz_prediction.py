"""Path scores against the target's log-probability: the correlations are Spearman's, the ranks
those of the tree.
"""

import math
from dataclasses import replace

import pytest

from presto.records import Choice, Marginals, Round, Stages, Trace, Tree
from tests.support import synthetic
from viz import prediction_figure
from viz.prediction import (
    _get_prediction_info,
    _get_prediction_plot,
    _get_prediction_sentence,
    path_log_p,
    rank_correlation,
)
from viz.view import view_of

# root → 1, 2; 1 → 3; 2 → 4
TREE = Tree(
    tokens=(0, 1, 2, 3, 4),
    parents=(-1, 0, 0, 1, 2),
    rank=(0, 0, 1, 0, 1),
    log_q=(0.0, -0.5, -1.0, -1.5, -0.25),
    log_rho=(0.0,) * 5,
    blind=(0.0, -0.5, -1.0, -2.0, -1.25),
    aligned=(0.0, -0.9, -0.4, -3.0, -0.6),
)


def hand_made(normalised: bool = True, **changes: object) -> Trace:
    round_ = Round(
        start=3,
        exact=None,
        marginals=Marginals(),
        tree=TREE,
        log_p=(0.0, -2.0, -0.25, -1.0, -0.5),
        accepted=(2, 4),
        choice=Choice(5),
        committed=(2, 4, 5),
        margin=1.0,
        forwards=1,
        seconds=Stages(),
    )
    trace = synthetic.trace(rounds=0)
    config = replace(trace.config, normalised=normalised)
    return replace(trace, config=config, rounds=(replace(round_, **changes),))  # type: ignore[arg-type]


def test_hand_computed_correlations_and_ranks() -> None:
    info = _get_prediction_info(view_of(hand_made(), 0))
    assert {row.node: value for row, value in zip(info.nodes, info.target, strict=True)} == {
        1: -2.0,
        2: -0.25,
        3: -3.0,
        4: -0.75,
    }
    # by node 1..4: target ranks 3 1 4 2, blind 1 2 4 3 (d² = 4 + 1 + 0 + 1), aligned 3 1 4 2
    assert info.blind_correlation == pytest.approx(1 - 6 * 6 / (4 * 15))
    assert info.aligned_correlation == pytest.approx(1)
    assert info.blind_mean_rank == 2.5  # ranks 2 and 3
    assert info.aligned_mean_rank == 1.5


def test_legend_says_the_correlations() -> None:
    names = [part.name for part in prediction_figure(hand_made()).data[1:]]
    assert names == ["prefix-blind, rank correlation 0.40", "prefix-aligned, rank correlation 1.00"]


def test_ties_share_their_rank() -> None:
    # ranks 1.5 1.5 3 4 against 1 2 3 4: covariance 4.5, variances 4.5 and 5
    assert rank_correlation([1, 1, 2, 3], [10, 20, 30, 40]) == pytest.approx(
        4.5 / math.sqrt(4.5 * 5)
    )
    assert rank_correlation([3, 1, 2], [1, 3, 2]) == pytest.approx(-1)


@pytest.mark.parametrize(
    "pair", [([1.0, 2.0], [1.0, 2.0]), ([1.0] * 5, [1.0, 2, 3, 4, 5]), ([1.0, 2, 3], [0.0] * 3)]
)
def test_no_correlation_without_nodes_or_variance(pair: tuple[list[float], list[float]]) -> None:
    assert rank_correlation(*pair) is None


def test_a_monotonic_map_keeps_the_correlation() -> None:
    values, other = [0.3, -2.0, 1.1, 5.0, 0.2], [1.0, 0.0, 3.0, 2.0, -4.0]
    assert rank_correlation(values, other) == pytest.approx(
        rank_correlation([math.exp(v) for v in values], other)
    )


def test_points_are_the_scores_and_accepted_ones_are_larger() -> None:
    info = _get_prediction_info(view_of(hand_made(), 0))
    line, blind, aligned = _get_prediction_plot(info).figure().data
    assert list(blind.ids) == ["1:b", "3:b", "2:b", "4:b"]
    assert list(aligned.ids) == ["1:a", "3:a", "2:a", "4:a"]
    assert list(blind.x) == [-0.5, -2.0, -1.0, -1.25]
    assert list(aligned.x) == [-0.9, -3.0, -0.4, -0.6]
    assert list(blind.y) == list(aligned.y) == [-2.0, -3.0, -0.25, -0.75]
    small, large = blind.marker.size[0], blind.marker.size[2]
    assert list(aligned.marker.size) == [small, small, large, large]
    assert large > small
    assert blind.marker.symbol != aligned.marker.symbol
    assert list(line.x) == list(line.y) == [-3.0, 0]


def test_the_diagonal_is_drawn_for_normalised_scores_only() -> None:
    assert len(prediction_figure(hand_made(normalised=False)).data) == 2


def test_nothing_accepted_has_no_mean_rank() -> None:
    trace = hand_made(accepted=(), choice=Choice(5), committed=(5,))
    info = _get_prediction_info(view_of(trace, 0))
    assert (info.blind_mean_rank, info.aligned_mean_rank) == (None, None)
    assert _get_prediction_sentence(info) == "Nothing of the tree was accepted in this round."


def test_a_round_without_a_tree_says_so() -> None:
    figure = prediction_figure(synthetic.trace(rounds=1, budget=0))
    assert not figure.data
    assert "Nothing was drafted" in figure.layout.annotations[0].text


def test_one_node_has_no_correlation() -> None:
    info = _get_prediction_info(view_of(synthetic.trace(rounds=1, budget=1), 0))
    assert len(info.nodes) == 1
    assert info.blind_correlation is None
    assert "no rank correlation" in _get_prediction_plot(info).figure().data[1].name


def test_all_512_nodes_are_there() -> None:
    trace = synthetic.trace(rounds=1, budget=512, depth=15)
    info, round_ = _get_prediction_info(view_of(trace, 0)), trace.rounds[0]
    assert sorted(row.node for row in info.nodes) == list(range(1, 513))
    assert [row.node for row in info.nodes][-len(round_.accepted) :] == list(round_.accepted)
    assert info.target[-1] == pytest.approx(sum(round_.log_p[i] for i in round_.accepted), abs=1e-4)
    blind = [row.blind for row in info.nodes]
    assert info.blind_correlation == rank_correlation(blind, info.target)


def test_path_sums_keep_ties() -> None:
    round_ = replace(hand_made().rounds[0], log_p=(0.0, -0.1, -0.3, -0.3, -0.1))
    assert path_log_p(round_) == [0.0, -0.1, -0.3, -0.4, -0.4]


def test_hostile_tokens_are_spelled_and_the_hover_is_constant() -> None:
    trace = synthetic.trace(5, rounds=1, budget=100, pieces=synthetic.HOSTILE)
    points = prediction_figure(trace).data[1:]
    shown = str([list(part.customdata) for part in points])
    assert all(mark not in shown for mark in ("<", ">", "$", "\u202e"))
    assert "&lt;img" in shown
    assert len({part.hovertemplate for part in points}) == 1
