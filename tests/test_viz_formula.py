"""The spelled-out score is the scorer's own: recomputed from the shown terms it gives the recorded
increment.
"""

import math
from dataclasses import replace

import pytest

from presto.build import build_tree
from presto.kernels.ngram import NgramModel
from presto.records import Choice, DecodeConfig, Marginals, Round, Stages, Trace, Tree
from presto.scorers import SCORERS
from tests.support import synthetic
from tests.support.scorers import USUAL
from viz import formula
from viz.formula import ROUNDING, _corrected, _levels, decimal
from viz.nodes import BONUS
from viz.view import view_of

TREE = Tree(
    tokens=(0, 1, 2),
    parents=(-1, 0, 1),
    rank=(0, 0, 0),
    log_q=(0.0, -0.51, -1.0),
    log_rho=(0.0, 1.2, -0.5),
    blind=(0.0, -0.51, -1.51),
    aligned=(0.0, 0.33, -0.09),  # adds 0.33 = -0.51 + 0.7·1.2, then -0.42
)
WORDS = {0: "the", 1: " cat", 2: " sat"}


def traced(tree: Tree, config: DecodeConfig, pieces: dict[int, str]) -> Trace:
    zeros = (0.0,) * len(tree.tokens)
    round_ = Round(3, None, Marginals(), tree, zeros, (), Choice(0), (0,), 1.0, 1, Stages())
    known = dict.fromkeys(range(4), "?") | pieces
    return replace(synthetic.trace(rounds=0), rounds=(round_,), config=config, pieces=known)


def built(config: DecodeConfig) -> Trace:
    """A tree that the search built, below a text in which tokens 0 … 5 follow each other in
    turn.
    """
    config = replace(config, budget=20, draft_length=4, top_k=5)
    ngram = NgramModel(6)
    ngram.extend(text := [i % 6 for i in range(40)] + [0, 2, 1, 3, 2])
    tokens = ((3, 1, 0, 2, 4), (4, 3, 5, 0, 2), (5, 4, 1, 2, 3), (0, 5, 4, 3, 1))
    log_q = tuple(math.log(q) for q in (0.4, 0.25, 0.15, 0.1, 0.05))
    tree, _ = build_tree(Marginals(tokens, (log_q,) * 4), text, ngram, config)
    return traced(tree, config, {i: f" t{i}" for i in range(6)})


def test_hand_computed_lines() -> None:
    assert formula(traced(TREE, DecodeConfig(), WORDS), 0, 2) == (
        "“␣cat”: log q −0.51 + λ 0.7 · log ρ 1.20 = +0.33",
        "“␣sat”: log q −1.00 + λ 0.7 · log ρ −0.50 = −1.35, normalised to the children’s mass: "
        "−0.42",
        "Sum over the path: prefix-blind −1.51 (log q alone), prefix-aligned −0.09",
    )


def test_without_normalisation_a_difference_is_not_explained_away() -> None:
    lines = formula(traced(TREE, DecodeConfig(normalised=False), WORDS), 0, 2)
    assert lines[1].endswith("= −1.35, recorded as: −0.42")


def test_dart_has_its_own_weights_and_no_lambda() -> None:
    tree = replace(TREE, log_rho=(0.0, 0.0, -0.5), aligned=(0.0, -0.51, -1.21791))
    lines = formula(traced(tree, DecodeConfig(scorer="dart", normalised=False), WORDS), 0, 2)
    assert lines[0] == "“␣cat”: log q −0.51 (no correction on the first level) = −0.51"
    # 2^-0.7 · (0.9·-1 + 0.5·-0.5) = 0.61557 · -1.15 = -0.70791
    assert lines[1] == "“␣sat”: 2^−0.7 · (0.9^(2−1) · log q −1.00 + 0.5 · log ρ −0.50) = −0.71"


@pytest.mark.parametrize("correct_first", [True, False])
@pytest.mark.parametrize("scorer", USUAL)
def test_every_scorers_formula_gives_the_increments_that_the_search_recorded(
    scorer: str, correct_first: bool
) -> None:
    trace = built(DecodeConfig(scorer=scorer, normalised=False, correct_first=correct_first))
    tree = trace.rounds[0].tree
    assert len(tree.tokens) == 21
    for node in range(1, 21):
        for level in _levels(view_of(trace, 0), node):
            assert level.increment == pytest.approx(level.score, abs=ROUNDING)
            if not _corrected(SCORERS[scorer], trace.config, level.row.depth):
                assert level.row.log_rho == 0
        assert not any("recorded as" in line for line in formula(trace, 0, node))


@pytest.mark.parametrize("scorer", USUAL)
def test_normalised_siblings_are_shifted_together(scorer: str) -> None:
    trace = built(DecodeConfig(scorer=scorer))
    tree = trace.rounds[0].tree
    shifts: dict[int, list[float]] = {}
    for node in range(1, len(tree.tokens)):
        last = _levels(view_of(trace, 0), node)[-1]
        shifts.setdefault(tree.parents[node], []).append(last.increment - last.score)
    assert max(map(len, shifts.values())) > 1
    for values in shifts.values():
        assert max(values) - min(values) <= ROUNDING
    changed = any(abs(values[0]) > ROUNDING for values in shifts.values())
    assert changed == (scorer != "blind")
    assert changed == any(
        "children’s mass" in line for line in formula(trace, 0, len(tree.tokens) - 1)
    )


def test_the_increments_of_all_lines_add_up() -> None:
    trace = synthetic.trace(3, rounds=1, budget=512, depth=15)
    tree = trace.rounds[0].tree
    for node in (1, 200, 512):
        levels = _levels(view_of(trace, 0), node)
        assert sum(level.increment for level in levels) == pytest.approx(tree.aligned[node])
        assert len(formula(trace, 0, node)) == len(levels) + 1


def test_nodes_without_a_score_say_so() -> None:
    trace = synthetic.trace(rounds=1, budget=0)
    assert formula(trace, 0, 0) == ("The root is already committed, so it has no score.",)
    assert "not drafted" in formula(trace, 0, BONUS)[0]
    with pytest.raises(ValueError, match=r"0\.\.0, got 1"):
        formula(trace, 0, 1)
    with pytest.raises(ValueError, match="got -1"):
        formula(trace, 0, -1)


def test_tokens_are_visible_text() -> None:
    pieces = WORDS | {1: "\u202e\n", 2: "שלום"}
    lines = formula(traced(TREE, DecodeConfig(), pieces), 0, 2)
    assert lines[0].startswith("“<RLO>⏎”: ")
    assert lines[1].startswith("“\u2068שלום\u2069”: ")


@pytest.mark.parametrize(
    ("value", "signed", "shown"),
    [
        (-0.514, False, "−0.51"),
        (0.33, True, "+0.33"),
        (-0.001, False, "0.00"),
        (1.2, False, "1.20"),
    ],
)
def test_decimal(value: float, signed: bool, shown: str) -> None:
    assert decimal(value, signed) == shown
