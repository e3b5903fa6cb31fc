"""Prompt lookup: what it finds, how a draft records it, and the tree's path of it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from presto.build import build_tree
from presto.decoding.loop import autoregressive, decode
from presto.decoding.marginals import drafted, with_found
from presto.kernels.candidates import candidates_of
from presto.kernels.lookup import LONGEST, SHORTEST, continuation
from presto.kernels.ngram import NgramModel
from presto.records import DecodeConfig, Marginals
from presto.records.tree import path
from tests.support.doubles import tiny_gated
from tests.support.strategies import configs, contexts, marginals, ngrams

texts = st.lists(st.integers(0, 2), max_size=40)


def by_definition(text: Sequence[int], most: int) -> list[int]:
    """Over all earlier places: the longest agreement with the end, the last of equals."""
    agreed = {
        after: max(n for n in range(after + 1) if text[after - n : after] == text[len(text) - n :])
        for after in range(1, len(text))
    }
    found = {after: min(n, LONGEST) for after, n in agreed.items() if n >= SHORTEST}
    if not found:
        return []
    after = max(found, key=lambda place: (found[place], place))
    result = list(text[after:])
    while len(result) < most:
        result.append(result[len(result) - (len(text) - after)])
    return result[:most]


@given(texts, st.integers(0, 12))
def test_the_text_goes_on_as_behind_its_longest_repeated_end(text, most) -> None:
    assert continuation(text, most) == by_definition(text, most)


def test_known_answers() -> None:
    assert continuation([5, 6, 7, 8, 5, 6], 3) == [7, 8, 5]
    assert continuation([1, 2, 9, 5, 1, 2, 8, 1, 2], 1) == [8]  # the last of equals
    assert continuation([3, 1, 2, 9, 1, 2, 8, 3, 1, 2], 1) == [9]  # the longest
    assert continuation([4, 7, 7, 7], 3) == [7, 7, 7]  # goes round
    assert continuation([1, 2, 3, 2], 3) == []  # one token that agrees is no repetition
    assert continuation([], 3) == continuation([1], 3) == continuation([1, 1, 1], 0) == []


def test_of_long_agreements_the_last_counts() -> None:
    """More than 32 tokens are not compared: beyond them no place is better."""
    end = list(range(10, 42))
    text = [5, *end, 8, 6, *end, 9, 5, *end]  # the first place agrees in one token more
    assert continuation(text, 1) == [9]
    assert continuation([*end[1:], 8, *end, 9, 5, 6, *end], 1) == [9]


def test_the_path_ends_before_a_token_that_is_not_recorded() -> None:
    context = [1, 2, 9, 5, 1, 2]  # 9, 5 are found
    drafted_ = Marginals(((0, 3), (4, 5)), ((-0.5, -1.5),) * 2)
    config = DecodeConfig(top_k=2, draft_length=2, lookup=2)
    found = candidates_of(drafted_, config, context)
    assert (found.found, found.last) == ((), ())
    known = Marginals(((0, 9), (4, 5)), ((-0.5, -1.5),) * 2)
    assert candidates_of(known, config, context).found == (1, 1)


@given(st.integers(0, 2**31), st.lists(st.integers(0, 8), max_size=30), st.integers(1, 8))
def test_a_token_found_is_recorded_behind_the_likeliest(seed, text, top_k) -> None:
    logits = torch.randn(4, 9, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    before = drafted(logits, top_k + 1)
    after = with_found(before, text, top_k).marginals
    found = continuation(text, 4)
    assert [row[:top_k] for row in after.token_ids] == [
        row[:top_k] for row in before.marginals.token_ids
    ]
    for depth, ids in enumerate(after.token_ids):
        if depth < len(found):
            assert found[depth] in ids
        elif depth >= len(found):
            assert ids == before.marginals.token_ids[depth]
        expected = torch.log_softmax(logits[depth].float(), -1)[list(ids)]
        torch.testing.assert_close(torch.tensor(after.log_q[depth]), expected, atol=2e-5, rtol=0)
        assert len(set(ids)) == len(ids) == min(top_k + 1, 9)


@given(marginals(least_width=2), contexts, ngrams(), configs)
def test_the_path_found_is_in_the_tree(drafted, context, pair, config) -> None:
    config = replace(config, search="best_first", order=pair[1].order)
    offered = candidates_of(drafted, config, context)
    tree, _ = build_tree(drafted, context, pair[0], config)
    deepest = [0, *range(1, len(offered.found) + 1)][-1]
    spelled = [tree.tokens[node] for node in path(tree.parents, deepest)]
    assert spelled == [offered.tokens[d][rank] for d, rank in enumerate(offered.found)]
    assert spelled == continuation(context, config.lookup)[: len(spelled)]
    for node in range(1, len(tree.tokens)):
        depth = len(path(tree.parents, node)) - 1
        assert drafted.token_ids[depth][tree.rank[node]] == tree.tokens[node]
        assert drafted.log_q[depth][tree.rank[node]] == tree.log_q[node]


def test_without_lookup_nothing_changes_and_one_candidate_makes_no_room() -> None:
    drafted = Marginals(((4, 2, 1), (3, 0, 5)), ((-0.5, -1.2, -2.3), (-0.4, -1.3, -2.2)))
    text = [1, 5, 0, 1, 5, 0, 1]  # goes on with 5, 0
    plain = candidates_of(drafted, DecodeConfig(top_k=2), text)
    assert plain.tokens == [(4, 2), (3, 0)]
    assert (plain.found, plain.last) == ((), ())
    text = [7, 1, 5, 7, 1]  # goes on with 5: not recorded at position 1
    assert candidates_of(drafted, DecodeConfig(top_k=2, lookup=3), text).found == ()
    text = [7, 1, 0, 5, 7, 8, 1, 0]
    found = candidates_of(drafted, DecodeConfig(top_k=2, lookup=3), [2, 5, 4, 5, 2, 5])
    assert (found.found, found.tokens) == ((0, 1), [(4, 2), (3, 5)])
    assert found.last == (1, 2)
    assert candidates_of(drafted, DecodeConfig(top_k=1, lookup=3), [2, 5, 4, 5, 2, 5]).found == ()
    tree, _ = build_tree(
        drafted, [2, 5, 4, 5, 2, 5], NgramModel(8), DecodeConfig(top_k=2, lookup=3, budget=2)
    )
    assert (tree.tokens, tree.rank) == ((5, 4, 5), (0, 0, 2))


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_text_that_repeats_itself_is_accepted_as_found(temperature: float) -> None:
    """The drafter is a random network; only what was looked up can be right time and again."""
    system, prompt = tiny_gated(5), (3, 8, 4)
    config = DecodeConfig(
        scorer="blind",
        temperature=temperature,
        sample_top_k=1,
        budget=8,
        draft_length=6,
        top_k=2,
        max_new_tokens=80,
    )
    plain = [
        token for round_ in autoregressive(system, prompt, config) for token in round_.committed
    ]
    rounds = {n: list(decode(system, prompt, replace(config, lookup=n))) for n in (0, 6)}
    for found in rounds.values():
        assert [token for round_ in found for token in round_.committed] == plain
    assert len(rounds[6]) < len(rounds[0]) / 2
