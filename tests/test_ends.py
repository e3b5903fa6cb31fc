"""Where rounds end: each reason in a case made by hand, and in random runs as it is defined."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presto
from presto.build import build_tree
from presto.kernels.ngram import NgramModel
from presto.records import Choice, DecodeConfig, Marginals, Round, Stages, Trace
from presto.records.bounds import MAX_BUDGET
from presto.records.tree import bonus_committed
from presto.runs.ends import NEAR, ROUND_ENDS, RoundEnd, round_ends
from presto.runs.replay import follow_text
from presto.runs.states import States
from tests.support.checks import some
from tests.support.examples import examples
from tests.support.runs import run, scripted
from tests.support.strategies import changes
from viz.ends import (
    MEANING,
    MEND,
    SHORT,
    EndedRun,
    _get_ends_info,
    _get_ends_plot,
    _get_ends_rows,
    _get_ends_sentence,
    ends_figure,
    ends_sentence,
)

VOCAB, PROMPT = 100, (0,)
# Three positions with three candidates each. Best-first, by log q alone, takes in this order:
# 10, 10 20, 10 20 30, 11 or 10 21 (both ‑3.1 deep), and much later what begins with 12.
OFFERED = Marginals(
    ((10, 11, 12), (20, 21, 22), (30, 31, 32)),
    ((-0.1, -3.0, -6.0), (-0.1, -3.25, -6.0), (-0.1, -3.5, -6.0)),
)
BLIND = DecodeConfig(scorer="blind", lam=0.0, draft_length=3, top_k=3)


def one_round(text: tuple[int, ...], config: DecodeConfig, ended: bool = False) -> Trace:
    """A run of a single round, after which the target goes on with ``text``; ``ended``: the text
    ends with what was accepted.
    """
    tree, _ = build_tree(OFFERED, PROMPT, NgramModel(VOCAB), config)
    accepted = follow_text(tree, text)
    bonus = text[len(accepted)]
    round_ = Round(
        start=len(PROMPT),
        exact=None,
        marginals=OFFERED,
        tree=tree,
        log_p=(0.0,) * len(tree.tokens),
        accepted=accepted,
        choice=Choice(bonus),
        committed=text[: len(accepted) + (not ended)],
        margin=1.0,
        forwards=1,
        seconds=Stages(),
    )
    made = run(scripted(1, False, 40), replace(config, max_new_tokens=1))
    pieces = {token: str(token) for token in range(VOCAB)}
    return replace(
        made, config=config, prompt_ids=PROMPT, rounds=(round_,), pieces=pieces, finish="length"
    )


def ends_of(trace: Trace, **other: Any) -> list[RoundEnd | None]:
    states = States(trace, None, VOCAB)
    return list(round_ends(states, replace(trace.config, **other)))


@pytest.mark.parametrize(
    ("text", "settings", "end"),
    [
        ((10, 20, 77), {"budget": 2}, "top_k"),
        ((77,), {"budget": 2}, "top_k"),
        ((10, 20, 32), {"budget": 2, "top_k": 2}, "top_k"),  # a candidate of nobody
        ((10, 20, 30, 9), {"budget": 2}, "budget"),  # the third node
        ((11, 9), {"budget": 2}, "budget"),  # the fourth
        ((12, 9), {"budget": 2}, "outranked"),
        ((10, 22, 9), {"budget": 2}, "outranked"),
        ((10, 20, 30, 9), {"budget": 3}, "depth"),
        ((11, 9), {"search": "linear", "budget": 8}, "unopened"),
        ((10, 20, 9), {"search": "linear", "budget": 1}, "budget"),  # a longer path has it
        ((11, 20, 9), {"search": "beam", "beam_width": 1, "budget": 4}, "unopened"),
        ((11, 9), {"search": "beam", "beam_width": 1, "budget": 2}, "budget"),
    ],
    ids=str,
)
def test_the_reason_of_a_round_made_by_hand(
    text: tuple[int, ...], settings: dict[str, Any], end: RoundEnd
) -> None:
    assert ends_of(one_round(text, replace(BLIND, **settings))) == [end]


def test_a_text_that_ends_hides_what_the_target_would_have_chosen() -> None:
    trace = one_round((10, 77), replace(BLIND, budget=2), ended=True)
    assert ends_of(trace) == ["ended"]
    assert ends_of(one_round((10, 77), replace(BLIND, budget=2))) == ["top_k"]


def test_another_setting_ends_a_round_elsewhere() -> None:
    trace = one_round((10, 20, 30, 9), replace(BLIND, budget=3))
    assert ends_of(trace) == ["depth"]
    assert ends_of(trace, budget=1) == ["budget"]
    assert ends_of(trace, top_k=1, budget=2) == ["budget"]
    with pytest.raises(ValueError, match="a replay cannot change draft_length"):
        ends_of(trace, draft_length=2)


def test_plain_decoding_has_no_round_to_end() -> None:
    trace = run(scripted(3, True, 40), replace(BLIND, max_new_tokens=4), method="ar")
    assert set(some(round_ends(States(trace, None, 12), trace.config))) == {None}


@settings(max_examples=examples(200), deadline=None)
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    cap=st.integers(1, 24),
    own=changes,
)
def test_every_reason_is_what_it_says(
    salt: int, exact: bool, eos: int, cap: int, own: dict[str, Any]
) -> None:
    """Against the run's own record; there are too few candidates to fill the largest tree."""
    system = scripted(salt, exact, eos)
    config = DecodeConfig(budget=9, max_new_tokens=cap, draft_length=5, seed=4)
    trace = run(system, replace(config, **own))
    states = States(trace, None, system.vocab)
    for index, end in enumerate(round_ends(states, trace.config)):
        round_, rows = trace.rounds[index], states.candidates(index, trace.config)
        depth = len(round_.accepted)
        if end in (None, "ended"):
            assert not bonus_committed(round_) if end else not rows
            continue
        assert bonus_committed(round_)
        assert (end == "depth") == (depth == len(rows))
        if end == "depth":
            continue
        assert (end == "top_k") == (round_.choice.token not in rows[depth])
        if end == "top_k":
            continue
        widest = states.replay(index, replace(trace.config, budget=MAX_BUDGET))
        assert widest is not None
        assert len(widest.tree.tokens) <= MAX_BUDGET
        if end == "unopened":
            assert len(widest.accepted) == depth
        else:
            place = widest.accepted[depth]  # nodes stand in the order in which they were taken
            assert trace.config.budget < place
            assert (end == "budget") == (place <= NEAR * trace.config.budget)


def test_every_reason_has_its_words_and_stands_in_the_documentation() -> None:
    assert set(ROUND_ENDS) == set(SHORT) == set(MEANING) == set(MEND)
    text = (Path(__file__).parents[1] / "docs" / "bench.md").read_text(encoding="utf-8")
    for end in ROUND_ENDS:
        assert f"| `{end}` | {SHORT[end]} |" in text


def test_python_offers_what_the_page_draws() -> None:
    trace = presto.load_recording("Fibonacci: code").traces[0]
    ends = presto.round_ends(trace)
    counts = Counter(end for end in ends if end)
    (bar,) = ends_figure(trace).data
    assert list(bar.x) == [counts[end] for end in ROUND_ENDS if counts[end]]
    assert ends_sentence(trace) == (
        "11 of 23 rounds (48 %) end where the target’s token is not among the drafter’s top 32. "
        "To mend first: the drafter (or the top-K)."
    )
    assert presto.round_ends(trace, scorer="blind") != ends


def test_the_chart_counts_rounds_and_says_what_helps() -> None:
    ends: list[RoundEnd | None] = ["budget", None, "budget", "top_k", "ended", "ended", "ended"]
    info = _get_ends_info(EndedRun(BLIND, ends))
    assert (info.counts, info.rounds) == ({"top_k": 1, "budget": 2, "ended": 3}, 6)
    assert _get_ends_sentence(info) == (
        "2 of 6 rounds (33 %) end where a tree of twice the budget would have held the target’s "
        "token. To mend first: the budget."
    )
    headings, *cells = _get_ends_rows(info)
    assert all(len(row) == len(headings) for row in some(cells))
    assert [row[2] for row in cells] == ["1", "2", "3"]
    (bar,) = _get_ends_plot(info).figure().data
    assert list(bar.text) == ["1 · 17 %", "2 · 33 %", "3 · 50 %"]


@pytest.mark.parametrize("ends", [[], [None], ["ended"]])
def test_a_run_that_loses_nothing_needs_no_help(ends: list[RoundEnd | None]) -> None:
    info = _get_ends_info(EndedRun(BLIND, ends))
    assert "mend" not in _get_ends_sentence(info)
    assert json.dumps(_get_ends_plot(info).layout)
