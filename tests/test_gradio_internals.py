"""What we take of Gradio's inside is still there and still does what ``ui.gradio_internals`` says.

A failure here means that an update of Gradio changed it: read its release, then change that module.
"""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import gradio as gr
import orjson
import pytest
from gradio.context import LocalContext
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, EventQueue, Queue
from gradio.route_utils import API_PREFIX
from gradio.server_messages import CloseStreamMessage, ProcessCompletedMessage
from gradio_client.utils import is_file_obj_with_meta

import ui
from tests.support.event_loop import in_a_loop
from ui import queue
from ui.gradio_internals import Refusal, current_page, refuse_before_queue, waiting
from ui.player import PLAYER
from ui.streams import STREAM

ROOT = Path(ui.__file__).parents[1]
FORBIDDEN = re.compile(r"gradio\.(context|queueing|route_utils|routes|state_holder|utils)|\._queue")


def page() -> gr.Blocks:
    """One endpoint that waits for the model and one that does not."""
    with gr.Blocks() as made:
        gr.api(lambda: 1, api_name="model", concurrency_id=queue.MODEL, concurrency_limit=1)
        gr.api(lambda: 1, api_name="other", concurrency_limit=None)
    return queue.bound_queue(made)


def fill(made: gr.Blocks, count: int) -> None:
    """Let ``count`` requests wait for the model."""
    inner: Queue = made._queue
    function = next(f for f in made.fns.values() if f.concurrency_id == queue.MODEL)
    inner.create_event_queue_for_fn(function)
    line = inner.event_queue_per_concurrency_id[queue.MODEL]
    assert isinstance(line, EventQueue)
    line.queue += [Event("session", function, None, None) for _ in range(count)]  # type: ignore[arg-type]


def push(made: gr.Blocks, name: str, data: list[Any] | None = None) -> Any:
    """What the page's queue answers a request of the endpoint ``name``."""
    (index,) = [i for i, function in made.fns.items() if function.api_name == name]
    body = PredictBodyInternal(fn_index=index, data=data or [], session_hash="me")
    return asyncio.run(made._queue.push(body=body, request=None, username=None))


def test_the_queue_is_asked_by_the_arguments_that_its_route_gives() -> None:
    assert inspect.iscoroutinefunction(Queue.push)
    assert list(inspect.signature(Queue.push).parameters) == ["self", "body", "request", "username"]


def test_a_full_queue_refuses_what_decodes_and_nothing_else(monkeypatch: Any) -> None:
    monkeypatch.setenv("PRESTO_QUEUE", "2")
    made = in_a_loop(page)
    assert waiting(made, queue.MODEL) == 0
    fill(made, 1)
    assert waiting(made, queue.MODEL) == 1
    assert queue.queue_full(made) == ""
    fill(made, 1)
    refused, sentence, kind = push(made, "model")
    assert (refused, kind) == (False, "queue_full")
    assert sentence.startswith("2 requests are waiting already")
    accepted, _, kind = push(made, "other")
    assert (accepted, kind) == (True, "success")


def test_a_request_that_fits_is_queued() -> None:
    made = in_a_loop(page)
    accepted, _, kind = push(made, "model")
    assert (accepted, kind) == (True, "success")
    assert waiting(made, queue.MODEL) == 1


def test_the_page_that_asks_is_known_while_its_event_is_handled() -> None:
    made = in_a_loop(page)
    assert current_page() is None
    token = LocalContext.blocks.set(made)
    assert current_page() is made
    LocalContext.blocks.reset(token)
    source = inspect.getsource(gr.Blocks.process_api)
    assert "LocalContext.blocks.set(self)" in source


def test_refusals_are_asked_in_the_order_they_were_added() -> None:
    made = in_a_loop(page)
    refuse_before_queue(made, lambda *_: Refusal("not today", "error"))
    assert push(made, "other") == (False, "not today", "error")


FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


@pytest.mark.parametrize("data", [[FILE], [1, [{"deep": [FILE | {"url": "http://a.example"}]}]]])
def test_a_call_that_names_a_file_is_refused_before_gradio_fetches_it(data: list[Any]) -> None:
    assert is_file_obj_with_meta(FILE)  # what Gradio takes for a file
    made = in_a_loop(page)
    assert push(made, "other", data) == (False, queue.NO_FILES, "error")
    assert push(made, "other", [{"path": "/etc/passwd"}, "meta", {"meta": 1}])[0] is True


def test_a_page_with_state_opens_no_stream_while_nothing_runs() -> None:
    def configs() -> tuple[Any, Any]:
        with gr.Blocks() as made:
            gr.State()
        usual = made.get_config_file()
        return usual, queue.bound_queue(made).get_config_file()

    usual, ours = in_a_loop(configs)
    assert usual["connect_heartbeat"] is True  # else this is needed no more
    assert ours == usual | {"connect_heartbeat": False}


def test_the_pages_of_gradio_ask_for_a_stream_as_our_script_expects() -> None:
    """By ``fetch``, at this address; by anything else our script would not see it."""
    folder = Path(gr.__file__).parent / "templates" / "frontend" / "assets"
    client = next(
        text
        for path in folder.glob("index-*.js")
        if "queue/data" in (text := path.read_text(encoding="utf-8"))
    )
    assert "EventSource(" not in client
    assert "connect_heartbeat" in client
    script = (PLAYER / "streams.js").read_text(encoding="utf-8")
    assert f'const STREAM = "{STREAM}";' in script
    assert f"{API_PREFIX}/queue/data" == STREAM
    assert "queue/join" in client
    assert f'const JOIN = "{API_PREFIX}/queue/join";' in script


def test_the_ends_of_answers_and_streams_read_as_our_script_expects() -> None:
    completed = ProcessCompletedMessage(output={}, success=True, event_id="7")
    script = (PLAYER / "logic" / "unheard.js").read_text(encoding="utf-8")
    for message, name in ((completed, "COMPLETED"), (CloseStreamMessage(), "CLOSED")):
        written = orjson.dumps(message.model_dump()).decode()
        found = re.search(rf"const {name} = '(.*)';", script)
        assert found
        assert found[1] in written


@pytest.mark.parametrize(
    "path", sorted([ROOT / "app.py", *(ROOT / "ui").glob("*.py")]), ids=lambda path: path.name
)
def test_nothing_else_reaches_into_gradio(path: Path) -> None:
    if path.name != "gradio_internals.py":
        assert not FORBIDDEN.search(path.read_text(encoding="utf-8"))
