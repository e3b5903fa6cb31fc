"""Sample-and-follow on hand-made logits."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from presto.decoding.sampling import Sampler
from presto.decoding.verify import _walk, _walk_and_draw, exact_choice, follow
from presto.records import Tree
from tests.support.doubles import tree_input

GREEDY = Sampler(0.0, 0, 1.0, 0)
ZEROS = (0.0,) * 4
# root -> 5 -> 7, root -> 6
TREE = Tree((4, 5, 6, 7), (-1, 0, 0, 1), (0,) * 4, ZEROS, ZEROS, ZEROS, ZEROS)
PLAN = tree_input(TREE)


def rows(*choices: int) -> torch.Tensor:
    logits = torch.zeros(len(choices), 10)
    for row, token in enumerate(choices):
        logits[row, token] = 3.0
    return logits


@pytest.mark.parametrize(
    ("choices", "accepted", "bonus"),
    [
        ((5, 7, 0, 9), (1, 3), 9),
        ((5, 8, 0, 0), (1,), 8),
        ((6, 0, 2, 0), (2,), 2),
        ((3, 7, 0, 0), (), 3),
    ],
)
def test_the_walk_follows_the_targets_choices(
    choices: tuple[int, ...], accepted: tuple[int, ...], bonus: int
) -> None:
    decision = follow(rows(*choices), PLAN, TREE, 10, GREEDY)
    assert decision.accepted == accepted
    assert decision.choice.token == bonus
    assert decision.choice.top_ids[0] == bonus
    assert decision.margin == 3.0


def test_node_log_p_is_the_targets_probability_after_the_nodes_own_parent() -> None:
    decision = follow(rows(5, 7, 0, 9), PLAN, TREE, 10, GREEDY)
    high = 3 - math.log(math.exp(3) + 9)
    assert decision.log_p == pytest.approx((0.0, high, high - 3, high), abs=1e-4)


def test_the_targets_eight_likeliest_tokens_are_recorded_where_it_stopped() -> None:
    logits = rows(5, 7, 0, 9)
    logits[3] = torch.arange(10) / 3
    choice = follow(logits, PLAN, TREE, 10, GREEDY).choice
    assert choice.top_ids == (9, 8, 7, 6, 5, 4, 3, 2)
    expected = torch.softmax(logits[3].double(), -1).flip(0)[:8]
    assert choice.top_probs == tuple(round(value, 6) for value in expected.tolist())
    few = follow(rows(5, 7, 0, 0)[:, :8], PLAN, TREE, 10, GREEDY).choice
    assert sorted(few.top_ids) == list(range(8))
    tree = Tree((1, 0), (-1, 0), (0,) * 2, ZEROS[:2], ZEROS[:2], ZEROS[:2], ZEROS[:2])
    small = follow(torch.tensor([[0.0, 1.0, 2.0]] * 2), tree_input(tree), tree, 10, GREEDY).choice
    assert small.top_ids == (2, 1, 0)


@pytest.mark.parametrize(("logits", "gap"), [([1.0, 5.0, -2.0, 2.5], 2.5), ([7.0], 0.0)])
def test_the_margin_of_an_exact_token_is_the_gap_between_the_two_best(
    logits: list[float], gap: float
) -> None:
    row = torch.tensor(logits)
    assert exact_choice(row, 3, GREEDY) == (int(row.argmax()), gap)
    sampler = Sampler(0.8, 0, 1.0, 5)
    assert exact_choice(row, 3, sampler) == (int(sampler.pick(row, 3)), gap)


@given(
    parents=st.lists(st.integers(0, 30), max_size=12),
    tokens=st.lists(st.integers(0, 3), min_size=12, max_size=12),
    seed=st.integers(0, 99),
)
def test_a_walk_on_the_device_is_the_one_that_draws_as_it_goes(
    parents: list[int], tokens: list[int], seed: int
) -> None:
    nodes = dict[tuple[int, int], int]()  # (parent, token), as siblings never share a token
    for parent, token in zip(parents, tokens, strict=False):
        nodes.setdefault((parent % (len(nodes) + 1), token), len(nodes) + 1)
    zeros = (0,) * (len(nodes) + 1)
    tokens_, above = zip((0, -1), *((token, parent) for parent, token in nodes), strict=True)
    tree = Tree(tokens_, above, zeros, *[(0.0,) * len(zeros)] * 4)
    plan, sampler = tree_input(tree, 4), Sampler(0.9, 3, 0.95, seed)
    logits = torch.randn(len(tree.tokens), 4, generator=torch.Generator().manual_seed(seed))
    levels, depth = plan.positions - plan.positions[0], plan.paths.shape[1]
    drawn = sampler.draw(logits, 5, levels, depth)
    reached, token = _walk_and_draw(logits, tree, 5, sampler)
    together = _walk(drawn, plan)
    assert list(dict.fromkeys(together.tolist())) == reached.tolist()
    assert drawn[together[-1:]].tolist() == token.tolist()


def test_an_exact_tie_is_reported_as_margin_zero() -> None:
    logits = rows(5, 7, 0, 9)
    logits[0, 6] = 3.0
    decision = follow(logits, PLAN, TREE, 10, GREEDY)
    assert decision.margin == 0.0
    assert decision.accepted == (1, 3)
