import itertools
import math
import random
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.build import build_tree
from presto.kernels.ngram import NgramModel
from presto.kernels.noise import gumbel
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.tree import children, path
from presto.searches import SEARCHES
from tests.support.examples import examples
from tests.support.plain_ngram import PlainNgram
from tests.support.strategies import (
    VOCAB,
    configs,
    contexts,
    marginals,
    ngrams,
    plain_tree,
)


@settings(max_examples=examples(400))
@given(marginals(), contexts, ngrams(), configs)
def test_equals_the_plain_python_search(drafted, context, pair, config) -> None:
    config = replace(config, order=pair[1].order)
    tree, seconds = build_tree(drafted, context, pair[0], config)
    assert tree == plain_tree(drafted, context, pair[1], config)
    assert min(seconds) >= 0


@settings(max_examples=examples(150))
@given(
    marginals(least_depth=3, least_width=3),
    contexts,
    st.integers(0, 2**32 - 1),
    st.integers(10, 60),
    st.sampled_from(["product", "pmi"]),
)
def test_nodes_share_their_scores_only_where_the_counts_cannot_tell_them_apart(
    drafted, context, seed, length, scorer
) -> None:
    """Deep trees over texts that have seen some pairs of tokens and others not."""
    text = random.Random(seed).choices(range(VOCAB), k=length)
    ngram, oracle = NgramModel(VOCAB), PlainNgram(VOCAB, 3, online=text)
    ngram.extend(text)
    config = DecodeConfig(scorer=scorer, budget=60, lam=2.5, normalised=False)
    tree, _ = build_tree(drafted, context, ngram, config)
    assert tree == plain_tree(drafted, context, oracle, config)


@given(marginals(), contexts, ngrams(), configs)
def test_every_result_is_a_draft_tree(drafted, context, pair, config) -> None:
    tree, _ = build_tree(drafted, context, pair[0], config)
    assert tree.tokens[0] == context[-1]
    assert len(tree.tokens) - 1 <= config.budget
    depth, width = (
        min(len(drafted.token_ids), config.draft_length),
        min(len(drafted.token_ids[0]), config.top_k),
    )
    for node in range(1, len(tree.tokens)):
        level, rank = len(path(tree.parents, node)) - 1, tree.rank[node]
        assert level < depth
        assert rank < width or config.lookup  # one looked up keeps its place in the record
        assert tree.tokens[node] == drafted.token_ids[level][rank]
        assert tree.log_q[node] == drafted.log_q[level][rank]
        assert all(round(x[node], 5) == x[node] for x in (tree.log_rho, tree.blind, tree.aligned))
    for group in children(tree.parents):
        assert len({tree.tokens[node] for node in group}) == len(group)


@settings(max_examples=examples(300))
@given(marginals(), contexts, ngrams(), configs, st.integers(1, 60))
def test_the_tree_of_a_smaller_budget_is_the_beginning_of_a_larger_one(
    drafted, context, pair, config, more
) -> None:
    assert all(SEARCHES[name].nested for name in SEARCHES.built_in)
    smaller, _ = build_tree(drafted, context, pair[0], config)
    larger, _ = build_tree(drafted, context, pair[0], replace(config, budget=config.budget + more))
    size = len(smaller.tokens)
    assert smaller == Tree(*(getattr(larger, field.name)[:size] for field in fields(Tree)))
    assert size == min(len(larger.tokens), config.budget + 1)


@given(marginals(3), st.integers(1, 60), contexts, ngrams())
def test_blind_best_first_is_the_brute_force_top_of_path_products(
    drafted, budget, context, pair
) -> None:
    """DDTree: of all paths through the marginals, the B with the largest products."""
    tree, _ = build_tree(drafted, context, pair[0], DecodeConfig(scorer="blind", budget=budget))
    widths = [range(len(row)) for row in drafted.token_ids]
    every = [
        sum(round(drafted.log_q[level][rank] * 1e5) for level, rank in enumerate(ranks))
        for length in range(1, len(widths) + 1)
        for ranks in itertools.product(*widths[:length])
    ]
    every.sort(reverse=True)
    assert [round(x * 1e5) for x in tree.aligned[1:]] == every[:budget]
    assert tree.aligned == tree.blind


@given(marginals(), st.integers(1, VOCAB), contexts, ngrams(), st.booleans(), st.data())
def test_a_wide_beam_without_correction_is_best_first(
    drafted, budget, context, pair, normalised, data
) -> None:
    config = DecodeConfig(
        lam=0.0, budget=budget, beam_width=budget, normalised=normalised, search="beam"
    )
    beam, _ = build_tree(drafted, context, pair[0], config)
    best_first, _ = build_tree(drafted, context, pair[0], replace(config, search="best_first"))
    assert beam == best_first


def shape(tree: Tree) -> set[tuple[int, ...]]:
    return {
        tuple(tree.rank[i] for i in path(tree.parents, node)) for node in range(1, len(tree.tokens))
    }


@given(marginals(3), contexts, ngrams(), st.sampled_from([0.2, 0.5, 0.75]), st.integers(1, 30))
def test_product_is_geometric_interpolation(drafted, context, pair, lam, budget) -> None:
    """log q + λ/(1 - λ)·log p ranks as (1 - λ)·log q + λ·log p does."""
    config = DecodeConfig(
        scorer="product", normalised=False, lam=lam / (1 - lam), order=pair[1].order
    )
    everything, _ = build_tree(drafted, context, pair[0], replace(config, budget=1024))
    chosen, _ = build_tree(drafted, context, pair[0], replace(config, budget=budget))
    scores: dict[tuple[int, ...], float] = {}
    for node in range(1, len(everything.tokens)):
        parts = [
            (1 - lam) * everything.log_q[i] + lam * everything.log_rho[i]
            for i in path(everything.parents, node)
        ]
        scores[tuple(everything.rank[i] for i in path(everything.parents, node))] = sum(parts)
    least = min(scores[ranks] for ranks in shape(chosen))
    assert all(
        score <= least + 1e-4 for ranks, score in scores.items() if ranks not in shape(chosen)
    )


@given(marginals(), contexts, ngrams(), configs)
def test_linear_is_the_chain_of_likeliest_tokens(drafted, context, pair, config) -> None:
    tree, _ = build_tree(drafted, context, pair[0], replace(config, search="linear"))
    length = min(len(drafted.token_ids), config.draft_length, config.budget)
    assert tree.tokens[1:] == tuple(row[0] for row in drafted.token_ids[:length])
    assert tree.parents == tuple(range(-1, length))


def test_a_sampled_draft_follows_the_marginals_and_is_repeatable() -> None:
    likely = (-0.51083, -1.20397, -2.30259)  # .6 .3 .1
    drafted = Marginals(((4, 2, 1), (3, 0, 1)), (likely, likely))
    config = DecodeConfig(search="linear", sampled_draft=True, temperature=0.5)
    counts, draws = np.zeros((2, 3)), 4000
    for seed in range(draws):
        tree, _ = build_tree(drafted, [0, 3], NgramModel(5), replace(config, seed=seed))
        counts[[0, 1], tree.rank[1:]] += 1
    assert tree == build_tree(drafted, [0, 3], NgramModel(5), replace(config, seed=draws - 1))[0]
    expected = np.array([0.36, 0.09, 0.01]) / 0.46  # q^(1/T), normalised
    assert np.all(
        np.abs(counts / draws - expected) < 4 * np.sqrt(expected * (1 - expected) / draws)
    )
    for seed in range(20):
        noise = gumbel(seed, np.array([2, 3]), 3, stream=1)
        tree, _ = build_tree(drafted, [0, 3], NgramModel(5), replace(config, seed=seed))
        assert list(tree.rank[1:]) == [int(np.argmax(np.array(likely) / 0.5 + g)) for g in noise]
    greedy, _ = build_tree(drafted, [0, 3], NgramModel(5), replace(config, temperature=0.0))
    assert greedy.rank == (0, 0, 0)


def test_the_searches_of_a_single_path_say_so() -> None:
    drafted = Marginals(((4, 2, 1), (3, 0, 1)), ((-1.0, -1.1, -1.2), (-1.0, -1.1, -1.2)))
    for name, search in SEARCHES.items():
        tree, _ = build_tree(drafted, [0], NgramModel(5), DecodeConfig(search=name))
        assert search.single_path == (list(tree.parents) == list(range(-1, len(tree.tokens) - 1)))


@given(marginals(), contexts, ngrams(), configs)
def test_a_larger_budget_only_adds_nodes(drafted, context, pair, config) -> None:
    config = replace(config, search="best_first")
    small, _ = build_tree(drafted, context, pair[0], config)
    large, _ = build_tree(drafted, context, pair[0], replace(config, budget=config.budget + 5))
    assert large.parents[: len(small.parents)] == small.parents
    assert large.tokens[: len(small.tokens)] == small.tokens


def test_ties_go_to_the_shallower_node_then_to_the_lower_rank() -> None:
    drafted = Marginals(((4, 2), (1, 3)), ((-1.0, -2.0), (-1.0, -1.0)))
    tree, _ = build_tree(drafted, [0], NgramModel(5), DecodeConfig(scorer="blind", budget=6))
    assert tree.aligned[1:] == (-1.0, -2.0, -2.0, -2.0, -3.0, -3.0)
    assert tree.tokens[1:] == (4, 2, 1, 3, 1, 3)
    assert tree.parents[1:] == (0, 0, 1, 1, 2, 2)


def test_the_widest_settings_fit_into_a_key() -> None:
    rows = tuple(tuple(range(d, d + 64)) for d in range(31))
    flat = tuple(tuple([round(-math.log(64), 5)] * 64) for _ in range(31))
    for search in ("beam", "best_first"):
        config = DecodeConfig(
            scorer="blind", search=search, budget=1024, beam_width=1024, top_k=64, draft_length=31
        )
        tree, _ = build_tree(Marginals(rows, flat), [0], NgramModel(100), config)
        assert len(tree.tokens) == 1025
        assert tree.rank[1:65] == tuple(range(64))
    low = tuple(tuple([-1e4] * 64) for _ in range(31))
    chain, _ = build_tree(
        Marginals(rows, low), [0], NgramModel(100), replace(config, search="linear", lam=4.0)
    )
    assert chain.blind[-1] == -31e4


@pytest.mark.parametrize("drafted", [Marginals(), Marginals(((),), ((),))])
@pytest.mark.parametrize("search", ["linear", "beam", "best_first"])
def test_no_candidates_give_a_bare_root(drafted: Marginals, search: str) -> None:
    tree, _ = build_tree(drafted, [3], NgramModel(5), DecodeConfig(search=search))
    assert tree == Tree(tokens=(3,))


@pytest.mark.parametrize(
    ("context", "token", "message"),
    [([], 1, "at least the last"), ([9], 1, r"0\.\.4"), ([1], 7, r"0\.\.4")],
)
def test_tokens_outside_the_vocabulary_are_refused(
    context: list[int], token: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        build_tree(Marginals(((token,),), ((0.0,),)), context, NgramModel(5), DecodeConfig())


def test_the_order_of_the_settings_is_the_models() -> None:
    """A run of order 2 reads no trigrams, whatever the model holds."""
    drafted = Marginals(((1, 2), (3, 4)), ((-0.6, -0.8), (-0.6, -0.8)))
    config = DecodeConfig(scorer="pmi", budget=6, draft_length=2)
    text = [7, 1, 3, 5, 6, 1, 4, 7]
    models = {order: NgramModel(9, order=order) for order in (2, 3)}
    for model in models.values():
        model.extend(text)
    trees = {
        (asked, held): build_tree(drafted, text, models[held], replace(config, order=asked))[0]
        for asked, held in ((2, 2), (2, 3), (3, 3))
    }
    assert trees[2, 3] == trees[2, 2] != trees[3, 3]
