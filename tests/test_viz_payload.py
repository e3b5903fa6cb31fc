"""What the page receives, and the shelf of recorded runs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from presto.records import save
from tests.support import synthetic
from viz.payload import FIRST, Show, opening
from viz.shelf import recorded, shelf


def test_a_growing_run_keeps_its_rounds_and_key() -> None:
    trace = synthetic.trace(rounds=3)
    show = Show("live", "title")
    values = []
    for count in range(4):
        show.take(replace(trace, rounds=trace.rounds[:count]))
        values.append(show.value("running"))
    assert [len(value["rounds"]) for value in values] == [0, 1, 2, 3]
    assert values[3]["rounds"][:2] == values[2]["rounds"]
    assert len({value["key"] for value in values}) == 1


def test_other_lanes_change_numbers_not_rounds() -> None:
    lanes = synthetic.recording(rounds=3).traces
    show = Show("recorded", "title")
    show.take(lanes[0])
    before = show.value()
    show.take(lanes[1])
    assert show.value()["rounds"] == before["rounds"]
    assert "vs linear" in show.value()["head"]
    assert "vs linear" not in before["head"]


def test_a_round_is_complete_and_plain_json() -> None:
    show = Show("recorded", "title", "note")
    show.take(synthetic.trace(rounds=1, pieces=synthetic.HOSTILE, budget=20))
    value = show.value()
    head, round_ = json.loads(value["head"]), json.loads(value["rounds"][0])
    figures = {"tree", "scores", "prediction", "marginals", "stopping"}
    assert set(round_) == {"sentence", "rows", "units", "pending", "phases", "remarks"} | figures
    assert all(len(row) == len(head["columns"]) for row in round_["rows"])
    assert head["badge"] == "recorded"
    assert json.loads(value["speedup"])["data"]


def test_before_the_first_trace() -> None:
    value = Show("live", "title").value("running", "Loading…")
    assert value["rounds"] == []
    assert json.loads(value["head"])["message"] == "Loading…"


def test_the_page_carries_the_first_rounds_and_says_how_many_follow() -> None:
    show = Show("recorded", "title")
    show.take(synthetic.trace(rounds=5))
    whole = show.value()
    part = opening(whole)
    assert part["rounds"] == whole["rounds"][:FIRST]
    assert part["key"] == whole["key"]
    assert json.loads(part["head"]) == json.loads(whole["head"]) | {"state": "loading"}
    assert json.loads(part["head"])["rounds"] == 5


def test_shelf_lists_readable_recordings_and_skips_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(synthetic.recording("One", rounds=2), tmp_path / "1.json.gz")
    save(synthetic.recording("One", rounds=1), tmp_path / "2.json")
    (tmp_path / "3.json.gz").write_bytes(b"not gzip")
    found = shelf(tmp_path)
    assert list(found) == ["One", "One (2.json)"]
    assert "3.json.gz" in caplog.text
    run = recorded(found["One"])
    assert len(run.value["rounds"]) == 2
    assert run.prompt.startswith("How many clips")


def test_an_empty_shelf(tmp_path: Path) -> None:
    assert shelf(tmp_path / "missing") == {}
