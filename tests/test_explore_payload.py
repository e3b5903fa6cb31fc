"""What the page "Explore" receives while a run grows and when it is over, and the recorded runs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import presto
from presto.records import Trace, load_recording, recording_from_json, save
from presto.records.tree import kept
from presto.runs.events import events_of
from tests.support import synthetic
from tests.support.checks import some
from ui.explore_payload import FIRST, LATER, ExplorePayload, opening, shown_first, value_of
from ui.payload import dump
from ui.recordings import recorded, recordings_in
from viz.charts import REPLAY_CHARTS, RESULT_CHARTS, ROUND_CHARTS, RUN_CHARTS
from viz.ends import ends_sentence
from viz.speedup import _get_speedup_info, _get_speedup_plot

RUN = Path(__file__).parents[1] / "assets" / "runs"


def told(*traces: Trace) -> ExplorePayload:
    """A payload that was told all of these runs."""
    payload = ExplorePayload("live", "title", "note")
    for lane, trace in enumerate(traces):
        for event in events_of(trace):
            payload.take(lane, event)
    return payload


def head(payload: ExplorePayload, **more: Any) -> dict[str, Any]:
    return json.loads(payload.value(**more)["head"])  # type: ignore[no-any-return]


def test_a_growing_run_only_adds_rounds_and_keeps_its_key() -> None:
    payload, values = ExplorePayload("live", "title"), []
    for event in events_of(synthetic.trace(rounds=3)):
        payload.take(0, event)
        values.append(payload.value("running"))
    assert [len(value["rounds"]) for value in values] == [0, 1, 2, 3]
    assert values[3]["rounds"][:2] == values[2]["rounds"]
    assert len({value["key"] for value in values}) == 1
    assert len({value["speedup"] for value in values}) == 1
    assert all(value["record"] == "" for value in values)


def test_a_run_that_grew_is_sent_as_a_recorded_one() -> None:
    recording = synthetic.recording("title", rounds=5, width=8)
    live = told(*recording.traces).value()
    known = value_of(replace(recording, note="note"), "live")
    assert live["rounds"] == known["rounds"]
    assert json.loads(live["head"])["numbers"] == json.loads(known["head"])["numbers"]
    whole = recording_from_json(live["record"].encode())
    assert whole.traces == recording.traces


def test_other_lanes_change_numbers_not_rounds() -> None:
    presto, linear = synthetic.recording(rounds=3).traces[:2]
    alone, both = told(presto), told(presto, linear)
    assert alone.value()["rounds"] == both.value()["rounds"]
    assert "vs linear" not in [name for name, *_ in head(alone)["numbers"]]
    assert "vs linear" in [name for name, *_ in head(both)["numbers"]]


def test_the_speedups_points_come_one_by_one_and_make_its_figure() -> None:
    presto, linear, _, ar = synthetic.recording(rounds=6, width=8).traces
    payload, counts, bases = told(presto, ar), [], set()
    for event in events_of(linear):
        payload.take(2, event)
        value = payload.value("running")
        counts.append(len(value["points"]))
        bases.add(value["speedup"])
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert counts[-1] == 6
    assert len(bases) == 2  # waiting, then without the note
    info = _get_speedup_info(presto, linear, ar)
    assert value["points"] == [dump(point) for point in info.points]
    base, drawn = json.loads(value["speedup"]), _get_speedup_plot(info, 0)
    for trace, whole in zip(base["data"], drawn.data, strict=True):
        assert [json.loads(point)[trace["meta"]["y"]] for point in value["points"]] == whole["y"]
    assert base["layout"] == json.loads(dump(drawn.layout))


def test_a_round_is_complete_and_plain_json() -> None:
    payload = told(synthetic.trace(rounds=1, pieces=synthetic.HOSTILE, budget=20))
    round_ = json.loads(payload.value()["rounds"][0])
    assert set(round_) == {"sentence", "rows", "units", "pending", "phases", "tree", "charts"}
    columns = head(payload)["columns"]
    assert all(len(row) == len(columns) for row in round_["rows"])
    assert head(payload)["badge"] == "live"


def test_every_registered_chart_is_sent_with_its_words() -> None:
    recording = load_recording(next(iter(sorted(RUN.glob("*.json.gz")))))
    value = value_of(recording, "recorded")
    charts = [*ROUND_CHARTS, *REPLAY_CHARTS, *RESULT_CHARTS, *RUN_CHARTS]
    assert json.loads(value["head"])["charts"] == [chart.about for chart in charts]
    assert len({chart.name for chart in charts}) == len(charts)
    assert all(chart.title and chart.lead and chart.label for chart in charts)
    for round_, later in some(zip(value["rounds"], value["replays"], strict=True)):
        of_run = json.loads(value["head"])["charts_of_run"]
        drawn = json.loads(round_)["charts"] | json.loads(later)["charts"] | of_run
        assert drawn.keys() == {chart.name for chart in charts}
        assert all(isinstance(chart["remark"], str) for chart in drawn.values())


def test_the_timeline_has_a_bar_for_every_round_of_what_it_committed() -> None:
    recording = load_recording(RUN / "2-fibonacci.json.gz")
    value, trace = value_of(recording, "recorded"), shown_first(recording)
    bars = [json.loads(bar) for bar in value["bars"]]
    assert some(map(sum, bars)) == [len(round_.committed) for round_ in trace.rounds]
    assert [bar[0] for bar in bars] == [int(r.exact is not None) for r in trace.rounds]
    assert [bar[1] for bar in bars] == [len(kept(r)) for r in trace.rounds]
    blind = json.loads(value["head"])["blind"]
    replayed = presto.replay(trace, scorer="blind")
    assert blind == [one and one.committed for one in replayed]
    assert value_of(recording, "recorded")["bars"] == opening(value)["bars"]


def test_where_rounds_end_and_the_blind_tree_are_known_when_the_run_is_over() -> None:
    trace = shown_first(load_recording(RUN / "2-fibonacci.json.gz"))
    payload = told(trace)
    running, over = (head(payload, state=state) for state in ("running", "done"))
    assert "ends" not in running["charts_of_run"]
    assert running["blind"] == []
    assert over["charts_of_run"]["ends"]["remark"] == ends_sentence(trace)
    assert len(over["blind"]) == len(trace.rounds)
    foreign = head(told(synthetic.trace(rounds=2)))
    assert foreign["blind"] == []
    assert "ends" not in foreign["charts_of_run"]


def test_the_runs_budget_is_explained_from_its_start_and_by_what_it_measures() -> None:
    payload, remarks = ExplorePayload("live", "title"), []
    for event in events_of(replace(synthetic.trace(rounds=2), tuning=synthetic.TUNING)):
        payload.take(0, event)
        chart = head(payload, state="running")["charts_of_run"]["budget"]
        remarks.append(chart["remark"])
    assert "measured" not in remarks[0]
    assert all("measured in this run" in remark for remark in remarks[1:])
    assert chart["rows"][0] == ["budget", "tokens/s, 4 drafted", "tokens/s, 12 drafted"]
    assert "rows" not in head(told(synthetic.trace(rounds=1)))["charts_of_run"]["budget"]


def test_what_a_replay_tells_is_known_at_the_end_or_said_to_be_missing() -> None:
    payload = told(synthetic.trace(rounds=2))
    assert head(payload, state="running")["absent"] == LATER
    assert "n-gram table of this pair is not here" in head(payload)["absent"]
    assert payload.value()["replays"] == []


def test_a_run_with_a_scorer_that_is_not_installed_is_shown_all_the_same() -> None:
    trace = synthetic.trace(rounds=2, width=4)
    foreign = replace(trace, config=replace(trace.config, scorer="somebodys"))
    payload = told(foreign)
    assert "somebodys is not installed here" in head(payload)["absent"]
    row = json.loads(payload.value()["rounds"][0])["rows"][1]
    assert "somebodys is not installed here" in row[head(payload)["columns"].index("formula")]


def test_before_the_first_event() -> None:
    value = ExplorePayload("live", "title").value("running", "Loading…")
    assert value["rounds"] == []
    assert json.loads(value["head"])["message"] == "Loading…"


def test_the_page_carries_the_first_rounds_and_says_how_many_follow() -> None:
    whole = told(synthetic.trace(rounds=5)).value()
    part = opening(whole)
    assert part["rounds"] == whole["rounds"][:FIRST]
    assert part["key"] == whole["key"]
    assert json.loads(part["head"]) == json.loads(whole["head"]) | {"state": "loading"}
    assert json.loads(part["head"])["rounds"] == 5


def test_readable_recordings_are_listed_and_others_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(synthetic.recording("One", rounds=2), tmp_path / "1.json.gz")
    save(synthetic.recording("One", rounds=1), tmp_path / "2.json")
    (tmp_path / "3.json.gz").write_bytes(b"not gzip")
    found = recordings_in(tmp_path)
    assert list(found) == ["One", "One (2.json)"]
    assert "3.json.gz" in caplog.text
    run = recorded(found["One"])
    assert len(run.value["rounds"]) == 2
    assert run.prompt.startswith("How many clips")


def test_a_folder_without_recordings(tmp_path: Path) -> None:
    assert recordings_in(tmp_path / "missing") == {}
