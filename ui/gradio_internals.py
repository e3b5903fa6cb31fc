"""The parts of Gradio that have no public face and that this page cannot do without.

Gradio's queue has one bound (``max_size``) for all events of a page, so a full queue would also
refuse to open a recorded run; how many requests wait for one resource it tells nobody. A page that
has state keeps a stream open in every tab, even while nothing happens. Nothing else of ``ui``
touches what begins with an underscore. ``tests/test_gradio_internals.py`` fails when an update of
Gradio changes one of these.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import gradio as gr
from gradio.context import LocalContext


class Refusal(NamedTuple):
    """Why a request does not enter the queue, and Gradio's kind of it: answered 503 or 400."""

    sentence: str
    kind: Literal["queue_full", "error"]


# page, called function, what it is called with → why not, or nothing
Refuse = Callable[[gr.Blocks, Any, list[Any]], Refusal | None]


def current_page() -> gr.Blocks | None:
    """The page whose event is being handled, ``None`` outside of one."""
    page: gr.Blocks | None = LocalContext.blocks.get(None)
    return page


def current_session() -> str | None:
    """The session that the event being handled answers to, ``None`` outside of one."""
    page, number = current_page(), LocalContext.event_id.get(None)
    event = page._queue.event_ids_to_events.get(number) if page and number else None
    return event.session_hash if event else None


def waiting(page: gr.Blocks, concurrency_id: str) -> int:
    """How many requests wait in the page's queue for a resource."""
    queues = page._queue.event_queue_per_concurrency_id
    return len(queues[concurrency_id].queue) if concurrency_id in queues else 0


def refuse_before_queue(page: gr.Blocks, refuse: Refuse) -> None:
    """Ask ``refuse`` before a request enters the page's queue; a refusal keeps it out."""
    push = page._queue.push

    async def bounded(body: Any, *rest: Any, **named: Any) -> Any:
        function = page.fns.get(body.fn_index)
        refusal = refuse(page, function, body.data) if function is not None else None
        if refusal:
            return False, *refusal
        return await push(body, *rest, **named)

    page._queue.push = bounded


def without_heartbeat(page: gr.Blocks) -> None:
    """Open no stream in a tab in which nothing runs.

    The heartbeat tells the server when a tab with state is closed. Our states are small and bounded
    in number, and the end of a run's own stream ends the run. A browser over HTTP/1.1 has six
    connections for all its tabs, so five idle ones would leave nothing for a sixth.
    """
    whole = page.get_config_file

    def quiet() -> Any:
        return {**whole(), "connect_heartbeat": False}

    page.get_config_file = quiet
