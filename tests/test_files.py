"""Opening a saved run: whatever a page may send, the answer is a run or one sentence."""

import json
from typing import Any

import gradio as gr
import pytest

from presto.records import to_json
from tests.support import synthetic
from tests.support.limits import watched
from ui import files
from ui.run_ticket import RunTicket

RUN = synthetic.recording("Mine", rounds=3, prompt="a prompt of mine")


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the visitor was told."""
    said: list[str] = []
    monkeypatch.setattr(gr, "Warning", said.append)
    return said


def opened(data: object, ticket: RunTicket | None = None) -> tuple[Any, ...]:
    return files.open_file(ticket or RunTicket(), gr.EventData(None, data))


def test_a_recording_is_opened_with_its_prompt_and_ends_the_live_run(warned: list[str]) -> None:
    ticket = RunTicket()
    ticket.begin()
    picker, prompt, value, *budget = opened({"text": to_json(RUN).decode()}, ticket)
    assert budget == [False, 32, 12]
    head = json.loads(value["head"])
    assert (picker, prompt) == (None, "a prompt of mine")
    assert (head["badge"], head["title"], head["link"]) == ("opened", "Mine", {})
    assert ticket.wanted is None
    assert warned == []


def test_what_a_file_says_is_no_markup_in_the_answer(warned: list[str]) -> None:
    opened({"text": '{"<img src=//a.example onerror=alert(1)>": 1}'})
    assert "{'&lt;img src=//a.example onerror=alert(1)&gt;': 1}" in warned[0]


def test_a_single_trace_is_opened_too(warned: list[str]) -> None:
    _, _, value, *_ = opened({"text": to_json(RUN.traces[1]).decode()})
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
    ticket = RunTicket()
    number = ticket.begin()
    answer = opened(data, ticket)
    assert answer == (gr.skip(),) * 6
    assert len(warned) == 1
    assert warned[0].startswith(sentence)
    assert ticket.wanted == number


@pytest.mark.parametrize(
    ("name", "most", "sentence"),
    [
        ("MAX_ROUNDS", 2, "The run has 3 rounds, this page opens runs with at most 2"),
        ("MAX_NODES", 50, "The run has 99 nodes, this page opens runs with at most 50"),
        ("MAX_CHARACTERS", 9, "characters in its nodes, this page opens runs with at most 9"),
    ],
)
def test_a_run_that_would_be_drawn_for_minutes_is_refused(
    name: str, most: int, sentence: str, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, name, most)
    assert all(part == gr.skip() for part in opened({"text": to_json(RUN).decode()}))
    assert sentence in warned[0]


def test_tokens_that_the_pair_does_not_have_are_shown_without_a_replay(warned: list[str]) -> None:
    data = json.loads(to_json(RUN.traces[0]))
    data["system"] = "smollm2-gated"
    data["pieces"]["1000000"] = "x"
    _, _, value, *_ = opened({"text": json.dumps(data | {"prompt_ids": [10**6, 2, 3]})})
    assert warned == []
    assert "tokens that its pair does not have" in json.loads(value["head"])["absent"]
    assert value["replays"] == []


def test_a_file_of_pathological_tokens_is_answered_in_time(warned: list[str]) -> None:
    """400 nodes of 9 kB, once 62 MB of page; and the worst that is still a run: within a second or
    refused.
    """
    long = ["\u202e" * 9000, *map(str, range(60))]
    data = json.loads(to_json(synthetic.trace(rounds=1, budget=400, pieces=["x"] * 61)))
    data["pieces"] = {str(i): piece for i, piece in enumerate(long)}
    with watched() as cost:
        opened({"text": json.dumps(data)})
    assert "at most 512 characters" in warned[0]
    assert cost.seconds < 1
    assert cost.megabytes < 200
