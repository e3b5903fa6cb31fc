"""The score and speed-up figures and the numbers line."""

from dataclasses import replace

import pytest

from presto.measures import cumulative_speedup
from presto.records import Stages, Trace
from tests import synthetic
from viz import scores_figure, speedup_figure
from viz.numbers import numbers, stage_shares
from viz.scores import _get_scores_info, _get_scores_plot, _labels
from viz.speedup import _get_speedup_info, _get_speedup_plot

LANES = {trace.method: trace for trace in synthetic.recording(rounds=6).traces}


def slower(trace: Trace) -> Trace:
    return replace(trace, rounds=tuple(replace(r, seconds=Stages(verify=9.0)) for r in trace.rounds))


def test_scores_info_has_all_drafted_nodes() -> None:
    info = _get_scores_info(LANES["presto"], 0)
    assert [row.node for row in info.nodes] == list(range(1, 33))
    assert not info.log_axis
    assert _get_scores_info(synthetic.trace(rounds=1, budget=512, depth=15), 0).log_axis


def test_scores_of_a_round_without_a_tree_say_so() -> None:
    figure = scores_figure(LANES["ar"], round=0)
    assert not figure.data
    assert "Nothing was drafted" in figure.layout.annotations[0].text


def test_scores_lines_join_the_two_ranks() -> None:
    info = _get_scores_info(LANES["presto"], 0)
    drawn = {}
    for part in _get_scores_plot(info).data:
        for i in range(0, len(part.ids), 3):
            drawn[int(part.ids[i].split(":")[0])] = (part.y[i], part.y[i + 1])
    assert drawn == {row.node: (row.blind_rank, row.aligned_rank) for row in info.nodes}


def test_neighbouring_labels_are_merged() -> None:
    rows = list(_get_scores_info(LANES["presto"], 0).nodes[:3])
    near = [rows[i]._replace(label=f"t{i}", aligned_rank=rank) for i, rank in enumerate((1, 2, 9))]
    assert [text.strip() for text in _labels(near).values()] == ["t0  t1", "t2"]


def test_speedup_info_is_the_measured_ratio() -> None:
    info = _get_speedup_info(LANES["presto"], LANES["linear"])
    assert list(info.seconds) == cumulative_speedup(LANES["presto"], LANES["linear"])
    assert info.rounds == tuple(range(1, 7))


@pytest.mark.parametrize("linear", [None, replace(LANES["linear"], rounds=())], ids=["absent", "not begun"])
def test_speedup_without_linear_waits(linear: Trace | None) -> None:
    assert "as soon as" in speedup_figure(LANES["presto"], linear).layout.annotations[0].text


def test_speedup_below_one_is_drawn_below_the_line() -> None:
    info = _get_speedup_info(slower(LANES["presto"]), LANES["linear"])
    assert all(value is None or value < 1 for value in info.seconds)
    assert _get_speedup_plot(info, 2).layout.yaxis.range[0] == 0
    line = {n.name: n.value for n in numbers(slower(LANES["presto"]), {"linear": LANES["linear"]})}
    assert line["vs linear"].endswith("slower")


def test_speedup_marks_the_round() -> None:
    assert speedup_figure(LANES["presto"], LANES["linear"], round=2).layout.shapes[1].x0 == 3


def test_speedup_of_an_empty_run() -> None:
    assert not _get_speedup_plot(_get_speedup_info(replace(LANES["presto"], rounds=()), None)).data[0].x


def test_numbers_name_only_lanes_that_ran() -> None:
    names = [number.name for number in numbers(LANES["presto"], {})]
    assert names == ["τ", "tokens/s", "tokens/pass", "overhead"]
    assert "vs autoregressive" in [n.name for n in numbers(LANES["presto"], {"ar": LANES["ar"]})]


def test_stage_shares_add_up() -> None:
    assert sum(float(part.value) for part in stage_shares(LANES["presto"])) == pytest.approx(1, abs=0.001)
    assert stage_shares(replace(LANES["presto"], rounds=())) == []
