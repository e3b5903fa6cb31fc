"""Lanes on one clock, alternatives' bars, rows of figures and stepping by position in the text."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from presto.records import (
    Choice,
    DecodeConfig,
    Finish,
    Marginals,
    Method,
    Round,
    Stages,
    Trace,
    Tree,
)
from presto.records.measures import committed_counts, total_seconds
from presto.runs.counterfactuals import Alternative
from tests.support import synthetic
from viz.alternatives import (
    NOT_DRAFTED,
    _get_alternatives_info,
    _get_alternatives_plot,
    _get_alternatives_total_info,
    alternatives_figure,
    alternatives_total_figure,
)
from viz.lane_rows import (
    LaneRow,
    TextCheck,
    aligned_rounds,
    differences,
    lane_rows,
    next_difference,
)
from viz.lanes import NOT_RUN, _get_lanes_info, _get_lanes_plot, lane_names, lanes_figure

TEXT = (5, 6, 7, 8, 9, 10)


def lane(
    method: Method,
    lengths: Sequence[int],
    seconds: float = 1.0,
    text: Sequence[int] = TEXT,
    finish: Finish = "eos",
    margin: float = 2.0,
    config: DecodeConfig | None = None,
) -> Trace:
    """A run that commits ``text`` in rounds of these lengths, each taking ``seconds``."""
    rounds, start = [], 2
    for length in lengths:
        committed = tuple(text[start - 2 : start - 2 + length])
        place = start - 2 + margin  # tells the rounds apart
        rounds.append(
            Round(
                start=start,
                exact=None,
                marginals=Marginals(),
                tree=synthetic.chain(1, committed[:-1]),
                log_p=(0.0,) * length,
                accepted=tuple(range(1, length)),
                choice=Choice(committed[-1]),
                committed=committed,
                margin=place,
                forwards=1,
                seconds=Stages(verify=seconds),
            )
        )
        start += length
    return replace(
        synthetic.trace(rounds=0, method=method),
        config=config or DecodeConfig(),
        prompt_ids=(1, 2),
        rounds=tuple(rounds),
        finish=finish,
    )


PRESTO, LINEAR, AR = (
    lane("presto", (3, 3), 1.5),
    lane("linear", (2, 1, 3), 1.25),
    lane("ar", (1,) * 6),
)
BLIND = lane("blind", (3, 2, 1), 1.5)


def found(*committed: int, own: int = 1) -> tuple[Alternative, ...]:
    names = ("linear", "pmi", "<b>")[: len(committed)]
    return tuple(
        Alternative(name, Tree((1,)), (), count, i == own)
        for i, (name, count) in enumerate(zip(names, committed, strict=True))
    )


def test_lanes_run_on_one_clock() -> None:
    info = _get_lanes_info([PRESTO, LINEAR, AR], 0)
    assert [run.name for run in info.lanes] == ["PRESTO", "linear", "autoregressive"]
    assert info.lanes[0].clock.seconds == [0.0, 1.5, 3.0]
    assert info.lanes[1].clock.tokens == [0, 2, 3, 6]
    assert [run.flag for run in info.lanes] == [
        "PRESTO 3.00 s",
        "linear 3.75 s",
        "autoregressive 6.00 s",
    ]
    assert info.now == 1.5
    assert len({(run.colour, run.dash) for run in info.lanes}) == 3


def test_a_stopped_lane_says_so_and_an_empty_one_is_left_out() -> None:
    info = _get_lanes_info([lane("presto", (2,), finish="stopped"), lane("ar", ())])
    assert [run.flag for run in info.lanes] == ["PRESTO 1.00 s, stopped"]
    assert info.now is None


def test_lanes_of_one_method_are_told_apart() -> None:
    other = lane("presto", (6,), config=DecodeConfig(scorer="product", lam=0.2, normalised=False))
    names = [
        "PRESTO (pmi λ 0.7, normalised)",
        "PRESTO (product λ 0.2)",
        "PRESTO (product λ 0.2) #2",
        "autoregressive",
    ]
    runs = [PRESTO, other, other, AR]
    assert lane_names([(run.method, run.config) for run in runs]) == names
    drawn = _get_lanes_info([PRESTO, other, other, AR]).lanes
    assert len({(run.colour, run.dash) for run in drawn}) == 4


def test_lanes_are_drawn_as_steps_with_a_flag_each() -> None:
    figure = _get_lanes_plot(_get_lanes_info([PRESTO, LINEAR, AR], 1)).figure()
    assert {line.line.shape for line in figure.data} == {"hv"}
    flags = figure.layout.annotations
    assert [flag.text.split(" ")[0] for flag in flags] == ["PRESTO", "linear", "autoregressive"]
    assert [(flag.x, flag.y) for flag in flags] == [(3.0, 6), (3.75, 6), (6.0, 6)]
    assert len({flag.ay for flag in flags}) == 3
    assert figure.layout.shapes[0].x0 == 3.0
    assert not lanes_figure([PRESTO]).layout.shapes


def test_no_lanes_say_so() -> None:
    for traces in ([], [lane("ar", ())]):
        assert lanes_figure(traces).layout.annotations[0].text == NOT_RUN


def test_other_prompts_and_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="one prompt only"):
        lanes_figure([PRESTO, synthetic.trace(rounds=2)])
    warm = [
        lane("presto", (6,), config=DecodeConfig(temperature=1.0, seed=seed)) for seed in (1, 2)
    ]
    with pytest.raises(ValueError, match="one seed and temperature"):
        lane_rows(warm)
    assert lane_rows([lane("presto", (6,), config=DecodeConfig(seed=seed)) for seed in (1, 2)])


def test_alternatives_of_a_round_and_on_average() -> None:
    rounds = [found(2, 4, 1), (), found(3, 4, 3)]
    assert _get_alternatives_info(rounds[0])[1:] == (
        ("linear", "pmi", "<b>"),
        (2.0, 4.0, 1.0),
        (False, True, False),
        1,
    )
    assert _get_alternatives_total_info(rounds)[1:] == (
        ("linear", "pmi", "<b>"),
        (2.5, 4.0, 2.0),
        (False, True, False),
        2,
    )


def test_alternatives_bars_mark_the_runs_own_and_escape_names() -> None:
    figure = _get_alternatives_plot(_get_alternatives_info(found(2, 4, 1))).figure()
    others, own = figure.data
    assert (list(own.y), list(own.x)) == ([1], [4.0])
    assert (list(others.y), list(others.x)) == ([0, 2], [2.0, 1.0])
    assert list(figure.layout.yaxis.ticktext) == ["linear", "<b>pmi ◂</b>", "&lt;b&gt;"]
    assert own.customdata[0].endswith("own")
    assert isinstance(own.marker.color, str)  # a list would not be recoloured on a dark page


def test_rounds_without_alternatives_say_so() -> None:
    assert alternatives_figure([()], 0).layout.annotations[0].text == NOT_DRAFTED
    assert alternatives_total_figure([(), ()]).layout.annotations[0].text == NOT_DRAFTED
    assert alternatives_total_figure([]).layout.annotations[0].text == NOT_DRAFTED
    assert alternatives_figure([(), found(0, 0)], 1).layout.xaxis.range[1] > 0


def test_the_lane_rows_compares_with_the_first_lane_and_the_text_with_ar() -> None:
    first, second, third = lane_rows([PRESTO, LINEAR, AR])
    same = "identical to the autoregressive text"
    assert first == LaneRow(
        "PRESTO",
        "pmi λ 0.7, normalised",
        3.0,
        2.0,
        1.0,
        TextCheck(True, text=same),
        "32 nodes, 12 positions",
    )
    assert second.draft == "12 positions"
    (chosen,) = lane_rows([replace(PRESTO, tuning=synthetic.TUNING)])
    assert chosen.draft == "32 nodes, 12 positions, auto"
    assert (second.tau, second.tokens_per_second, second.ratio) == (2.0, 1.6, 0.8)
    assert third == LaneRow(
        "autoregressive", "", 1.0, 1.0, 0.5, TextCheck(True, text="the reference")
    )


def test_a_difference_is_named_with_the_margin_of_that_very_position() -> None:
    (row, _) = lane_rows([lane("presto", (3, 3), text=(5, 6, 7, 8, 40, 10)), AR])
    assert row.check[:3] == (False, 4, AR.rounds[4].margin)
    assert (
        row.check.text == "differs from token 5 on; the target’s two best logits are 6 apart there"
    )


@pytest.mark.parametrize("finish", ["stopped", "length"])
def test_a_lane_that_ended_early_is_equal_as_far_as_it_goes(finish: Finish) -> None:
    (row, _) = lane_rows([lane("presto", (3,), finish=finish), AR])
    assert (row.check.same, row.check.text) == (True, "identical as far as both go (3 tokens)")


def test_a_text_that_goes_on_where_the_other_ended_differs() -> None:
    (row, _) = lane_rows([lane("presto", (3,)), AR])
    assert row.check[:3] == (False, 3, AR.rounds[3].margin)
    (row, _) = lane_rows([PRESTO, lane("ar", (1,) * 3)])
    assert row.check[:3] == (False, 3, PRESTO.rounds[1].margin)


def test_without_an_autoregressive_lane_nothing_is_said_of_the_text() -> None:
    (row,) = lane_rows([PRESTO])
    assert (row.check.same, row.check.text) == (None, "")
    row = lane_rows([lane("presto", ()), AR])[0]
    assert (row.tau, row.ratio, row.check.same) == (0.0, None, None)
    assert lane_rows([]) == []


def test_rounds_are_aligned_by_position_in_the_text() -> None:
    lanes = [PRESTO, LINEAR, AR, lane("presto", ())]
    assert aligned_rounds(lanes, 0) == [0, 0, 0, None]
    assert aligned_rounds(lanes, 2) == [0, 1, 2, None]
    assert aligned_rounds(lanes, 3) == [1, 2, 3, None]
    assert aligned_rounds(lanes, 6) == aligned_rounds(lanes, -1) == [None] * 4


def test_the_next_difference_is_where_only_some_lanes_begin_a_round() -> None:
    assert next_difference([PRESTO, LINEAR], 0) == 2  # rounds begin at 0, 3 and at 0, 2, 3
    assert next_difference([PRESTO, LINEAR], 2) is None
    assert differences([PRESTO, LINEAR, BLIND]) == [2, 5]
    assert differences([]) == []
    assert next_difference([PRESTO, BLIND, AR], 0) == 5
    assert next_difference([PRESTO, LINEAR, BLIND], 2) == 5
    assert next_difference([PRESTO, AR], 0) is None
    assert next_difference([PRESTO, lane("blind", (2,), finish="stopped")], 0) is None


def test_recorded_shapes_work_together() -> None:
    lanes = synthetic.recording(rounds=5).traces
    same_text = [replace(trace, rounds=lanes[0].rounds) for trace in lanes]
    assert next_difference(same_text, 0) is None
    info = _get_lanes_info(lanes)
    assert [run.clock.tokens[-1] for run in info.lanes] == [
        committed_counts(trace)[-1] for trace in lanes
    ]
    seconds = pytest.approx([total_seconds(trace) for trace in lanes], rel=1e-12)
    assert [run.clock.seconds[-1] for run in info.lanes] == seconds
