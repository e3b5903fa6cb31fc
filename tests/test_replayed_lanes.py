"""Lanes that are replays: the trees of other settings at the states of the run on the page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

import app
import presto
from presto.models.tables import table_of
from presto.paths import ASSETS
from presto.records import Trace, changed
from presto.runs.states import States
from ui import kept_runs
from ui.compare import replay_lanes
from ui.controls import values_of
from ui.explore_payload import shown_first
from ui.lane_forms import LaneForm
from ui.replayed_lanes import MARK
from ui.run_ticket import RunTicket

RUNS = ASSETS / "runs"
FILE = "2-fibonacci.json.gz"
TRACE = shown_first(presto.load_recording(RUNS / FILE))


@pytest.fixture(autouse=True)
def none_kept() -> Iterator[None]:
    yield
    kept_runs._runs.clear()


def replayed(*forms: LaneForm, key: str = FILE, auto: bool = True) -> dict[str, Any]:
    values = [value for form in forms for value in form]
    values += [value for _ in range(4 - len(forms)) for value in LaneForm("–")]
    settings = values_of(TRACE.config, auto)
    return replay_lanes(RUNS, RunTicket(shown=key), *values, TRACE.system, *settings)


def test_a_replayed_lane_has_the_trees_and_counts_of_the_replay() -> None:
    value = replayed(
        LaneForm("autoregressive"),
        LaneForm("blind tree"),
        LaneForm("PRESTO", lam="0.2", budget="64", search="beam"),
    )
    assert json.loads(value["head"])["badge"] == "replayed"
    first, *lanes = value["lanes"]
    heads = [json.loads(lane["head"]) for lane in lanes]
    assert [head["name"] for head in heads] == [
        "blind tree",
        "PRESTO, λ 0.2, budget 64, beam",
    ]
    assert {head["mark"] for head in heads} == {MARK}
    assert "mark" not in json.loads(first["head"])
    states = States(TRACE, table_of(TRACE.system))
    own = {"scorer": "blind"}, {"lam": 0.2, "budget": 64, "search": "beam"}
    for lane, head, changes in zip(lanes, heads, own, strict=True):
        config = changed(TRACE.config, changes)
        counts = [states.replay(i, config).committed for i in range(len(states))]  # type: ignore[union-attr]
        rounds = [json.loads(round_) for round_ in lane["rounds"]]
        assert [round_["committed"] for round_ in rounds] == counts
        assert head["cells"]["τ"] == f"{sum(counts) / len(counts):.2f}"
        assert [round_["end"] for round_ in rounds] == ends(TRACE)
        assert all(round_["words"] for round_ in rounds)


def ends(trace: Trace) -> list[int]:
    """Output tokens after each round."""
    total, found = 0, []
    for round_ in trace.rounds:
        total += len(round_.committed)
        found.append(total)
    return found


def test_the_runs_own_settings_replay_to_the_run() -> None:
    _, lane = replayed(LaneForm("settings of Explore"), auto=False)["lanes"]
    counts = [json.loads(round_)["committed"] for round_ in lane["rounds"]]
    assert counts == [len(round_.committed) for round_ in TRACE.rounds]


def test_a_live_comparison_can_be_replayed_when_it_is_over() -> None:
    kept_runs.keep("key", TRACE)
    assert len(replayed(LaneForm("blind tree"), key="key")["lanes"]) == 2


@pytest.mark.parametrize(
    ("forms", "key", "words"),
    [
        ((LaneForm("autoregressive"),), FILE, "Choose at least one lane that drafts"),
        ((), FILE, "Choose at least one lane that drafts"),
        ((LaneForm("linear", budget="3"),), FILE, "Linear has no use for"),
        ((LaneForm("blind tree"),), "gone", "no longer holds this run"),
    ],
)
def test_what_cannot_be_replayed_is_said(forms: tuple[LaneForm, ...], key: str, words: str) -> None:
    with pytest.raises(gr.Error, match=words):
        replayed(*forms, key=key)


def test_the_page_knows_the_run_that_it_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRESTO_RUNS", str(RUNS))
    ticket = RunTicket()
    app.open_lanes("Fibonacci: code", ticket)
    assert ticket.shown == FILE
