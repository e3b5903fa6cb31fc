"""The parts of Gradio that have no public face and that this page cannot do without.

Gradio's queue has one bound (``max_size``) for all events of a page, so a full queue would also
refuse to open a recorded run; how many requests wait for one resource it tells nobody. Nothing else
of ``ui`` touches what begins with an underscore. ``tests/test_gradio_internals.py`` fails when an
update of Gradio changes one of these.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.context import LocalContext

Refuse = Callable[[gr.Blocks, Any], str]  # page and called function → a sentence, or nothing


def current_page() -> gr.Blocks | None:
    """The page whose event is being handled, ``None`` outside of one."""
    page: gr.Blocks | None = LocalContext.blocks.get(None)
    return page


def waiting(page: gr.Blocks, concurrency_id: str) -> int:
    """How many requests wait in the page's queue for a resource."""
    queues = page._queue.event_queue_per_concurrency_id
    return len(queues[concurrency_id].queue) if concurrency_id in queues else 0


def refuse_before_queue(page: gr.Blocks, refuse: Refuse) -> None:
    """Ask ``refuse`` before a request enters the page's queue; a sentence keeps it out."""
    push = page._queue.push

    async def bounded(body: Any, *rest: Any, **named: Any) -> Any:
        function = page.fns.get(body.fn_index)
        problem = refuse(page, function) if function is not None else ""
        if problem:
            return False, problem, "queue_full"
        return await push(body, *rest, **named)

    page._queue.push = bounded
