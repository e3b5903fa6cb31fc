"""Result files of `presto bench`: what is read, what is refused, what is drawn."""

import json
from typing import Any

import pytest

from presto.benchmarks.results import MAX_BYTES, BenchResult, BenchRun, parse_result
from presto.benchmarks.summary import differences, summarise
from presto.records import DecodeConfig
from tests.support import synthetic
from tests.support.results import METHODS, RESULT, WHERE
from viz.bench import (
    _get_bars_plot,
    _get_histogram_plot,
    ends_by_method_figure,
    histogram_figure,
    overhead_figure,
    speed_figure,
    tau_figure,
)
from viz.bench_info import (
    ALL,
    _get_ends_info,
    _get_histogram_info,
    _get_overhead_info,
    _get_speed_info,
    _get_tau_info,
    where_line,
)

FIGURES = (tau_figure, speed_figure, histogram_figure, ends_by_method_figure, overhead_figure)


def parsed(**changes: Any) -> BenchResult:
    return parse_result(json.dumps(RESULT | changes))


def changed(value: object, *path: str) -> str:
    """The result with ``value`` put at ``path``, as JSON."""
    result = json.loads(json.dumps(RESULT))
    part = result
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return json.dumps(result)


def test_what_the_benchmark_writes_is_read() -> None:
    lanes = [synthetic.recording(seed=seed, rounds=5).traces for seed in (0, 10, 20)]
    rows = {
        str(trace.method): [
            BenchRun.of(n, trace.method, lane[i], [None, "top_k", "budget", "top_k", None])
            for n, lane in enumerate(lanes)
        ]
        for i, trace in enumerate(lanes[0])
    }
    written = RESULT | {
        "methods": summarise(rows),
        "differences": differences(rows),
        "datasets": {"a": summarise(rows)},
    }
    result = parse_result(json.dumps(written, indent=1))
    assert set(result.methods) == {"presto", "linear", "blind", "ar"}
    rounds = sum(run.totals.rounds for run in rows["presto"])
    assert sum(result.methods["presto"].histogram.values()) == rounds
    assert result.methods["blind"].ratio_to_linear is not None
    assert result.methods["blind"].ends == {"budget": 3, "top_k": 6}
    assert set(result.differences) == {"presto - blind", "presto - linear"}
    assert result.config == DecodeConfig()
    for figure in FIGURES:
        assert figure(result).data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("methods", "presto", "colour"), 1, r"methods\.presto\.colour: .*(U|u)nexpected"),
        (("where", "password"), "x", r"where\.password: "),
        (
            ("methods", "presto", "tau_macro", "value"),
            float("nan"),
            r"methods\.presto\.tau_macro\.value: .*finite",
        ),
        (("methods", "presto", "tau_micro"), float("inf"), r"methods\.presto\.tau_micro: .*finite"),
        (("methods", "presto", "tau_micro"), "4", r"methods\.presto\.tau_micro: .*number"),
        (("methods", "presto", "tau_macro"), None, r"methods\.presto\.tau_macro: "),
        (
            ("methods", "presto", "tokens_per_second", "low"),
            -1.0,
            r"low: .*greater than or equal to 0",
        ),
        (("methods", "presto", "tau_macro", "low"), 100.0, r"low must not exceed high"),
        (("methods", "presto", "histogram"), {"x": 1}, r"methods\.presto\.histogram\.x"),
        (("methods", "presto", "histogram"), {"1000000": 1}, r"less than or equal to 64"),
        (("methods", "presto", "histogram"), {"2": 1.5}, r"methods\.presto\.histogram\.2: "),
        (("methods", "presto", "stages"), {"lunch": 1.0}, r"methods\.presto\.stages\.lunch"),
        (("methods", "<b>"), METHODS["ar"], r"methods\.<b>"),
        (("methods",), [], r"methods: "),
        (("where", "x\n" * 9999), 1, r"where\.x x x "),
        (("where", "pair"), "x" * 201, r"where\.pair: .*at most 200"),
        (("prompts",), {str(i): 1 for i in range(41)}, r"prompts: .*at most 40"),
        (("config", "lam"), 9.0, r"config\.lam: "),
        (
            ("datasets", "gsm8k", "presto", "equal_to_ar"),
            [1],
            r"datasets\.gsm8k\.presto\.equal_to_ar",
        ),
    ],
    ids=lambda part: ".".join(part)[:40] if isinstance(part, tuple) else "",
)
def test_broken_parts_are_refused_by_name(path: tuple[str, ...], value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        parse_result(changed(value, *path))
    assert str(caught.value).startswith("not a valid benchmark result: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", "\ud800", '{"where": "\ud800"}', "[" * 10000]
)
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a valid benchmark result: "):
        parse_result(text)


def test_large_files_are_refused_before_they_are_read() -> None:
    with pytest.raises(ValueError, match="8,000,001 bytes, at most 8,000,000"):
        parse_result("é" * (MAX_BYTES // 2) + "x")


@pytest.mark.parametrize("part", ["where", "methods"])
def test_a_needed_part_is_named_when_missing(part: str) -> None:
    with pytest.raises(ValueError, match=f"{part}: Field required"):
        parse_result(json.dumps({key: value for key, value in RESULT.items() if key != part}))


def test_tau_has_a_group_per_set_and_one_for_all() -> None:
    info = _get_tau_info(parsed())
    assert info.groups == ("gsm8k", "humaneval", ALL)
    assert [(bar.method, bar.group) for bar in info.bars] == [
        *[
            ("presto", 0),
            ("ar", 1),
            ("linear", 1),
            ("presto", 1),
            ("ar", 2),
            ("linear", 2),
            ("presto", 2),
        ]
    ]
    assert info.bars[-1][2:] == (4.0, 3.75, 4.5, "2.00 tokens per pass")


def test_scorers_and_searches_are_drawn_behind_the_methods_in_paints_of_their_own() -> None:
    more = {"staircase": METHODS["presto"], **METHODS, "no_repeat": METHODS["presto"]}
    figure = tau_figure(parsed(methods=more, datasets={}))
    names = [bar.name for bar in figure.data]
    assert names[-2:] == ["PRESTO, staircase", "PRESTO, no_repeat"]
    paints = {(bar.marker.color, bar.marker.pattern.shape) for bar in figure.data}
    assert len(paints) == len(names) == 5


def test_tau_of_a_single_set_is_drawn_once() -> None:
    assert _get_tau_info(parsed(datasets={"gsm8k": METHODS})).groups == (ALL,)


def test_intervals_are_drawn_around_their_values() -> None:
    (linear,) = [bar for bar in tau_figure(parsed(datasets={})).data if bar.name == "linear"]
    assert (list(linear.x), list(linear.y)) == ([0], [2.5])
    assert (list(linear.error_y.array), list(linear.error_y.arrayminus)) == ([0.5], [0.25])
    assert list(linear.customdata[0]) == ["2.500", "2.250", "3.000", "1.25 tokens per pass"]
    assert linear.marker.pattern.shape
    assert (
        linear.marker.pattern.fillmode == "overlay"
    )  # the other mode hatches in the paper's colour, on nothing


def test_an_interval_beside_its_value_has_no_negative_reach() -> None:
    info = _get_tau_info(parsed(datasets={}))
    info = info._replace(bars=(info.bars[0]._replace(value=5.0, low=1.0, high=4.0),))
    assert list(_get_bars_plot(info).figure().data[0].error_y.array) == [0.0]


def test_speed_leaves_out_the_baseline_itself() -> None:
    info = _get_speed_info(parsed())
    assert info.groups == ("against autoregressive", "against linear")
    values = [(bar.method, bar.group, bar.value) for bar in info.bars]
    assert values == [("linear", 0, 1.25), ("presto", 0, 2.0), ("ar", 1, 0.75), ("presto", 1, 1.5)]
    assert info.bars[1].remark == "80.0 tokens/s"
    figure = speed_figure(parsed())
    assert figure.layout.shapes[0].y0 == 1.0
    assert [bar.name for bar in figure.data] == ["autoregressive", "linear", "PRESTO"]


def test_speed_without_a_baseline_has_one_group_or_none() -> None:
    no_ar = {"presto": METHODS["presto"] | {"ratio_to_ar": None}}
    assert _get_speed_info(parsed(methods=no_ar)).groups == ("against linear",)
    neither = {"presto": no_ar["presto"] | {"ratio_to_linear": None}}
    assert _get_speed_info(parsed(methods=neither))[1:] == ((), ())
    assert "no figures" in speed_figure(parsed(methods=neither)).layout.annotations[0].text


def test_the_histogram_is_in_shares_of_rounds_without_ar() -> None:
    linear, presto = _get_histogram_info(parsed())
    assert linear == ("linear", (2, 3), (6, 2), (0.75, 0.25))
    assert presto == (
        "presto",
        (2, 5, 10),
        (1, 3, 4),
        (0.125, 0.375, 0.5),
    )  # by number, not by spelling
    assert [list(bar.y) for bar in _get_histogram_plot((linear,)).figure().data] == [[0.75, 0.25]]


def test_where_rounds_end_is_in_shares_of_the_rounds_that_are_known() -> None:
    ends = {"ended": 1, "top_k": 3}, {"budget": 2, "top_k": 6}
    methods = {
        "presto": METHODS["presto"] | {"ends": ends[0]},
        "ar": METHODS["ar"],
        "linear": METHODS["linear"] | {"ends": ends[1]},
        "blind": METHODS["linear"] | {"ends": {}},  # of an older file
    }
    linear, presto = _get_ends_info(parsed(methods=methods))
    reasons = ("top_k", "budget", "ended")
    assert linear == ("linear", reasons, (6, 2, 0), (0.75, 0.25, 0.0))
    assert presto == ("presto", reasons, (3, 0, 1), (0.75, 0.0, 0.25))
    figure = ends_by_method_figure(parsed(methods=methods))
    assert [list(bar.y) for bar in figure.data] == [[0.75, 0.25, 0.0], [0.75, 0.0, 0.25]]
    assert list(figure.layout.xaxis.ticktext) == [
        "not<br>in the top-K",
        "cut<br>by the budget",
        "the<br>run ended",
    ]
    with pytest.raises(ValueError, match=r"methods\.presto\.ends\.tired"):
        parse_result(changed({"tired": 1}, "methods", "presto", "ends"))


def test_overhead_has_the_stages_in_its_card() -> None:
    info = _get_overhead_info(parsed())
    assert [(bar.method, bar.value) for bar in info.bars] == [("linear", 0.04), ("presto", 0.04)]
    shares = "draft 40.0% · score 1.0% · search 1.0% · mask 2.0% · verify 50.0% · commit 6.0%"
    assert info.bars[0].remark == shares
    assert overhead_figure(parsed()).layout.shapes[0].y0 == 0.04


@pytest.mark.parametrize(
    "methods", [{}, {"ar": METHODS["ar"] | {"ratio_to_linear": None, "histogram": {}}}]
)
def test_results_without_drafting_methods(methods: dict[str, Any]) -> None:
    result = parse_result(json.dumps({"where": WHERE, "methods": methods}))
    assert result.config is None
    for figure in FIGURES:
        drawn = figure(result)
        assert bool(drawn.data) == (figure is tau_figure and bool(methods))
        assert drawn.data or "no figures" in drawn.layout.annotations[0].text


def test_the_where_line() -> None:
    assert (
        where_line(parsed())
        == "smollm2-gated · gated · cpu · float32 · x86_64 · prompts: gsm8k 5, humaneval 3"
    )
    bare = parse_result(json.dumps({"where": WHERE | {"processor": ""}, "methods": {}}))
    assert where_line(bare) == "smollm2-gated · gated · cpu · float32"


def test_hostile_names_are_spelled_out() -> None:
    name = "<b>$x$\u202e\n" + "y" * 100
    result = parsed(
        datasets={name: METHODS, ALL: METHODS},
        prompts={name: 3},
        where=WHERE | {"device": "my gpu\x00"},
    )
    assert "my gpu<NUL>" in where_line(result)
    assert "\u202e" not in where_line(result)
    figure = tau_figure(result)
    (first, second, third) = figure.layout.xaxis.ticktext
    assert first.startswith("&lt;b&gt;&#36;x&#36;&lt;RLO")
    assert len(first) < 60
    assert second == third == ALL  # told apart by place, not by name
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2]
