"""The handlers of the pages Compare and Bench, called as plain functions."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import app
from presto.records import DecodeConfig, save
from presto.runs.events import events_of
from tests.support import serve, synthetic
from tests.support.checks import some
from tests.support.results import RESULT
from ui import bench, compare, live
from ui.compare_payload import ComparePayload, recorded_value
from ui.controls import values_of
from ui.lane_forms import FIRST, VALUES, values_of_lanes
from ui.run_ticket import RunTicket

DEFAULTS = values_of(DecodeConfig())
FOUR = FIRST


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "PACE", 0.0)
    monkeypatch.setitem(sys.modules, "presto.runs.runner", serve.double())


def head(value: dict[str, Any]) -> dict[str, Any]:
    return json.loads(value["head"])  # type: ignore[no-any-return]


def start(
    lanes: tuple[str, ...] = FOUR, prompt: str = "hello"
) -> tuple[RunTicket, Iterator[dict[str, Any]]]:
    ticket, forms = RunTicket(), values_of_lanes(lanes)
    number, *_ = live.begin(ticket)
    return ticket, compare.run_lanes(ticket, number, prompt, *forms, "smollm2-gated", *DEFAULTS)


def test_lanes_run_one_after_another_and_end_with_their_differences() -> None:
    _, run = start()
    values = list(run)
    counts = [len(value["lanes"]) for value in values]
    assert counts == sorted(counts)
    last = values[-1]
    assert [json.loads(lane["head"])["name"] for lane in last["lanes"]] == list(FOUR)
    assert head(last)["state"] == "done"
    assert head(last)["badge"] == "live"
    assert head(last)["differences"] == sorted(head(last)["differences"])
    for lane in some(last["lanes"]):
        ends = [json.loads(round_)["end"] for round_ in lane["rounds"]]
        assert some(ends) == sorted(set(ends))


def test_the_clock_has_a_line_and_a_flag_per_lane_and_the_rounds_bring_its_points() -> None:
    _, run = start()
    values = list(run)
    for value in some(values[2:]):
        clock = json.loads(value["clock"])
        names = [json.loads(lane["head"])["name"] for lane in value["lanes"]]
        assert [line["name"] for line in clock["data"]] == names
        assert all(line["x"] == line["y"] == [] for line in clock["data"])
        flags = [flag["text"] for flag in clock["layout"]["annotations"]]
        assert [flag.split(" ")[0] for flag in flags] == [name.split(" ")[0] for name in names]
    running, over = (
        json.loads(value["clock"])["layout"]["annotations"][0] for value in (values[3], values[-1])
    )
    assert running["text"] == FOUR[0]
    last = json.loads(values[-1]["lanes"][0]["rounds"][-1])
    assert over["text"] == f"{FOUR[0]} {last['seconds']:.2f} s"
    assert (over["x"], over["y"]) == (last["seconds"], last["end"])


def test_a_lane_that_cannot_be_compared_is_refused() -> None:
    payload = ComparePayload("live", "", ("a", "b"))
    payload.take(0, next(events_of(synthetic.trace(rounds=1))))
    other = replace(synthetic.trace(rounds=0), prompt_ids=(7,))
    with pytest.raises(ValueError, match="one prompt only"):
        payload.take(1, next(events_of(other)))


def test_every_lane_that_drafts_has_a_budget_of_its_own() -> None:
    ticket, settings = RunTicket(), values_of(DecodeConfig(), auto=True)
    run = compare.run_lanes(
        ticket, ticket.begin(), "hello", *values_of_lanes(FOUR), "smollm2-gated", *settings
    )
    *_, last = run
    cells = [json.loads(lane["head"])["cells"] for lane in last["lanes"]]
    assert [cell["draft"] for cell in cells] == [
        "",
        "12 positions, auto",
        "32 nodes, 12 positions, auto",
        "32 nodes, 12 positions, auto",
    ]


def test_stop_ends_the_comparison() -> None:
    ticket, run = start()
    for _ in range(4):
        next(run)
    live.halt(ticket)
    (last,) = run
    assert head(last)["message"] == "Stopped."


@pytest.mark.parametrize("seen", [0, 3], ids=["in the queue", "under way"])
def test_a_recorded_run_silences_the_comparison(
    seen: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(
        synthetic.recording("First", rounds=2, prompt="a prompt of its own"), tmp_path / "a.json.gz"
    )
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    ticket, run = start()
    for _ in range(seen):
        next(run)
    value, prompt = app.open_lanes("First", ticket)
    assert (head(value)["title"], prompt) == ("First", "a prompt of its own")
    assert list(run) == []


def test_a_failed_lane_ends_with_one_sentence() -> None:
    _, run = start(prompt="context")
    assert head(list(run)[-1])["message"].startswith("The prompt has 9,000 tokens")


def test_bad_comparisons_are_refused_before_the_queue() -> None:
    def answers(prompt: str, *titles: str) -> list[Any]:
        forms = values_of_lanes(titles)
        return compare.check_lanes(RunTicket(), prompt, *forms, "smollm2-gated", *DEFAULTS)

    none = answers("hello", *("–",) * 4)
    assert none[1]["message"] == "Choose at least one lane."
    blank = answers(" ", *FOUR)
    assert not blank[1]["is_valid"]
    fine = answers("hello", *FOUR)
    assert len(fine) == 2 + VALUES + 1 + len(DEFAULTS)
    assert all(answer["is_valid"] for answer in fine)


def test_a_recording_shows_its_lanes_plain_decoding_first(tmp_path: Path) -> None:
    save(synthetic.recording("First", rounds=3), tmp_path / "a.json.gz")
    value, _ = compare.recorded_lanes(tmp_path / "a.json.gz")
    names = [json.loads(lane["head"])["name"] for lane in value["lanes"]]
    assert names[0] == "autoregressive"
    assert len(names) == 4
    assert head(value)["badge"] == "recorded"


def test_without_lanes_the_page_says_so() -> None:
    value = ComparePayload("recorded", "").value()
    assert value["lanes"] == []
    assert "No lane has run yet" in value["clock"]


def test_hostile_tokens_stay_text_in_the_lanes() -> None:
    value = recorded_value(
        synthetic.recording("Hostile", seed=5, rounds=4, pieces=synthetic.HOSTILE)
    )
    units = [
        unit
        for lane in value["lanes"]
        for round_ in lane["rounds"]
        for unit, *_ in json.loads(round_)["units"]
    ]
    assert any("<img" in unit for unit in units)  # characters, set with textContent
    assert not any("\u202e" in unit for unit in units)


def test_a_result_is_drawn_and_a_broken_one_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my-result.json").write_text(json.dumps(RESULT))
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    assert list(bench.results()) == ["my result"]
    value = bench.open_result("my result")
    assert value["badge"] == "recorded"
    assert [chart["name"] for chart in value["charts"]] == [
        "tau",
        "speed",
        "histogram",
        "ends",
        "overhead",
    ]
    assert all(json.loads(chart["figure"])["data"] for chart in value["charts"])
    older = {name: row | {"ends": {}} for name, row in RESULT["methods"].items()}
    shown = bench.show_result(json.dumps(RESULT | {"methods": older}))["charts"]
    assert [chart["name"] for chart in shown] == ["tau", "speed", "histogram", "overhead"]
    bare = bench.show_result(json.dumps(RESULT | {"methods": {}, "datasets": {}}))
    assert (bare["charts"], bare["message"]) == ([], bench.EMPTY)
    assert all(chart[word] for chart in value["charts"] for word in ("title", "lead", "label"))
    assert bench.open_result("other")["message"] == bench.NONE
    broken = bench.show_result("[]")
    assert broken["charts"] == []
    assert broken["message"].startswith("Not a valid benchmark result")
