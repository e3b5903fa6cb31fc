import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.build import build_tree
from presto.kernels.candidates import candidates_of
from presto.kernels.counts import has_trigrams
from presto.kernels.ngram import NgramModel
from presto.kernels.problem import IMPLIED, ONE, UNIGRAM, Rule, problem_of
from presto.kernels.rows import known_row, ngram_rows
from presto.kernels.scoring import compute_row
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Marginals
from presto.records.tree import children, depths
from presto.scorers import SCORERS as RECORDS
from tests.support.scorers import USUAL
from tests.support.strategies import VOCAB, contexts, marginals, ngrams

BUILT_IN = {name: RECORDS[name] for name in USUAL}
SCORERS = st.sampled_from(sorted(BUILT_IN))
EVERYTHING = {"budget": 1024, "top_k": VOCAB, "draft_length": 2, "search": "best_first"}


def own(values: tuple[float, ...], parents: tuple[int, ...]) -> list[float]:
    """Path sums back to increments."""
    return [value - values[max(parent, 0)] for value, parent in zip(values, parents, strict=True)]


@given(marginals(2), ngrams(), contexts, SCORERS, st.floats(0, 4))
def test_normalised_children_keep_the_mass_of_the_marginal(
    pair_marginals, pair, context, scorer, lam
) -> None:
    config = DecodeConfig(scorer=scorer, normalised=True, lam=lam, **EVERYTHING)
    tree, _ = build_tree(pair_marginals, context, pair[0], config)
    increments, depth = own(tree.aligned, tree.parents), depths(tree.parents)
    for group in filter(None, children(tree.parents)):
        mass = sum(math.exp(x) for x in pair_marginals.log_q[depth[group[0]] - 1])
        assert sum(math.exp(increments[node]) for node in group) == pytest.approx(mass, abs=1e-4)


@given(marginals(2), ngrams(), contexts, SCORERS, st.sampled_from([0.2, 0.7, 2.0]))
def test_plain_scores_are_the_formula(pair_marginals, pair, context, scorer, lam) -> None:
    config = DecodeConfig(scorer=scorer, normalised=False, lam=lam, **EVERYTHING)
    tree, _ = build_tree(pair_marginals, context, pair[0], config)
    increments, depth = own(tree.aligned, tree.parents), depths(tree.parents)
    for node in range(1, len(tree.tokens)):
        level = depth[node] - 1
        expected = tree.log_q[node] + lam * tree.log_rho[node]
        if scorer == "learned":
            expected = tree.log_q[node] + tree.log_rho[node]
        if scorer == "dart":
            expected = (level + 1) ** -0.7 * (
                0.9**level * tree.log_q[node] + 0.5 * tree.log_rho[node]
            )
        assert increments[node] == pytest.approx(expected, abs=2e-5)


@given(marginals(2, least_depth=2, full=True), ngrams(), contexts)
def test_mixture_averages_back_to_the_marginal(pair_marginals, pair, context) -> None:
    """Σ_b q_1(b)·q_2(t)·ρ(t | b) = q_2(t) at λ = 1 when the candidates are the whole vocabulary."""
    config = DecodeConfig(scorer="mixture", normalised=False, lam=1.0, **EVERYTHING)
    tree, _ = build_tree(pair_marginals, context, pair[0], config)
    depth = depths(tree.parents)
    for rank, log_q in enumerate(pair_marginals.log_q[1]):
        nodes = [i for i, d in enumerate(depth) if d == 2 and tree.rank[i] == rank]
        assert len(nodes) == VOCAB
        averaged = sum(math.exp(tree.aligned[i]) for i in nodes)
        assert averaged == pytest.approx(math.exp(log_q), rel=1e-3)


@given(marginals(2), ngrams(), contexts, SCORERS, st.booleans())
def test_the_first_level_is_corrected_where_asked_and_where_that_means_something(
    pair_marginals, pair, context, scorer, correct_first
) -> None:
    model, plain = pair
    config = DecodeConfig(
        scorer=scorer, correct_first=correct_first, order=plain.order, **EVERYTHING
    )
    tree, _ = build_tree(pair_marginals, context, model, config)
    first = [i for i, parent in enumerate(tree.parents) if parent == 0]
    assert {tree.tokens[i] for i in first} == set(pair_marginals.token_ids[0])
    corrected = correct_first and scorer in ("product", "pmi", "dual", "learned")
    for node in first:
        if corrected and scorer in ("dual", "learned"):
            break  # see test_equals_the_plain_python_search
        rho = plain.probability(context, tree.tokens[node]) if corrected else 1.0
        if corrected and scorer == "pmi":
            rho /= plain.probability((), tree.tokens[node])
        assert tree.log_rho[node] == pytest.approx(math.log(rho), abs=1e-5)
    if not corrected:
        assert [tree.aligned[i] for i in first] == [tree.blind[i] for i in first]


@given(marginals(), contexts, ngrams(), st.sampled_from([ONE, UNIGRAM, IMPLIED]), st.booleans())
def test_each_row_is_computed_once_and_shared_by_nodes_with_the_same_scores(
    drafted, context, pair, over, normalised
) -> None:
    depth, width = len(drafted.token_ids), len(drafted.token_ids[0])
    rule = Rule(np.ones((depth, 2)), over != IMPLIED, normalised, over)
    offered = candidates_of(drafted, DecodeConfig(), context)
    problem = problem_of(offered, context, pair[0].counts, rule)
    nodes = [
        (level, grand, parent)
        for level in range(depth)
        for grand in range(width if level > 1 else 1)
        for parent in range(width if level > 0 else 1)
    ]

    def row_of(level: int, grand: int, parent: int) -> tuple[int, ...]:
        path = [(level - 2, grand), (level - 1, parent)][2 - min(level, 2) :]
        tokens = [drafted.token_ids[position][rank] for position, rank in path]
        first, last = (-1, *context, *tokens)[-2:]
        alone = over == IMPLIED or has_trigrams(problem.counts, first, last)
        return (level, parent, grand) if alone else (level, parent)

    expected = {row_of(*node) for node in nodes}
    rows = ngram_rows(problem, len(expected))
    found = {
        node: compute_row(problem, rows, *node) for node in nodes if known_row(rows, *node) < 0
    }
    assert len(set(found.values())) == len(expected) == rows.used[0]
    assert [known_row(rows, *node) for node in found] == list(found.values())
    with pytest.raises(IndexError, match="more rows than it declared"):
        compute_row(problem, ngram_rows(problem, 0), 0, 0, 0)


def test_pmi_lifts_what_the_prefix_makes_likely() -> None:
    ngram = NgramModel(10, NgramTable.build([[1, 2, 3, 4] * 20, [5, 6, 7, 8] * 20], 10))
    drafted = Marginals(
        ((2, 6), (7, 3)), ((math.log(0.5), math.log(0.4)), (math.log(0.5), math.log(0.4)))
    )
    tree, _ = build_tree(drafted, [1], ngram, DecodeConfig(scorer="pmi", budget=6))
    assert tree.tokens[1:3] == (2, 3)
    assert min(tree.log_rho[1:3]) > 1


def test_unlisted_mass_of_a_mixture_implies_the_unigram() -> None:
    ngram = NgramModel(4, NgramTable.build([[0, 1, 2, 3, 0, 2, 1]], 4), order=2)
    drafted = Marginals(((1,), (2,)), ((math.log(0.25),), (0.0,)))
    tree, _ = build_tree(drafted, [0], ngram, DecodeConfig(scorer="mixture", order=2))
    given_one, alone = math.exp(ngram.logprob([1], 2)), math.exp(ngram.logprob([], 2))
    assert tree.log_rho[2] == pytest.approx(
        math.log(given_one / (0.25 * given_one + 0.75 * alone)), abs=1e-5
    )
