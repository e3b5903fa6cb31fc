"""The score and speed-up figures and the numbers line."""

from dataclasses import replace

import pytest

from presto.records import Choice, Marginals, Method, Round, Stages, Trace
from presto.records.measures import Clock, Totals, cumulative_speedup, totals
from tests.support import synthetic
from tests.support.checks import some
from viz import scores_figure, speed_sentence, speedup_figure
from viz.numbers import numbers, stage_shares
from viz.scores import _get_scores_info, _get_scores_plot, _labels
from viz.speedup import (
    ORACLE,
    PLAIN,
    WARM_UP,
    SpeedupInfo,
    SpeedupPoints,
    _get_speedup_info,
    _get_speedup_plot,
    oracle_committed,
)
from viz.view import view_of

LANES = {trace.method: trace for trace in synthetic.recording(rounds=6).traces}


def slower(trace: Trace) -> Trace:
    return replace(
        trace, rounds=tuple(replace(r, seconds=Stages(verify=9.0)) for r in trace.rounds)
    )


def seconds(info: SpeedupInfo) -> list[float | None]:
    return [point.seconds for point in info.points]


def test_scores_info_has_all_drafted_nodes() -> None:
    info = _get_scores_info(view_of(LANES["presto"], 0))
    assert [row.node for row in info.nodes] == list(range(1, 33))
    assert not info.log_axis
    assert _get_scores_info(view_of(synthetic.trace(rounds=1, budget=512, depth=15), 0)).log_axis


def test_scores_of_a_round_without_a_tree_say_so() -> None:
    figure = scores_figure(LANES["ar"], round=0)
    assert not figure.data
    assert "Nothing was drafted" in figure.layout.annotations[0].text


def test_scores_lines_join_the_two_ranks() -> None:
    info = _get_scores_info(view_of(LANES["presto"], 0))
    drawn = {}
    for part in _get_scores_plot(info).figure().data:
        for i in range(0, len(part.ids), 3):
            drawn[int(part.ids[i].split(":")[0])] = (part.y[i], part.y[i + 1])
    assert drawn == {row.node: (row.blind_rank, row.aligned_rank) for row in info.nodes}


def test_neighbouring_labels_are_merged() -> None:
    rows = list(_get_scores_info(view_of(LANES["presto"], 0)).nodes[:3])
    near = [rows[i]._replace(label=f"t{i}", aligned_rank=rank) for i, rank in enumerate((1, 2, 9))]
    assert [text.strip() for text in _labels(near).values()] == ["t0  t1", "t2"]


def test_speedup_info_is_the_measured_ratio() -> None:
    info = _get_speedup_info(LANES["presto"], LANES["linear"])
    measured = cumulative_speedup(LANES["presto"], LANES["linear"])
    assert seconds(info) == measured
    assert info.rounds == len(info.points) == 6


def test_speedup_goes_as_far_as_linear() -> None:
    short = replace(LANES["linear"], rounds=LANES["linear"].rounds[:4])
    measured = cumulative_speedup(LANES["presto"], short)
    known = [value for value in measured if value is not None]
    assert 0 < len(known) < len(measured)
    assert seconds(_get_speedup_info(LANES["presto"], short)) == known


def test_points_that_come_one_by_one_are_those_of_the_whole() -> None:
    points, clock, added = SpeedupPoints(LANES["presto"], LANES["ar"]), Clock(), []
    for round_ in LANES["linear"].rounds:
        clock.tick(round_)
        added += points.extend(clock)
    whole = _get_speedup_info(LANES["presto"], LANES["linear"], LANES["ar"])
    assert points.info == whole
    assert tuple(added) == whole.points


@pytest.mark.parametrize(
    "linear", [None, replace(LANES["linear"], rounds=())], ids=["absent", "not begun"]
)
def test_speedup_without_linear_waits(linear: Trace | None) -> None:
    assert "as soon as" in speedup_figure(LANES["presto"], linear).layout.annotations[0].text


def test_speedup_below_one_is_drawn_below_the_line() -> None:
    info = _get_speedup_info(slower(LANES["presto"]), LANES["linear"])
    assert all(value is not None and value < 1 for value in some(seconds(info)))
    assert _get_speedup_plot(info, 2).layout["yaxis"]["rangemode"] == "tozero"
    run, linear = totals(slower(LANES["presto"])), totals(LANES["linear"])
    line = {n.name: n.value for n in numbers(run, {"linear": linear})}
    assert line["vs linear"].endswith("slower")


def test_speedup_marks_the_round() -> None:
    assert speedup_figure(LANES["presto"], LANES["linear"], round=2).layout.shapes[1].x0 == 3


def test_speedup_of_an_empty_run() -> None:
    info = _get_speedup_info(replace(LANES["presto"], rounds=()), LANES["linear"])
    assert info.points == ()
    assert all(line["x"] == [] for line in some(_get_speedup_plot(info).data))


def lane(
    method: Method,
    *steps: tuple[int, float],
    marginals: Marginals = Marginals(),  # noqa: B008
    exact: bool = False,
) -> Trace:
    """A run of rounds ``(tokens committed, seconds)`` that emits 10, 11, 12, … and drafts
    nothing.
    """
    made, count = [], 0
    for size, seconds in steps:
        tokens = tuple(range(10 + count, 10 + count + size))
        root, own = (tokens[0], tokens[0]) if exact else (1, None)
        made.append(
            Round(
                start=3 + count,
                exact=own,
                marginals=marginals,
                tree=synthetic.chain(root, tokens[int(exact) : -1]),
                log_p=(0.0,) * (size - exact),
                accepted=tuple(range(1, size - exact)),
                choice=Choice(tokens[-1]),
                committed=tokens,
                margin=1.0,
                forwards=1,
                seconds=Stages(verify=seconds),
            )
        )
        count += size
    trace = synthetic.trace(rounds=0, method=method)
    return replace(trace, rounds=tuple(made), pieces={i: f" t{i}" for i in range(99)})


def drafted(*rows: tuple[int, ...]) -> Marginals:
    return Marginals(rows, tuple((-1.0,) * len(row) for row in rows))


def test_plain_decoding_is_compared_at_the_same_token_counts() -> None:
    ours, linear = lane("presto", (3, 1.0), (3, 1.0)), lane("linear", (2, 1.0), (2, 1.0), (2, 2.0))
    ar = lane("ar", *((1, 0.5),) * 4)
    # Linear has 3 tokens after 1.5 s and AR too; AR never has 6.
    first, second = _get_speedup_info(ours, linear, ar).points
    assert (first.ar, second.ar) == (pytest.approx(1.5 / 1.5), None)
    faster = _get_speedup_info(ours, linear, lane("ar", *((1, 0.25),) * 6))
    assert [point.ar for point in faster.points] == pytest.approx([2.0, 4.0 / 1.5])
    assert PLAIN in [part.name for part in speedup_figure(ours, linear, ar=ar).data]
    assert PLAIN not in [part.name for part in speedup_figure(ours, linear).data]


def test_times_begin_after_the_warm_up_rounds_of_both_lanes() -> None:
    cold = ((2, 9.0), *((2, 1.0),) * (2 * WARM_UP))
    ours, linear = lane("presto", *cold), lane("linear", *((4, 2.0),) * 4)
    ar = lane("ar", *((1, 0.5),) * 14)
    points = _get_speedup_info(ours, linear, ar).points
    # Linear leaves its third round with the 12th token, in round 6 of ours.
    assert [point.seconds for point in points] == [None] * 6 + [pytest.approx(7.0 / 15.0)]
    assert [point.ar for point in points] == [None] * 6 + [pytest.approx(1.0)]
    assert all(point.passes for point in points)
    short = _get_speedup_info(lane("presto", *cold[:-1]), linear).points
    assert None not in [point.seconds for point in short]  # nothing would be left of a short run


def test_oracle_counts_the_emitted_text_inside_the_top_eight_and_a_bonus() -> None:
    # The run emits 10 11 | 12 13 | 14: from round 1 the oracle finds 10, 11 and 12, not 13 (its
    # ninth candidate).
    others = tuple(range(60, 68))
    rows = (10, *others), (*others[:7], 11, 60), (12, *others), (*others, 13)
    steps = (2, 1.0), (2, 1.0), (1, 1.0)
    assert oracle_committed(lane("presto", *steps, marginals=drafted(*rows))) == [4, 1, 1]
    wide = drafted((10, 12, 14), (11, 13, 50), (12, 14, 50), (13, 50, 51), (14, 50, 51))
    assert oracle_committed(lane("presto", *steps, marginals=wide)) == [
        5,
        3,
        1,
    ]  # at most what is left


def test_oracle_commits_the_exact_token_and_looks_behind_it() -> None:
    # Every round's first token is exact; the marginals' first position is the one after it.
    rows = (11, 13), (12, 50), (13, 50)
    run = lane("presto", (2, 1.0), (2, 1.0), marginals=drafted(*rows), exact=True)
    assert oracle_committed(run) == [4, 2]


def test_oracle_ratio_is_the_ratio_per_pass_with_the_oracles_tokens() -> None:
    ours = lane("presto", (2, 1.0), (2, 1.0), marginals=drafted((10, 12), (50, 50)))
    linear = lane("linear", (1, 1.0), (1, 1.0), (1, 1.0), (1, 1.0))
    assert oracle_committed(ours) == [2, 2]
    points = _get_speedup_info(ours, linear).points
    assert [(point.passes, point.oracle) for point in points] == [(2.0, 2.0)] * 2
    better = replace(
        ours,
        rounds=(replace(ours.rounds[0], marginals=drafted((10,), (11,), (12,))), ours.rounds[1]),
    )
    assert oracle_committed(better) == [4, 2]
    # 4 and 6 / 2 tokens against 1.
    points = _get_speedup_info(better, linear).points
    assert [point.oracle for point in points] == pytest.approx([4.0, 3.0])
    assert ORACLE in [part.name for part in speedup_figure(better, linear).data]


def test_oracle_needs_recorded_marginals_and_linear() -> None:
    info = _get_speedup_info(LANES["presto"], LANES["linear"], LANES["ar"])
    assert {point.oracle for point in info.points} == {None}
    assert not info.has_oracle
    alone = lane("presto", (1, 1.0), marginals=drafted((10,)))
    assert _get_speedup_info(alone, None).points == ()
    assert len(speedup_figure(LANES["presto"], LANES["linear"], ar=LANES["ar"]).data) == 3


def test_speed_sentence_is_honest() -> None:
    ours = lane("presto", (4, 1.0), (4, 1.0))
    assert speed_sentence(ours, lane("linear", *((2, 0.66),) * 4)) == (
        "1.32× the speed of linear drafting on this prompt."
    )
    assert speed_sentence(ours, lane("linear", *((2, 0.4),) * 4)) == (
        "0.80×: the tree accepts more (4.0 against 2.0 tokens a round) but its rounds take 2.5 "
        "times as long."
    )
    assert speed_sentence(ours, lane("linear", (8, 1.0))) == (
        "0.50×: the tree accepts no more (4.0 against 8.0 tokens a round) and its rounds take 1.0 "
        "times as long."
    )
    assert speed_sentence(ours, ours).startswith("1.00×: as fast as")
    assert speed_sentence(ours, None) == speed_sentence(ours, lane("linear"))
    assert "has not run" in speed_sentence(ours, None)
    assert speed_sentence(lane("linear", (2, 1.0)), None).startswith("This is linear drafting")


def test_numbers_name_only_lanes_that_ran() -> None:
    names = [number.name for number in numbers(totals(LANES["presto"]), {})]
    assert names == ["τ", "tokens/s", "tokens/pass", "overhead"]
    run, ar = totals(LANES["presto"]), totals(LANES["ar"])
    assert "vs autoregressive" in [number.name for number in numbers(run, {"ar": ar})]


def test_stage_shares_add_up() -> None:
    shares = [float(part.value) for part in stage_shares(totals(LANES["presto"]))]
    assert sum(shares) == pytest.approx(1, abs=0.001)
    assert stage_shares(Totals()) == []
