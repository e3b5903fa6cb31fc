"""The line in which requests wait for the model: bounded, and full in words.

Gradio shows each visitor their place over the prompt. Its own bound (``max_size``) covers every
event of the page, so that a full line would also refuse to open a recorded run; here only what
decodes is refused.
"""

from typing import Any

import gradio as gr
from gradio.context import LocalContext

from ui.limits import limit

MODEL = "model"  # everything that decodes waits in one line: there is one device
QUEUE = 16  # requests that may wait: PRESTO_QUEUE
LIGHT = 256  # events that decode nothing and may be under way besides


def open_line(page: gr.Blocks) -> gr.Blocks:
    """Let ``page`` serve through a queue whose line to the model is bounded."""
    page.queue(max_size=limit("PRESTO_QUEUE", QUEUE) + LIGHT)
    push = page._queue.push

    async def bounded(body: Any, *rest: Any, **named: Any) -> Any:
        # The page's own runs are refused by their validator, which can say so beside the prompt.
        function = page.fns.get(body.fn_index)
        if (
            function is not None
            and function.concurrency_id == MODEL
            and function.api_visibility == "public"
        ):
            problem = full(page)
            if problem:
                return False, problem, "queue_full"
        return await push(body, *rest, **named)

    page._queue.push = bounded
    return page


def full(page: gr.Blocks | None = None) -> str:
    """A sentence if nobody more may wait for the model, else nothing. ``page``: the one that asks,
    by default.
    """
    page = page or LocalContext.blocks.get(None)
    if page is None:
        return ""
    line = page._queue.event_queue_per_concurrency_id.get(MODEL)
    size = limit("PRESTO_QUEUE", QUEUE)
    if line is None or len(line.queue) < size:
        return ""
    return (
        f"{len(line.queue)} requests are waiting already, no more fit: try again in a minute, or "
        "open a recorded run."
    )
