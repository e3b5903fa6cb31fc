"""The handlers of the page, called as plain functions, and what importing it costs."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

import app
from presto.records import DecodeConfig, save
from tests import synthetic
from tests.e2e import serve

DEFAULTS = [getattr(DecodeConfig(), name) for name in app.FIELDS]


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "PACE", 0.0)
    for name, module in serve.doubles().items():
        monkeypatch.setitem(sys.modules, name, module)


def head(reply: Any) -> dict[str, Any]:
    return json.loads(reply[0]["head"])  # type: ignore[no-any-return]


def test_importing_the_page_loads_no_model() -> None:
    code = "import app, sys; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(app.__file__).parent)


def test_a_run_streams_round_by_round_then_compares_with_linear() -> None:
    replies = list(app.run_live("hello", "synthetic", *DEFAULTS))
    counts = [len(reply[0]["rounds"]) for reply in replies]
    assert counts == sorted(counts)
    assert set(counts) == set(range(9))
    assert head(replies[0])["state"] == "running"
    assert head(replies[-1])["state"] == "done"
    assert "vs linear" in [name for name, *_ in head(replies[-1])["numbers"]]


@pytest.mark.parametrize(("prompt", "sentence"), [("context", "The prompt has 9,000 tokens"), ("crash", app.FAILED)])
def test_a_failed_run_ends_with_one_sentence_and_run_enabled(
    prompt: str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    last = list(app.run_live(prompt, "synthetic", *DEFAULTS))[-1]
    assert head(last)["message"].startswith(sentence)
    assert "secret" not in head(last)["message"]
    assert last[1:] == (app.READY, app.UNSTOPPABLE)


def test_closing_a_run_closes_the_decoding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serve, "CLOSED", tmp_path / "closed")
    run: Iterator[Any] = app.run_live("hello", "synthetic", *DEFAULTS)
    for _ in range(4):
        next(run)
    run.close()  # type: ignore[attr-defined]
    assert (tmp_path / "closed").read_text() == "presto 2\n"


@pytest.mark.parametrize("prompt", ["", "   ", "\n", "\u200b", "a\ud800", "x" * 1_000_000, None, 7])
def test_bad_prompts_are_refused_before_the_queue(prompt: object) -> None:
    first, *others = app.check(prompt, "synthetic", *DEFAULTS)
    assert not first["is_valid"]
    assert first["message"][0].isupper()
    assert all(other["is_valid"] for other in others)
    assert len(others) == 1 + len(DEFAULTS)


@pytest.mark.parametrize(("name", "value"), [("budget", 0), ("lam", -1.0), ("scorer", "best"), ("seed", -1)])
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    settings = [value if field == name else default for field, default in zip(app.FIELDS, DEFAULTS, strict=True)]
    assert name in app.check("hello", "synthetic", *settings)[0]["message"].lower()


def test_good_requests_pass() -> None:
    assert all(answer["is_valid"] for answer in app.check("hello", "synthetic", *DEFAULTS))


def test_the_api_returns_the_whole_trace() -> None:
    trace = app.decode("hello", "linear", settings={"budget": 8})
    assert trace["method"] == "linear"
    assert trace["finish"] == "length"


@pytest.mark.parametrize("arguments", [("",), ("hello", "fast"), ("hello", "presto", "", {"budget": 0})])
def test_the_api_refuses_with_one_sentence(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(gr.Error, match=r"^['\"]?[A-Z]"):
        app.decode(*arguments)


def built() -> dict[str, Any]:
    """The page's configuration. Built inside a loop: outside of one, Gradio opens loops that it never closes."""

    async def build() -> dict[str, Any]:
        return dict(app.build().get_config_file())

    return asyncio.run(build())


def player() -> dict[str, Any]:
    parts = [part["props"] for part in built()["components"] if part["props"].get("elem_id") == "player"]
    assert len(parts) == 1
    return dict(parts[0]["value"])


def test_build_opens_the_first_recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    save(synthetic.recording("First", rounds=2, budget=6), tmp_path / "a.json.gz")
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert len(player()["rounds"]) == 2


def test_build_without_recordings_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESTO_RUNS", str(tmp_path))
    assert app.NO_RUNS in player()["head"]


def test_settings_start_at_the_defaults_of_the_config() -> None:
    async def values() -> list[Any]:
        with gr.Blocks():
            return [control.value for control in app.settings_controls()]  # type: ignore[attr-defined]

    assert asyncio.run(values()) == DEFAULTS
