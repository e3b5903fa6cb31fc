"""The handlers of the page, called as plain functions, and what importing it costs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

import app
from presto.records import DecodeConfig, Recording, recording_from_json, save, to_json
from presto.runs.requests import AUTO
from tests.support import serve, synthetic
from tests.support.event_loop import in_a_loop
from ui import live
from ui.controls import CHOSEN, FIELDS, values_of
from ui.error_messages import FAILED
from ui.lanes import MEASURING
from ui.recordings import recordings_in
from ui.run_ticket import RunTicket
from ui.settings_panel import choose_auto, choose_pair, settings_panel

DEFAULTS = values_of(DecodeConfig())


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "PACE", 0.0)
    monkeypatch.setitem(sys.modules, "presto.runs.runner", serve.double())


def head(value: dict[str, Any]) -> dict[str, Any]:
    return json.loads(value["head"])  # type: ignore[no-any-return]


def test_importing_the_page_loads_no_model() -> None:
    code = "import app, sys; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(app.__file__).parent)


def start(
    prompt: str = "hello", ticket: RunTicket | None = None
) -> tuple[RunTicket, Iterator[dict[str, Any]]]:
    ticket = ticket or RunTicket()
    number, *_ = live.begin(ticket)
    return ticket, live.run_live(ticket, number, prompt, "smollm2-gated", *DEFAULTS)


def test_a_run_streams_round_by_round_then_compares_with_linear() -> None:
    ticket, run = start()
    values = list(run)
    counts = [len(value["rounds"]) for value in values]
    assert counts == sorted(counts)
    assert set(counts) == set(range(9))
    assert head(values[0])["state"] == "running"
    assert head(values[-1])["state"] == "done"
    assert "vs linear" in [name for name, *_ in head(values[-1])["numbers"]]
    assert live.ready_again(ticket) == (live.READY, live.UNSTOPPABLE)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [("context", "The prompt has 9,000 tokens"), ("crash", FAILED)],
)
def test_a_failed_run_ends_with_one_sentence(
    prompt: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    ticket, run = start(prompt)
    last = list(run)[-1]
    assert head(last)["message"].startswith(text)
    assert "secret" not in head(last)["message"]
    assert live.ready_again(ticket) == (live.READY, live.UNSTOPPABLE)


def test_stop_ends_the_run_at_its_next_round() -> None:
    ticket, run = start()
    for _ in range(4):
        next(run)
    assert live.halt(ticket) == (live.READY, live.UNSTOPPABLE)
    (last,) = run
    assert head(last)["message"] == "Stopped."
    assert len(last["rounds"]) == 2


def test_stop_in_the_queue_leaves_the_page_as_it_is() -> None:
    ticket, run = start()
    live.halt(ticket)
    assert list(run) == []


@pytest.mark.parametrize("seen", [0, 2], ids=["in the queue", "under way"])
def test_a_recorded_run_silences_the_live_one(
    seen: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(synthetic.recording("First", rounds=2, budget=6), tmp_path / "a.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    ticket, run = start()
    for _ in range(seen):
        next(run)
    app.open_recorded("First", ticket)
    assert list(run) == []


def test_a_new_run_replaces_the_old_one_and_keeps_stop() -> None:
    ticket, old = start()
    next(old)
    _, new = start(ticket=ticket)
    assert list(old) == []
    assert live.ready_again(ticket) != (live.READY, live.UNSTOPPABLE)
    assert head(list(new)[-1])["state"] == "done"


def test_closing_a_run_closes_the_decoding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serve, "CLOSED", tmp_path / "closed")
    _, run = start()
    for _ in range(4):
        next(run)
    run.close()  # type: ignore[attr-defined]
    assert (tmp_path / "closed").read_text() == "presto 2\n"


@pytest.mark.parametrize("prompt", ["", "   ", "\n", "\u200b", "a\ud800", "x" * 1_000_000, None, 7])
def test_bad_prompts_are_refused_before_the_queue(prompt: object) -> None:
    answers = live.check(RunTicket(), prompt, "smollm2-gated", *DEFAULTS)
    assert [answer["is_valid"] for answer in answers] == [True, False] + [True] * (
        1 + len(DEFAULTS)
    )
    assert answers[1]["message"][0].isupper()


@pytest.mark.parametrize(
    ("name", "value"), [("budget", 0), ("lam", -1.0), ("scorer", "best"), ("seed", -1)]
)
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    settings = [
        value if field == name else default for field, default in zip(FIELDS, DEFAULTS, strict=True)
    ]
    assert (
        name in live.check(RunTicket(), "hello", "smollm2-gated", *settings)[1]["message"].lower()
    )


def test_an_unknown_pair_is_refused_before_the_queue() -> None:
    assert "Unknown pair" in live.check(RunTicket(), "hello", "magic", *DEFAULTS)[1]["message"]


def test_another_pair_brings_its_facts_and_usual_budget() -> None:
    pair, budget, length, auto = choose_pair("qwen3-8b-dflash")
    assert "thinking off" in pair.info
    assert (budget.value, length.value) == (128, 15)
    assert "no acceptance curve to choose by: 128 nodes and 15 positions" in auto.info
    *_, auto = choose_pair("smollm2-dflash")
    assert "chosen for this device" in auto.info


def test_budget_and_draft_length_are_shown_where_they_are_set() -> None:
    chosen = choose_auto(True, "qwen3-8b-dflash")
    assert [(slider.value, slider.visible) for slider in chosen] == [(128, False), (15, False)]
    own = choose_auto(False, "qwen3-8b-dflash")
    assert [slider["visible"] for slider in map(vars, own)] == [True, True]
    assert not any("value" in slider.constructor_args for slider in own)


def test_good_requests_pass() -> None:
    answers = live.check(RunTicket(), "hello", "smollm2-gated", *DEFAULTS)
    assert [answer["is_valid"] for answer in answers] == [True] * (3 + len(DEFAULTS))


def player() -> dict[str, Any]:
    page = in_a_loop(lambda: app.build().get_config_file())
    parts = [
        part["props"] for part in page["components"] if part["props"].get("elem_id") == "player"
    ]
    assert len(parts) == 1
    return dict(parts[0]["value"])


def test_build_opens_the_first_recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    save(synthetic.recording("First", rounds=2, budget=6), tmp_path / "a.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert len(player()["rounds"]) == 2


def test_damaged_recordings_do_not_keep_the_app_from_starting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever lies in the folder, the page starts with the recordings that are sound."""
    sound = synthetic.recording("First", rounds=2, budget=6)
    save(sound, tmp_path / "z.json.gz")
    whole = (tmp_path / "z.json.gz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0x55
    seeds = [replace(DecodeConfig(), temperature=0.8, seed=seed) for seed in (1, 2)]
    lanes = [replace(sound.traces[0], config=config) for config in seeds]
    several = json.loads(to_json(sound)) | {
        "traces": [json.loads(to_json(trace)) for trace in lanes]
    }
    content = {
        "a.json.gz": whole[:-20],
        "b.json.gz": bytes(flipped),
        "c.json.gz": b"no archive",
        "d.json": b"[" * 100_000,
        "e.json": to_json(sound.traces[0]),
        "f.json": json.dumps(several).encode(),
        "g.json": b"",
    }
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "h.json").mkdir()
    (tmp_path / "i.json").symlink_to(tmp_path / "absent")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert len(player()["rounds"]) == 2
    assert list(recordings_in(tmp_path)) == ["First"]
    for name in (*content, "h.json", "i.json"):
        assert f"skipped recording {name}: " in caplog.text


def test_build_without_recordings_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert app.NO_RUNS in player()["head"]


class Request:
    """The part of a Gradio request that ``restore`` reads."""

    def __init__(self, **query: str) -> None:
        self.query_params = query


def test_a_link_restores_a_recorded_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    save(synthetic.recording("First", rounds=2, budget=6), tmp_path / "a.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    picker, _, value, *rest = app.restore(Request(run="First"))  # type: ignore[arg-type]
    assert picker == "First"
    assert head(value)["link"] == {"run": "First"}
    assert value["record"] == (tmp_path / "a.json.gz").as_posix()
    assert len(rest) == 1 + len(FIELDS)


def test_without_a_link_the_rest_of_the_first_run_follows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(synthetic.recording("First", rounds=4, budget=6), tmp_path / "a.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    begun = player()
    for query in ({}, {"run": "Other"}):
        picker, prompt, value, *rest = app.restore(Request(**query))  # type: ignore[arg-type]
        assert [picker, prompt, *rest] == [gr.skip()] * (3 + len(FIELDS))
        assert (value["key"], head(value)["state"]) == (begun["key"], "done")
        assert len(begun["rounds"]) < len(value["rounds"]) == head(begun)["rounds"] == 4


def test_without_recordings_nothing_follows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    following = app.restore(Request())  # type: ignore[arg-type]
    assert list(following) == [gr.skip()] * (4 + len(FIELDS))


def test_a_link_restores_prompt_and_settings_without_running() -> None:
    _, prompt, value, system, *settings = app.restore(Request(prompt="hi", budget="64", round="2"))  # type: ignore[arg-type]
    assert (prompt, system) == ("hi", "smollm2-gated")
    named = dict(zip(FIELDS, settings, strict=True))
    assert (named["budget"], named[AUTO]) == (64, False)
    assert head(value)["message"] == app.SHARED
    assert value["rounds"] == []


def test_a_finished_run_carries_its_file() -> None:
    _, run = start()
    *_, last = run
    assert {trace.method for trace in recording_from_json(last["record"]).traces} == {
        "presto",
        "linear",
    }
    assert head(last)["link"] == {"prompt": "hello", "system": "smollm2-gated", "budget": "32"}


def test_an_auto_run_says_that_the_device_is_measured_and_has_a_link_and_a_curve() -> None:
    ticket = RunTicket()
    settings = values_of(DecodeConfig(), auto=True)
    values = list(live.run_live(ticket, ticket.begin(), "hello", "smollm2-gated", *settings))
    assert MEASURING in [head(value)["message"] for value in values]
    last = head(values[-1])
    assert last["link"] == {"prompt": "hello", "system": "smollm2-gated", "budget": "auto"}
    assert last["charts_of_run"]["budget"]["figure"]["data"]
    (presto, linear) = recording_from_json(values[-1]["record"]).traces
    assert presto.tuning == linear.tuning == synthetic.TUNING


def test_a_run_that_is_opened_brings_its_budget_or_that_it_was_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = synthetic.trace(rounds=1)
    given = replace(trace, config=replace(trace.config, budget=7, draft_length=3))
    for name, one in (("Given", given), ("Auto", replace(trace, tuning=synthetic.TUNING))):
        save(Recording(name, "", (one,)), tmp_path / f"{name}.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert app.open_recorded("Given", RunTicket())[2:] == (False, 7, 3)
    assert app.open_recorded("Auto", RunTicket())[2:] == (True, gr.skip(), gr.skip())
    *_, settings = (app.restore(Request(run="Given"))[4:],)  # type: ignore[arg-type]
    named = dict(zip(FIELDS, settings, strict=True))
    assert [named.pop(name) for name in (AUTO, *CHOSEN)] == [False, 7, 3]
    assert list(named.values()) == [gr.skip()] * len(named)


def test_settings_start_at_the_defaults_of_the_config() -> None:
    def values() -> list[Any]:
        with gr.Blocks():
            return [control.value for control in settings_panel({})]

    assert in_a_loop(values)[1:] == values_of(DecodeConfig(), auto=True)
