"""Replay is exact: what a scorer would have had accepted at a state equals a live run of that
scorer there.
"""

from dataclasses import replace

import pytest

from presto.decoding.loop import decode
from presto.kernels.ngram import NgramModel
from presto.records import DecodeConfig, Marginals
from presto.runs.replay import counterfactual, follow_text, oracle_length
from tests.support.checks import some
from tests.support.doubles import tiny_gated

SYSTEM = tiny_gated(5)
PROMPT = (3, 8, 4)


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize("scorer", ["blind", "product", "pmi", "mixture", "dart"])
def test_a_runs_own_rounds_replay_to_their_own_acceptance(scorer: str, temperature: float) -> None:
    config = DecodeConfig(
        scorer=scorer, temperature=temperature, seed=4, budget=9, max_new_tokens=40, draft_length=6
    )
    rounds = list(decode(SYSTEM, PROMPT, config))
    text = [*PROMPT, *(token for round_ in rounds for token in round_.committed)]
    for round_ in some(rounds[:-1]):
        root = round_.start if round_.exact is not None else round_.start - 1
        seen = NgramModel(SYSTEM.vocab)
        seen.extend(text[: root + 1])
        tree, accepted = counterfactual(round_.marginals, text, root, seen, config)
        assert tree == round_.tree
        assert accepted == round_.accepted


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_another_scorers_counterfactual_equals_its_live_first_round(temperature: float) -> None:
    base = DecodeConfig(
        temperature=temperature, seed=2, budget=7, max_new_tokens=30, draft_length=6
    )
    first = next(decode(SYSTEM, PROMPT, base))
    text = [
        *PROMPT,
        *(token for round_ in decode(SYSTEM, PROMPT, base) for token in round_.committed),
    ]
    for scorer in ("blind", "product", "mixture"):
        other = replace(base, scorer=scorer)
        live = next(decode(SYSTEM, PROMPT, other))
        seen = NgramModel(SYSTEM.vocab)
        seen.extend(text[: first.start + 1])
        tree, accepted = counterfactual(first.marginals, text, first.start, seen, other)
        assert (tree, accepted) == (live.tree, live.accepted)


def test_oracle_length_counts_the_prefix_inside_the_top_k_and_the_bonus() -> None:
    marginals = Marginals(((5, 6), (7, 8), (9, 4)), ((-1.0, -2.0),) * 3)
    assert oracle_length(marginals, [6, 7, 3], 2) == 3
    assert oracle_length(marginals, [6, 7, 3], 1) == 1
    assert oracle_length(marginals, [5, 7, 9, 1], 1) == 4
    assert oracle_length(marginals, [5], 2) == 2


def test_follow_text_stops_where_the_tree_ends() -> None:
    round_ = next(decode(SYSTEM, PROMPT, DecodeConfig(max_new_tokens=30, draft_length=4)))
    below = [round_.tree.tokens[node] for node in round_.accepted]
    assert follow_text(round_.tree, [*below, round_.choice.token]) == round_.accepted
