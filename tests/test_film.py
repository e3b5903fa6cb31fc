"""The film of a search takes exactly the nodes of the tree, in its order, and tells what waits."""

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.build import build_tree, film_tree
from presto.film import NEXT, Film
from presto.kernels.ngram import NgramModel
from presto.plain import Node, tree_of
from presto.records import DecodeConfig, Marginals, Tree
from presto.runs.states import States
from presto.searches import SEARCHES
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.plugins import OWN_SCORERS, OWN_SEARCHES, own_ones
from tests.support.runs import TABLE, run, scripted
from tests.support.scorers import USUAL
from tests.support.strategies import changes, configs, contexts, marginals, ngrams

CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, seed=4, top_k=12)


def scores(tree: Tree) -> tuple[Any, ...]:
    """All of a tree but the places of its tokens in the record, which prompt lookup can shift."""
    return tuple(vars(replace(tree, rank=(0,) * len(tree.rank))).values())


def check(film: Film, tree: Tree, config: DecodeConfig) -> None:
    """The nodes of the film are the tree, and every step tells the truth about the next."""
    assert scores(tree_of(tree.tokens[0], film.nodes, config.budget)) == scores(tree)
    assert film.steps[0].node is None
    assert [step.taken for step in film.steps if step.node] == [*range(1, len(tree.tokens))]
    for step in film.steps:
        assert len(step.queue) == min(NEXT, step.waiting)
        assert not {node.ranks for node in step.queue} & taken_by(film, step.taken)
    if config.search != "linear":
        for step, after in zip(film.steps, film.steps[1:], strict=False):
            assert [node.key for node in step.queue] == sorted(node.key for node in step.queue)
            if after.node is not None:
                assert step.queue[0] == after.node


def taken_by(film: Film, count: int) -> set[tuple[int, ...]]:
    return {node.ranks for node in film.nodes[:count]}


@settings(max_examples=examples(400), deadline=None)
@given(marginals(), contexts, ngrams(), configs)
def test_it_takes_the_nodes_of_the_compiled_search_in_its_order(
    drafted: Any, context: Any, pair: Any, config: DecodeConfig
) -> None:
    ngram, config = pair[0], replace(config, order=pair[1].order)
    film = film_tree(drafted, context, ngram, config)
    tree, _ = build_tree(drafted, context, ngram, config)
    check(film, tree, config)


@settings(max_examples=examples(300), deadline=None)
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    temperature=st.sampled_from((0.0, 1.5)),
    sampled=st.booleans(),
    own=changes,
    other=changes,
)
def test_the_film_of_a_round_is_the_tree_of_the_round(
    salt: int,
    exact: bool,
    eos: int,
    temperature: float,
    sampled: bool,
    own: dict[str, Any],
    other: dict[str, Any],
) -> None:
    system = scripted(salt, exact, eos)
    config = replace(CONFIG, temperature=temperature, sampled_draft=sampled)
    trace = run(system, replace(config, **own | {"top_k": 12}))
    states = States(trace, None, system.vocab)
    for index, round_ in enumerate(trace.rounds):
        film = states.film(index, trace.config)
        assert film is not None
        if len(round_.tree.tokens) > 1:
            check(film, round_.tree, trace.config)
        wanted = replace(config, **other)
        film, found = states.film(index, wanted), states.replay(index, wanted)
        assert film is not None
        assert found is not None
        if film.steps:
            check(film, found.tree, wanted)
        else:
            assert len(found.tree.tokens) == 1


@pytest.mark.parametrize("search", [*sorted(SEARCHES.built_in), *OWN_SEARCHES])
@pytest.mark.parametrize("scorer", [*USUAL, *OWN_SCORERS])
def test_every_scorer_and_search_has_its_film(scorer: str, search: str) -> None:
    with own_ones():
        config = replace(CONFIG, scorer=scorer, search=search, temperature=0.8, sampled_draft=True)
        trace = run(tiny_gated(5), config, TABLE)
        states = States(trace, TABLE)
        for index, round_ in enumerate(trace.rounds):
            film = states.film(index, config)
            assert film is not None
            if search == "staircase":  # takes what it likes, not the best that waits
                nodes = tree_of(round_.tree.tokens[0], film.nodes, config.budget)
                assert scores(nodes) == scores(round_.tree)
                assert film.steps[0].queue
            elif film.steps:
                check(film, round_.tree, config)


@settings(max_examples=examples(200), deadline=None)
@given(marginals(), contexts, ngrams(), configs)
def test_a_beam_opens_the_best_of_each_depth(
    drafted: Any, context: Any, pair: Any, config: DecodeConfig
) -> None:
    config = replace(config, search="beam", order=pair[1].order)
    film = film_tree(drafted, context, pair[0], config)
    assert [level.depth for level in film.levels] == [*range(1, len(film.levels) + 1)]
    above: tuple[Node, ...] = (Node(),)
    for level in film.levels:
        assert len(level.frontier) <= min(config.beam_width, config.budget)
        assert level.opened == len(above)
        opened = {node.ranks for node in above}
        assert {node.ranks[:-1] for node in level.frontier} <= opened
        assert [n.key for n in level.frontier] == sorted(n.key for n in level.frontier)
        above = level.frontier
    opening = [step for step in film.steps if step.node is None]
    assert [step.levels for step in opening] == [*range(1, len(film.levels) + 1)]


def test_the_queue_of_a_search_made_by_hand() -> None:
    """Blind best-first over two positions: every step can be checked by eye."""
    drafted = Marginals(((0, 1), (2, 3)), ((-0.5, -1.0), (-0.25, -2.0)))
    config = DecodeConfig(scorer="blind", budget=3, draft_length=2, top_k=2)
    film = film_tree(drafted, [4], NgramModel(5), config)
    told = [
        (
            step.node and step.node.path,
            [(node.path, node.aligned / 100_000) for node in step.queue],
            step.waiting,
        )
        for step in film.steps
    ]
    assert told == [
        (None, [((0,), -0.5), ((1,), -1.0)], 2),
        ((0,), [((0, 2), -0.75), ((1,), -1.0), ((0, 3), -2.5)], 3),
        ((0, 2), [((1,), -1.0), ((0, 3), -2.5)], 2),
        ((1,), [((0, 3), -2.5)], 1),
    ]


def test_a_large_round_is_played_in_good_time() -> None:
    """No film of a round is quadratic in its candidates."""
    ids, log_q = tuple(range(64)), tuple(-0.1 - 0.01 * rank for rank in range(64))
    drafted = Marginals((ids,) * 15, (log_q,) * 15)
    for search in ("best_first", "beam"):
        config = DecodeConfig(
            scorer="blind", budget=512, draft_length=15, top_k=64, search=search, beam_width=64
        )
        began = time.process_time()
        film = film_tree(drafted, [4], NgramModel(64), config)
        assert len(film.nodes) == 512
        assert time.process_time() - began < 3


def test_a_round_without_drafts_has_no_film() -> None:
    trace = run(tiny_gated(5), replace(CONFIG, max_new_tokens=3), TABLE, method="ar")
    assert States(trace, TABLE).film(0, trace.config) is None


def test_a_scorer_of_whole_paths_is_drafted_the_same_sample() -> None:
    """Linear drafting in plain Python takes what the compiled one takes."""
    drafted = Marginals(((4, 2, 1), (3, 0, 1)), ((-0.5, -1.2, -2.3), (-0.5, -1.2, -2.3)))
    config = DecodeConfig(search="linear", sampled_draft=True, temperature=0.9, scorer="blind")
    ranks = set()
    with own_ones():
        for seed in range(12):
            own = replace(config, seed=seed)
            tree, _ = build_tree(drafted, [0, 3], NgramModel(5), own)
            plain = replace(own, scorer="first_letter")
            other, _ = build_tree(drafted, [0, 3], NgramModel(5), plain)
            assert other.rank == tree.rank
            ranks.add(tree.rank)
    assert len(ranks) > 2
