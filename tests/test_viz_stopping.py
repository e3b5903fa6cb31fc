"""Why a round stopped: the target's tokens there, the tree's offer, and the sentence."""

import math
from dataclasses import replace

import pytest

from presto.records import Choice, Marginals, Round, Stages, Trace, Tree
from tests.support import synthetic
from viz import stopping_figure, stopping_sentence
from viz.stopping import DRAWN, _get_stopping_info, _get_stopping_plot
from viz.view import view_of

PIECES = {0: "the", 1: " a", 2: " cat", 3: " dog", 4: " cow", 5: " pig", 6: " ox", 7: " hen"}
# root → 1 → three animals, of which " dog" is among the target's first tokens; 1 is accepted
TREE = Tree(
    tokens=(0, 1, 3, 4, 5, 3),
    parents=(-1, 0, 1, 1, 1, 0),
    rank=(0, 0, 0, 4, 2, 1),
    log_q=(0.0,) * 6,
    log_rho=(0.0,) * 6,
    blind=(0.0,) * 6,
    aligned=(0.0,) * 6,
)
ROUND = Round(
    start=3,
    exact=None,
    marginals=Marginals(),
    tree=TREE,
    log_p=(0.0, -0.1, math.log(0.2), math.log(0.01), math.log(0.04), -5.0),
    accepted=(1,),
    choice=Choice(2, (2, 3, 6), (0.62, 0.2, 0.1)),
    committed=(1, 2),
    margin=1.0,
    forwards=1,
    seconds=Stages(),
)


def hand_made(temperature: float = 0.0, **changes: object) -> Trace:
    trace = synthetic.trace(rounds=0)
    config = replace(trace.config, temperature=temperature)
    round_ = replace(ROUND, **changes)  # type: ignore[arg-type]
    return replace(trace, config=config, pieces=PIECES, rounds=(round_,))


def test_the_targets_tokens_come_first_then_what_else_was_offered() -> None:
    info = _get_stopping_info(view_of(hand_made(), 0))
    rows = [
        (option.token, option.probability, option.offered, option.source, option.chosen)
        for option in info.options
    ]
    assert [row[:1] + row[2:] for row in rows] == [
        (2, None, "", True),
        (3, 2, "q rank 1", False),
        (6, None, "", False),
        (5, 4, "q rank 3", False),
        (4, 3, "q rank 5", False),
    ]
    assert [row[1] for row in rows] == pytest.approx([0.62, 0.2, 0.1, 0.04, 0.01])
    assert info.depth == 2


def test_sentence_of_a_disagreement() -> None:
    expected = (
        "Stopped at depth 2: the target chose “␣cat” (62.0%), the tree offered “␣dog”, “␣pig”, "
        "“␣cow” there."
    )
    assert stopping_sentence(hand_made()) == expected


def test_a_sampled_target_drew() -> None:
    choice = Choice(7, (2, 3, 6), (0.62, 0.2, 0.1))
    trace = hand_made(temperature=0.8, choice=choice, committed=(1, 7))
    options = _get_stopping_info(view_of(trace, 0)).options
    drawn = next(option for option in options if option.chosen)
    assert (drawn.token, drawn.probability) == (7, None)
    assert "the target drew “␣hen” (not among its first tokens)" in stopping_sentence(trace)
    assert stopping_figure(trace).data[1].name == "drawn by the target"


def test_sentence_at_the_end_of_the_tree() -> None:
    trace = hand_made(accepted=(1, 2), committed=(1, 3, 2))
    assert stopping_sentence(trace) == (
        "Stopped at the end of the tree: nothing was drafted below; the target chose “␣cat” "
        "(62.0%)."
    )


def test_sentence_where_the_run_ended() -> None:
    assert (
        stopping_sentence(hand_made(committed=(1,)))
        == "The run ended here: the token cap was reached."
    )
    ended = replace(hand_made(committed=(1,)), finish="eos")
    assert stopping_sentence(ended) == "The run ended here: the model ended its answer."


def test_a_round_that_ended_with_the_exact_token_was_not_verified() -> None:
    trace = hand_made(
        exact=0, tree=Tree((0,)), log_p=(0.0,), accepted=(), choice=Choice(0), committed=(0,)
    )
    assert _get_stopping_info(view_of(trace, 0)).options == ()
    assert "not asked" in stopping_figure(trace).layout.annotations[0].text
    assert stopping_sentence(trace).startswith("The run ended here")


def test_an_autoregressive_round_shows_the_choice_alone() -> None:
    trace = synthetic.trace(rounds=1, budget=0)
    info = _get_stopping_info(view_of(trace, 0))
    assert [option.token for option in info.options if option.chosen] == [
        trace.rounds[0].choice.token
    ]
    assert [option.offered for option in info.options] == [None] * len(info.options)
    assert stopping_sentence(trace).startswith(
        "Nothing was drafted in this round: the target chose “"
    )
    assert not stopping_figure(trace).data[2].x


def test_what_was_looked_up_is_not_ranked_by_the_drafter() -> None:
    trace = hand_made()
    trace = replace(trace, config=replace(trace.config, top_k=4))
    sources = [option.source for option in _get_stopping_info(view_of(trace, 0)).options]
    assert sources == ["", "q rank 1", "", "q rank 3", "looked up in the text so far"]


def test_bars_marks_and_words_say_what_the_info_says() -> None:
    info = _get_stopping_info(view_of(hand_made(), 0))
    bars, chosen, offered = _get_stopping_plot(info).figure().data
    assert list(bars.x) == pytest.approx([0.62, 0.2, 0.1, 0.04, 0.01])
    assert list(bars.text) == [
        "62.0% · chosen by the target",
        "20.0% · offered, q rank 1",
        "10.0%",
        "4.0% · offered, q rank 3",
        "1.0% · offered, q rank 5",
    ]
    assert (list(chosen.y), list(offered.y)) == ([0], [1, 3, 4])
    assert list(offered.ids) == ["2:", "4:", "3:"]
    assert chosen.marker.symbol == "star"


def test_many_offers_are_cut_in_figure_and_sentence() -> None:
    count = 30
    zeros = (0.0,) * (count + 1)
    tree = Tree(
        tuple(range(count + 1)),
        (-1, *(0,) * count),
        tuple(range(count + 1)),
        zeros,
        zeros,
        zeros,
        zeros,
    )
    round_ = replace(
        ROUND,
        tree=tree,
        log_p=zeros,
        accepted=(),
        choice=Choice(100, (100,), (0.9,)),
        committed=(100,),
    )
    trace = replace(hand_made(), pieces={i: f" t{i}" for i in range(101)}, rounds=(round_,))
    figure = stopping_figure(trace)
    assert len(_get_stopping_info(view_of(trace, 0)).options) == count + 1
    assert len(figure.data[0].x) == DRAWN
    assert figure.layout.annotations[0].text == f"+{count + 1 - DRAWN} more offered"
    assert "“␣t3” and 27 more there." in stopping_sentence(trace)


@pytest.mark.parametrize("seed", range(5))
def test_large_trees(seed: int) -> None:
    trace = synthetic.trace(seed, rounds=2, budget=512, depth=15)
    for index, round_ in enumerate(trace.rounds):
        info = _get_stopping_info(view_of(trace, index))
        stop = round_.accepted[-1] if round_.accepted else 0
        offered = {option.offered for option in info.options} - {None}
        below = {i for i, parent in enumerate(round_.tree.parents) if parent == stop}
        assert offered == below
        assert sum(option.chosen for option in info.options) == 1
        assert len({option.token for option in info.options}) == len(info.options)


@pytest.mark.parametrize("seed", range(5))
def test_hostile_tokens_are_spelled_and_the_hover_is_constant(seed: int) -> None:
    figure = stopping_figure(
        synthetic.trace(seed, rounds=1, budget=60, depth=2, pieces=synthetic.HOSTILE)
    )
    bars = figure.data[0]
    shown = str(bars.customdata) + str(bars.text) + str(figure.layout.yaxis.ticktext)
    assert all(mark not in shown for mark in ("<", ">", "$", "\u202e"))
    assert bars.hovertemplate == stopping_figure(hand_made()).data[0].hovertemplate


def test_hostile_tokens_stay_visible_in_the_sentence() -> None:
    trace = replace(hand_made(), pieces=PIECES | {2: "\u202e", 3: "\x00"})
    assert "“<RLO>” (62.0%), the tree offered “<NUL>”" in stopping_sentence(trace)
