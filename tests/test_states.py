"""A replayed round is the round that a live run of the same setting has at that state, in whatever
order rounds are asked for; a sweep is a replay of every cell.
"""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presto
from presto.records import DecodeConfig
from presto.runs.states import States, check_free
from presto.runs.sweep import BUDGETS, LAMS, sweep
from presto.searches import SEARCHES
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.runs import TABLE, run, scripted
from tests.support.strategies import changes

CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, seed=4)


@settings(max_examples=examples(500))
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    temperature=st.sampled_from((0.0, 1.5)),
    cap=st.integers(1, 24),
    own=changes,
    other=changes,
)
def test_a_replay_is_the_live_run_at_every_state_that_both_share(
    salt: int,
    exact: bool,
    eos: int,
    temperature: float,
    cap: int,
    own: dict[str, Any],
    other: dict[str, Any],
) -> None:
    system = scripted(salt, exact, eos)
    config = replace(CONFIG, temperature=temperature, max_new_tokens=cap)
    # A run is recorded with the most candidates; a replay can take fewer.
    trace = run(system, replace(config, **own | {"top_k": 12}))
    wanted = replace(config, **other)
    live = run(system, wanted)
    states = States(trace, None, system.vocab)
    starts = {round_.start: index for index, round_ in enumerate(trace.rounds)}
    shared = [round_ for round_ in live.rounds if round_.start in starts]
    assert shared[0] is live.rounds[0]
    random.Random(salt).shuffle(shared)  # the n-gram counts must go back as well as on
    for round_ in shared:
        found = states.replay(starts[round_.start], wanted)
        assert found is not None
        assert found.tree == round_.tree
        assert found.committed == min(len(round_.committed), states.end - round_.start)
        assert found.accepted == round_.accepted[: len(found.accepted)]


@settings(max_examples=examples(60))
@given(salt=st.integers(0, 10**6), exact=st.booleans(), other=changes)
def test_a_sweep_is_the_mean_of_replays(salt: int, exact: bool, other: dict[str, Any]) -> None:
    system = scripted(salt, exact, 40)
    trace = run(system, replace(CONFIG, top_k=12))
    states, config = States(trace, None, system.vocab), replace(CONFIG, **other)
    lams, budgets = (0.0, 0.7, 1.3), (2, 3, 7, 20)
    rows = list(sweep(states, config, lams, budgets[::-1]))
    assert [(row.lam, row.budgets) for row in rows] == [(lam, budgets) for lam in lams]
    for row in rows:
        for budget, mean in zip(row.budgets, row.means, strict=True):
            under = replace(config, lam=row.lam, budget=budget)
            found = [states.replay(index, under) for index in range(len(states))]
            counts = [one.committed for one in found if one]
            assert mean == sum(counts) / len(counts)


def test_a_search_that_is_not_nested_is_swept_tree_by_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SEARCHES, "_records", dict(SEARCHES._all()))

    @presto.search("path_or_level")
    def path_or_level(space: Any) -> list[Any]:
        """A path with an even budget, the first level with an odd one."""
        if space.budget % 2:
            return list(space.children(space.root))[: space.budget]
        nodes = [space.root]
        while len(nodes) <= space.budget and (below := list(space.children(nodes[-1]))):
            nodes.append(below[0])
        return nodes[1:]

    states = States(run(tiny_gated(5), CONFIG, TABLE), TABLE)
    config = replace(CONFIG, search="path_or_level")
    (row,) = sweep(states, config, (0.7,), (3, 4))
    for budget, mean in zip(row.budgets, row.means, strict=True):
        under = replace(config, budget=budget)
        found = [states.replay(index, under) for index in range(len(states))]
        assert mean == sum(one.committed for one in found if one) / len(found)
    assert row.means[0] != row.means[1]


def test_a_run_that_drafted_nothing_has_no_sweep() -> None:
    trace = run(tiny_gated(5), replace(CONFIG, max_new_tokens=4), method="ar")
    assert list(sweep(States(trace, TABLE), trace.config)) == []


def test_a_sweep_goes_over_what_the_panel_says() -> None:
    assert (LAMS[0], LAMS[-1], BUDGETS[0], BUDGETS[-1]) == (0.0, 2.0, 8, 256)


@pytest.mark.parametrize("name", ["draft_length", "seed", "static_ngram"])
def test_what_a_replay_cannot_change_is_refused(name: str) -> None:
    other = {"draft_length": 4, "seed": 1, "static_ngram": False}[name]
    with pytest.raises(ValueError, match=f"a replay cannot change {name}, only beam_width"):
        check_free(replace(CONFIG, **{name: other}), CONFIG)
    trace = run(tiny_gated(5), CONFIG, TABLE)
    with pytest.raises(ValueError, match=f"cannot change {name}"):
        list(sweep(States(trace, TABLE), replace(CONFIG, **{name: other})))


def test_rounds_can_be_asked_for_backwards() -> None:
    trace = run(tiny_gated(5), CONFIG, TABLE)
    states = States(trace, TABLE)
    forward = [states.replay(index, CONFIG) for index in range(len(states))]
    backward = [states.replay(index, CONFIG) for index in reversed(range(len(states)))]
    assert forward == backward[::-1]
