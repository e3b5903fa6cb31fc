"""The endpoints for programs: plain values in, JSON out, a run that ends with its client."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from presto import plugins
from presto.paths import ASSETS
from presto.records import DecodeConfig, load_recording, save, to_json
from presto.scorers import SCORERS
from tests.support import serve, synthetic
from ui import api
from ui.lanes import Lane, LaneEvent, Waiting


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "PACE", 0.0)
    monkeypatch.setitem(sys.modules, "presto.runs.runner", serve.double())


def test_the_api_returns_the_whole_trace() -> None:
    *rounds, trace = api.decode("hello", "linear", settings={"budget": 8})
    assert trace["method"] == "linear"
    assert trace["finish"] == "length"
    assert rounds == [None] * (1 + len(trace["rounds"]))


def sent_back() -> list[tuple[str, dict[str, Any], DecodeConfig]]:
    """The settings of every recorded run as its JSON has them, and of one that uses every kind."""
    odd = DecodeConfig(
        scorer="no_repeat",
        scorer_settings={"cost": 1.5},
        stop=("\n\n", "end"),
        temperature=0.5,
        seed=2**53,
    )
    files = sorted((ASSETS / "runs").glob("*.json.gz"))
    traces = [trace for file in files for trace in load_recording(file).traces]
    traces.append(replace(traces[0], config=odd))
    return [(trace.method, json.loads(to_json(trace))["config"], trace.config) for trace in traces]


def test_what_a_trace_says_of_its_settings_can_be_sent_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SCORERS, "_records", dict(SCORERS._all()))
    plugins.load_plugin(Path(synthetic.__file__).with_name("plugin_scorer.py"))
    asked: list[Lane] = []

    def decoded(system: str, prompt: str, lanes: list[Lane]) -> Iterator[LaneEvent]:
        asked.extend(lanes)
        yield from ()

    monkeypatch.setattr(api, "decode_lanes", decoded)
    for method, settings, config in sent_back():
        list(api.compare("hello", [{"method": method, "settings": settings}]))
        assert asked[-1] == Lane(method, config)  # type: ignore[arg-type]


def test_a_budget_is_chosen_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Lane] = []

    def decoded(system: str, prompt: str, lanes: list[Lane]) -> Iterator[LaneEvent]:
        asked.extend(lanes)
        yield from ()

    monkeypatch.setattr(api, "decode_lanes", decoded)
    monkeypatch.setattr(api, "check_request", lambda *_: None)
    auto = {"budget": "auto", "temperature": 0.5}
    lanes = [{"method": method, "settings": auto} for method in ("presto", "linear", "ar")]
    list(api.compare("hello", lanes, "qwen3-8b-dflash"))
    assert [lane.auto for lane in asked] == [True, True, False]
    assert {(lane.config.budget, lane.config.temperature) for lane in asked} == {(128, 0.5)}
    with pytest.raises(gr.Error, match="chooses draft_length too"):
        list(api.decode("hello", settings={"budget": "auto", "draft_length": 3}))


def test_the_trace_of_a_chosen_budget_says_why_and_its_settings_can_be_sent_back() -> None:
    *_, trace = api.decode("hello", settings={"budget": "auto"})
    assert trace["tuning"]["costs"]["rows"] == [1, 17, 33, 65]
    *_, again = api.decode("hello", settings=trace["config"])
    assert again["tuning"] is None
    assert again["config"] == trace["config"]


def test_a_client_that_leaves_ends_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def decoded(*_: object) -> Iterator[Waiting]:
        try:
            for count in range(99):
                told.append(count)
                yield Waiting("")
        finally:
            told.append(-1)

    monkeypatch.setattr(api, "decode_lanes", decoded)
    updates = api.decode("hello")
    assert [next(updates), next(updates)] == [None, None]
    updates.close()
    assert told == [0, 1, -1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("",),
        ("a\ud800b",),
        ("x" * 1_000_000,),
        ("hello", "fast"),
        ("hello", "presto", "", {"budget": 0}),
    ],
)
def test_the_api_refuses_with_one_sentence(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(gr.Error, match=r"^['\"]?[A-Z]"):
        list(api.decode(*arguments))


def test_the_api_compares_lanes_in_order() -> None:
    *_, traces = api.compare(
        "hello", [{"method": "linear"}, {"method": "presto", "settings": {"scorer": "mixture"}}]
    )
    assert [trace["method"] for trace in traces] == ["linear", "presto"]
    *_, traces = api.compare("hello")
    assert [trace["method"] for trace in traces] == [
        "ar",
        "linear",
        "blind",
        "presto",
    ]


@pytest.mark.parametrize(
    "lanes", [[{"method": "ar"}] * 5, [{"method": "fast"}], [{"settings": {}}]]
)
def test_the_api_refuses_bad_lanes_before_decoding(lanes: list[dict[str, Any]]) -> None:
    with pytest.raises(gr.Error, match=r"at most 4|known methods"):
        list(api.compare("hello", lanes))


def test_the_api_hands_out_recorded_runs(tmp_path: Path) -> None:
    save(synthetic.recording("First", rounds=2, budget=6), tmp_path / "a.json.gz")
    trace = api.recorded_runs(tmp_path)
    assert trace() == ["First"]
    assert trace("First")["title"] == "First"
    with pytest.raises(gr.Error, match="there are: First"):
        trace("Second")
