"""What other settings would have committed at a run's states equals what live runs of them commit
there.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.decoding.loop import decode
from presto.decoding.protocols import System
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Marginals, Method, Round, Trace, Tree
from presto.records.measures import acceptance_length, output_ids
from presto.runs.counterfactuals import (
    OWN,
    Alternative,
    counterfactuals,
    disagreements,
    lineup,
    reproduced,
)
from presto.runs.requests import config_for
from presto.runs.variants import alternatives
from tests.support import synthetic
from tests.support.checks import some
from tests.support.dflash import tiny_dflash
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.runs import PROMPT, TABLE, model, run, scripted

SYSTEMS: dict[str, System] = {"gated": tiny_gated(5), "dflash": tiny_dflash()}
CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, seed=4)


def live_round(
    system: System, trace: Trace, start: int, config: DecodeConfig, table: NgramTable | None
) -> Round:
    """The first round of a run of ``config`` that starts where ``trace`` had ``start`` tokens."""
    prefix = [*PROMPT, *output_ids(trace)][:start]
    config = replace(config, max_new_tokens=config.max_new_tokens - (start - len(PROMPT)))
    return next(decode(system, prefix, config, model(system, table, config)))


def check_against_live_runs(system: System, trace: Trace, table: NgramTable | None) -> None:
    known = len(PROMPT) + len(output_ids(trace))
    lines = lineup(trace.config)
    played = list(counterfactuals(trace, table, vocab=system.vocab))
    assert len(played) == len(trace.rounds)
    for round_, found in zip(trace.rounds, played, strict=True):
        assert [one.name for one in found] == list(lines)
        for one in found:
            live = live_round(system, trace, round_.start, lines[one.name], table)
            assert one.tree == live.tree
            assert one.committed == min(len(live.committed), known - round_.start)
            assert one.accepted == live.accepted[: len(one.accepted)]
            if len(one.accepted) < len(live.accepted):  # only where the run's own text ends
                root = round_.start - (round_.exact is None)
                assert root + len(one.accepted) + 1 >= known


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize("method", ["presto", "linear"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_alternatives_equal_live_runs_from_the_same_prefix(
    name: str, method: Method, temperature: float
) -> None:
    system = SYSTEMS[name]
    table = TABLE if system.vocab == TABLE.vocab else None
    trace = run(system, replace(CONFIG, temperature=temperature), table, method)
    assert reproduced(trace, table, system.vocab)
    check_against_live_runs(system, trace, table)


@pytest.mark.parametrize(
    "changes",
    [
        {"static_ngram": False},
        {"online_ngram": False},
        {"order": 2, "scorer": "mixture"},
        {"search": "beam", "beam_width": 4, "correct_first": False},
        {"scorer": "dart", "normalised": False},
        {"scorer": "learned", "lookup": 4, "top_k": 3},
        {"search": "linear", "scorer": "blind", "sampled_draft": True, "temperature": 1.0},
    ],
    ids=str,
)
def test_a_runs_own_settings_are_reproduced(changes: dict[str, Any]) -> None:
    trace = run(SYSTEMS["gated"], replace(CONFIG, **changes), TABLE)
    assert reproduced(trace, TABLE)
    own = [next(r for r in found if r.own) for found in counterfactuals(trace, TABLE)]
    assert [r.accepted for r in own] == [round_.accepted for round_ in trace.rounds]
    assert [r.committed for r in own] == [len(round_.committed) for round_ in trace.rounds]


@settings(max_examples=examples(60))
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    most=st.sampled_from((2, 10**6)),
    temperature=st.sampled_from((0.0, 1.5)),
    scorer=st.sampled_from(("blind", "product", "pmi", "mixture", "dart")),
    search=st.sampled_from(("linear", "beam", "best_first")),
    cap=st.integers(1, 20),
)
def test_alternatives_equal_live_runs_for_any_drafter_and_end(
    salt: int,
    exact: bool,
    eos: int,
    most: int,
    temperature: float,
    scorer: str,
    search: str,
    cap: int,
) -> None:
    system = scripted(salt, exact, eos)
    config = replace(
        CONFIG, temperature=temperature, scorer=scorer, search=search, max_new_tokens=cap
    )
    trace = run(system, config, most=most)
    assert reproduced(trace, None, system.vocab)
    check_against_live_runs(system, trace, None)
    for found in some(counterfactuals(trace, None, vocab=system.vocab)):
        assert sum(one.own for one in found) == 1


def test_means_of_the_own_settings_are_the_acceptance_length() -> None:
    trace = run(SYSTEMS["gated"], CONFIG, TABLE)
    own = [one.committed for found in counterfactuals(trace, TABLE) for one in found if one.own]
    assert sum(own) / len(own) == acceptance_length(trace)


def test_another_table_is_noticed() -> None:
    trace = run(SYSTEMS["gated"], CONFIG, TABLE)
    assert not reproduced(trace, NgramTable.build([[5, 6, 7, 8] * 9], 23))


def test_autoregressive_rounds_have_no_alternatives() -> None:
    trace = run(SYSTEMS["gated"], replace(CONFIG, max_new_tokens=4), method="ar")
    assert list(counterfactuals(trace, TABLE)) == [()] * 4
    assert reproduced(trace, TABLE)


def test_trees_without_their_marginals_cannot_be_replayed() -> None:
    trace = synthetic.trace(rounds=3)
    assert list(counterfactuals(trace, None, vocab=99)) == [()] * 3
    assert not reproduced(trace, None, vocab=99)


def test_settings_are_cut_to_the_recorded_candidates() -> None:
    trace = run(SYSTEMS["gated"], replace(CONFIG, top_k=2), TABLE)
    for found in counterfactuals(trace, TABLE):
        assert found
        for one in found:  # what was looked up is recorded behind them
            assert set(one.tree.rank) <= ({0, 1, 2} if one.name == "presto+" else {0, 1})


def test_the_lineup_has_the_runs_own_settings_once() -> None:
    names = ["linear", "blind", "presto+", "product", "pmi", "mixture", "dart", "dual", "learned"]
    assert list(lineup(DecodeConfig())) == names == list(alternatives())
    odd = lineup(DecodeConfig(lam=0.3))
    assert (list(odd), odd[OWN], odd["pmi"]) == (
        [OWN, *names],
        DecodeConfig(lam=0.3),
        DecodeConfig(),
    )
    linear = config_for("linear", DecodeConfig(budget=64))
    assert lineup(linear)["linear"] == linear
    assert lineup(linear)["pmi"] == DecodeConfig(budget=64)
    assert lineup(DecodeConfig(search="beam"))["blind"].search == "beam"
    assert lineup(DecodeConfig())["dart"].beam_width == 20


@pytest.mark.parametrize(
    "changes", [{"draft_length": 4}, {"seed": 1}, {"static_ngram": False}], ids=str
)
def test_alternatives_that_no_replay_can_follow_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'x' changes {next(iter(changes))}"):
        counterfactuals(synthetic.trace(), TABLE, {"x": changes})


def test_an_unknown_or_small_vocabulary_is_refused() -> None:
    trace = run(SYSTEMS["gated"], CONFIG)
    with pytest.raises(ValueError, match="size of the vocabulary must be given"):
        reproduced(trace, None)
    with pytest.raises(ValueError, match="tokens must lie in"):
        reproduced(trace, None, 3)


def test_disagreements_are_rounds_of_different_length() -> None:
    trace = synthetic.trace(rounds=3)
    tree = Tree((1,))
    rows = [
        tuple(Alternative(name, tree, (), count) for name, count in (("a", 2), ("b", other)))
        for other in (2, 3)
    ]
    assert disagreements(trace, [rows[0], rows[1], ()], "a", "b") == [1]
    assert disagreements(trace, [rows[1], (), rows[1]], "b", "a") == [0, 2]
    with pytest.raises(ValueError, match="no setting named 'c' was compared; there are a, b"):
        disagreements(trace, [rows[0], (), ()], "a", "c")
    with pytest.raises(ValueError, match="alternatives of 3 rounds, got 1"):
        disagreements(trace, rows[:1], "a", "b")


def test_marginals_are_not_needed_where_the_exact_token_ends_the_run() -> None:
    trace = run(scripted(1, True, 40), replace(CONFIG, max_new_tokens=1))
    assert [len(round_.committed) for round_ in trace.rounds] == [1]
    last = replace(trace.rounds[0], marginals=Marginals(((1, 2),), ((-0.5, -1.5),)))
    (found,) = counterfactuals(replace(trace, rounds=(last,)), None, vocab=12)
    assert {(one.tree.tokens, one.accepted, one.committed) for one in found} == {
        ((last.exact,), (), 1)
    }
