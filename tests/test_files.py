"""Opening a saved run: whatever a page may send, the answer is a run or one sentence."""

import json
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from presto.records import to_json
from tests.support import synthetic
from ui import files
from viz.visit import Visit

RUN = synthetic.recording("Mine", rounds=3, prompt="a prompt of mine")


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the visitor was told."""
    said: list[str] = []
    monkeypatch.setattr(gr, "Warning", said.append)
    return said


def opened(data: object, visit: Visit | None = None) -> tuple[Any, Any, Any]:
    return files.open_file(visit or Visit(), SimpleNamespace(_data=data))  # type: ignore[arg-type]


def test_a_recording_is_opened_with_its_prompt_and_ends_the_live_run(warned: list[str]) -> None:
    visit = Visit()
    visit.begin()
    picker, prompt, value = opened({"text": to_json(RUN).decode()}, visit)
    head = json.loads(value["head"])
    assert (picker, prompt) == (None, "a prompt of mine")
    assert (head["badge"], head["title"], head["link"]) == ("opened", "Mine", {})
    assert visit.wanted is None
    assert warned == []


def test_a_single_trace_is_opened_too(warned: list[str]) -> None:
    _, _, value = opened({"text": to_json(RUN.traces[1]).decode()})
    assert len(value["rounds"]) == len(RUN.traces[1].rounds)
    assert warned == []


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "The file's text is missing, got NoneType"),
        ({"text": 7}, "The file's text is missing, got int"),
        ({"text": ""}, "Not a valid trace: value: Invalid JSON"),
        ({"text": '{"traces": 7}'}, "Not a valid recording: title: Field required"),
        ({"text": "[" * 100_000}, "Not a valid trace"),
        ({"text": "\ud800"}, "Not a valid trace"),
        ({"text": "x" * (files.LARGEST + 1)}, "The file holds more than 16 MB"),
    ],
)
def test_anything_else_is_refused_in_words_and_leaves_the_page_as_it_was(
    data: object, sentence: str, warned: list[str]
) -> None:
    visit = Visit()
    number = visit.begin()
    answer = opened(data, visit)
    assert answer == (gr.skip(), gr.skip(), gr.skip())
    assert len(warned) == 1
    assert warned[0].startswith(sentence)
    assert visit.wanted == number
