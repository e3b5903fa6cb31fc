"""The queue in which requests wait for the model: bounded, and full in words.

Gradio shows visitors their place in it over the prompt.
"""

from typing import Any

import gradio as gr

from ui.environment import limit
from ui.gradio_internals import (
    Refusal,
    current_page,
    refuse_before_queue,
    waiting,
    without_heartbeat,
)

MODEL = "model"  # everything that decodes waits for one resource: there is one device
WAITING = 16  # requests that may wait: PRESTO_QUEUE
NO_FILES = "No call of this page takes a file."
OTHER_EVENTS = 256  # events that decode nothing and may be under way besides


def bound_queue(page: gr.Blocks) -> gr.Blocks:
    """Let ``page`` serve through a queue in which so many may wait for the model."""
    bound = limit("PRESTO_QUEUE", WAITING) + OTHER_EVENTS
    # Not ``api_open``: a direct request would pass the queue by, and nobody would see it end.
    page.queue(max_size=bound, api_open=False)
    refuse_before_queue(page, _refusal)
    without_heartbeat(page)
    return page


def _refusal(page: gr.Blocks, function: Any, data: list[Any]) -> Refusal | None:
    if names_file(data):
        return Refusal(NO_FILES, "error")
    # The page's own runs are refused by their validator, which can say so beside the prompt.
    public = function.concurrency_id == MODEL and function.api_visibility == "public"
    full = queue_full(page) if public else ""
    return Refusal(full, "queue_full") if full else None


def names_file(data: list[Any]) -> bool:
    """Whether the arguments of a call hold what Gradio takes for a file, and would fetch: a
    dictionary with ``path`` and ``meta``. Nothing here takes one.
    """
    waiting = [*data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if {"path", "meta"} <= value.keys():
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def queue_full(page: gr.Blocks | None = None) -> str:
    """A sentence if nobody more may wait for the model, else nothing. ``page``: the one that asks,
    by default.
    """
    page = page or current_page()
    count = 0 if page is None else waiting(page, MODEL)
    if count < limit("PRESTO_QUEUE", WAITING):
        return ""
    return (
        f"{count} requests are waiting already, no more fit: try again in a minute, or open a "
        "recorded run."
    )
