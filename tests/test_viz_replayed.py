"""A replayed round in words and as a tree, all rounds and the sweep: what is said is so."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presto
import viz
from presto.records import DecodeConfig, Trace, changed
from presto.records.tree import bonus_committed, depths, spelled
from presto.runs.states import States
from presto.runs.sweep import SweepRow
from presto.searches import SEARCHES
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.runs import TABLE, run, scripted
from tests.support.scorers import USUAL
from viz.replayed import ENDED, NOT_DRAFTED, replayed_sentence, replayed_view, setting_words
from viz.rounds import EMPTY, RoundsInfo, _get_rounds_info, _get_rounds_sentence
from viz.sweep import (
    SweepInfo,
    _get_sweep_info,
    _get_sweep_plot,
    _get_sweep_sentence,
    grid_of,
    sweep_table,
    swept_alike,
)

CONFIG = DecodeConfig(budget=9, max_new_tokens=18, draft_length=5, top_k=12, seed=4)
changes = st.fixed_dictionaries(
    {
        "scorer": st.sampled_from(USUAL),
        "lam": st.sampled_from((0.0, 0.7, 2.0)),
        "search": st.sampled_from(sorted(SEARCHES.built_in)),
        "budget": st.integers(1, 30),
        "top_k": st.integers(1, 12),
        "beam_width": st.integers(1, 8),
        "lookup": st.sampled_from((0, 0, 3)),
    }
)


@settings(max_examples=examples(150))
@given(
    salt=st.integers(0, 10**6),
    exact=st.booleans(),
    eos=st.integers(0, 40),
    cap=st.integers(1, 24),
    other=changes,
)
def test_rows_and_words_agree_with_the_replay(
    salt: int, exact: bool, eos: int, cap: int, other: dict[str, Any]
) -> None:
    system = scripted(salt, exact, eos)
    trace = run(system, replace(CONFIG, max_new_tokens=cap))
    states, config = States(trace, None, system.vocab), replace(CONFIG, **other)
    for index, own in enumerate(trace.rounds):
        found = states.replay(index, config)
        assert found is not None
        view = replayed_view(states, index, found, config)
        accepted = [row.node for row in view.nodes if row.status == "accepted"]
        assert len(view.round.committed) == found.committed
        assert len(accepted) + exact + bonus_committed(view.round) == found.committed
        known = dict(zip(spelled(own.tree), own.log_p, strict=True))
        for row, path in zip(view.nodes[1:], spelled(found.tree)[1:], strict=False):
            assert (row.probability is None) == (path not in known)
        check_sentence(states, index, found, config)


def check_sentence(states: States, index: int, found: Any, config: DecodeConfig) -> None:
    """The place named is the first token of the text that the tree does not hold, and the rank
    named is the budget with which it would.
    """
    said = replayed_sentence(states, index, found, config)
    place = len(found.accepted) + 1
    assert f" {found.committed} token" in said
    if "lost at" not in said:
        assert "text ends there" in said or f"all {place - 1} drafted positions" in said
        return
    assert f"lost at +{place}, where " in said
    token = states.text[states.root(index) + place]
    assert token not in {
        found.tree.tokens[node]
        for node, depth in enumerate(depths(found.tree.parents))
        if depth == place and found.tree.parents[node] == ([0, *found.accepted][-1])
    }
    if " rank " in said and "beyond" not in said:
        rank = int(said.rstrip(".").rpartition(" ")[2].replace(",", ""))
        enough, less = (replace(config, budget=budget) for budget in (rank, rank - 1))
        assert len(states.replay(index, enough).accepted) >= place  # type: ignore[union-attr]
        assert len(states.replay(index, less).accepted) == place - 1  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def fibonacci() -> Trace:
    return presto.load_recording("Fibonacci: code").traces[0]


@pytest.mark.parametrize(
    ("index", "other", "said"),
    [
        (0, {}, "The run’s own settings: 9 tokens; lost at +8, where ‘"),
        (0, {"lam": 0}, "λ 0: 4 tokens instead of 9; lost at +3, where ‘def’ fell to rank 54."),
        (1, {"lam": 0}, "λ 0: 4 tokens as in the run; lost at +3, where ‘␣<=’ is not among"),
        (21, {"lam": 0}, "λ 0: 4 tokens instead of 3; lost at +3, where ‘0’ has rank 214."),
        (
            2,
            {"search": "linear"},
            "Search linear: 3 tokens instead of 7; lost at +2, where ‘:’ was",
        ),
        (2, {"search": "beam", "beam_width": 2}, "Search beam, beam width 2: 7 tokens as in"),
        (2, {"normalised": False}, "Normalised off: 6 tokens instead of 7; lost at +5"),
    ],
    ids=str,
)
def test_sentences_of_a_real_run(
    fibonacci: Trace, index: int, other: dict[str, Any], said: str
) -> None:
    states = States(fibonacci, presto.face.table_of(fibonacci.system))
    config = changed(fibonacci.config, other)
    found = states.replay(index, config)
    assert replayed_sentence(states, index, found, config).startswith(said)


def test_nodes_below_the_end_of_the_text_are_not_called_rejected() -> None:
    trace = run(scripted(1, False, 40), replace(CONFIG, budget=1), most=1)
    states = States(trace, None, 12)
    config = replace(CONFIG, budget=200)
    found = states.replay(0, config)
    assert found is not None
    view = replayed_view(states, 0, found, config)
    last = found.accepted[-1]
    below = [row for row in view.nodes if row.parent == last]
    assert below
    assert {(row.status, row.word) for row in below} == {("beyond", ENDED)}
    assert replayed_sentence(states, 0, found, config).endswith("the run’s text ends there.")


def test_words_of_settings_name_what_differs() -> None:
    own = DecodeConfig()
    assert setting_words(own, own) == ""
    other = replace(own, scorer="blind", lam=0.4, normalised=False, budget=64, order=2)
    assert setting_words(other, own) == (
        "scorer blind, normalised off, λ 0.4, n-gram order 2, budget 64"
    )


def test_a_round_without_drafts_has_nothing_to_replay() -> None:
    trace = run(tiny_gated(5), replace(CONFIG, max_new_tokens=4), TABLE, method="ar")
    assert replayed_sentence(States(trace, TABLE), 0, None, trace.config) == NOT_DRAFTED


# ---- all rounds ----------------------------------------------------------------------------------


def test_rounds_are_counted_better_equal_and_worse() -> None:
    info = RoundsInfo((3, 3, None, 5, 2), (4, 3, None, 1))
    assert info.pairs == [(3, 4), (3, 3), (5, 1)]
    assert _get_rounds_sentence(info).startswith(
        "Mean 2.67 tokens per round against 3.67; better in 1, equal in 1, worse in 1 of 3 rounds."
    )
    assert _get_rounds_sentence(RoundsInfo((None,), (None,))) == EMPTY


def test_the_runs_own_line_has_the_rounds_that_are_not_known_yet() -> None:
    trace = run(tiny_gated(5), CONFIG, TABLE)
    own = tuple(len(round_.committed) for round_ in trace.rounds)
    assert _get_rounds_info(trace, [2]) == RoundsInfo(own, (2,))
    assert _get_rounds_info(trace, [None]).own == (None, *own[1:])


# ---- the sweep -----------------------------------------------------------------------------------

ROWS = (SweepRow(0.0, (8, 16), (2.0, 3.0)), SweepRow(0.5, (8, 16), (2.5, 3.0)))


def test_the_best_cell_is_the_cheapest_of_the_highest() -> None:
    assert SweepInfo(ROWS, None, 2).best == (0.0, 16, 3.0)
    assert _get_sweep_sentence(SweepInfo(ROWS, None, 2)) == (
        "Most at λ 0 and budget 16: 3.00 tokens per round."
    )
    assert sweep_table(ROWS)[1:] == [[0.0, 8, 2.0], [0.0, 16, 3.0], [0.5, 8, 2.5], [0.5, 16, 3.0]]


def test_the_runs_own_point_is_on_the_map_whatever_it_is() -> None:
    own = DecodeConfig(lam=0.33, budget=40)
    lams, budgets = grid_of(own)
    assert 0.33 in lams
    assert 40 in budgets
    rows = [SweepRow(lam, budgets, tuple(map(float, budgets))) for lam in lams]
    _, point = _get_sweep_plot(_get_sweep_info(rows, own, True)).data
    assert (point["x"], point["y"]) == (["40"], ["0.33"])
    assert len(_get_sweep_plot(_get_sweep_info(rows[:1], own, True)).data) == 1  # not there yet
    assert swept_alike(replace(own, lam=1.0, budget=3), own)
    assert not swept_alike(replace(own, top_k=3), own)


# ---- figures -------------------------------------------------------------------------------------


def test_figures_for_notebooks(fibonacci: Trace) -> None:
    tree = viz.replayed_figure(fibonacci, 2, {"budget": 12, "scorer": "blind"})
    assert sum(len(part.ids or ()) for part in tree.data) == 14  # root and bonus among them
    own, other = viz.rounds_figure(fibonacci, {"scorer": "blind"}).data
    blind = presto.replay(fibonacci, scorer="blind")
    assert list(own.y) == [len(round_.committed) for round_ in fibonacci.rounds]
    assert list(other.y) == [one and one.committed for one in blind]
    cells, _ = viz.sweep_figure(fibonacci).data
    row = presto.sweep(fibonacci, lams=[0.7])[0]
    assert list(cells.z[list(cells.y).index("0.7")]) == list(row.means)
    with pytest.raises(ValueError, match="cannot change seed"):
        viz.replayed_figure(fibonacci, 0, {"seed": 1})
