"""Asking for a run: checks, streaming round by round, stopping, and words for what went wrong."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from presto.records import DecodeConfig
from ui.controls import config_of
from ui.lanes import Lane
from ui.limits import check_request
from ui.line import full
from ui.links import to_query
from ui.serving import play
from ui.words import reason, sentence
from viz.payload import Show
from viz.visit import Visit

BUSY, READY = gr.Button(interactive=False), gr.Button(interactive=True)
STOPPABLE, UNSTOPPABLE = gr.Button(interactive=True), gr.Button(interactive=False)
MESSAGES = ("Decoding with PRESTO…", "Decoding the same prompt with linear drafting, to compare…")


def lanes_of(config: DecodeConfig) -> tuple[Lane, ...]:
    """What a run of "Explore" decodes, in the order of ``MESSAGES``."""
    return Lane("presto", config), Lane("linear", config)


def check(visit: object, prompt: object, system: str, *settings: Any) -> list[dict[str, Any]]:
    """Refuse a request that cannot run, with one sentence under the prompt, before it is queued."""
    message = ""
    try:
        check_request(prompt, system, lanes_of(config_of(settings)))
        message = full()
    except ValueError as error:
        message = sentence(error)
    fine = gr.validate(True, "")
    return [fine, gr.validate(not message, message), fine, *([fine] * len(settings))]


def begin(visit: Visit, *request: Any) -> tuple[int, None, Any, Any]:
    """A checked request gets its number; no recorded run is chosen any more, Run waits, Stop works."""
    return visit.begin(), None, BUSY, STOPPABLE


def run_live(visit: Visit, number: int, prompt: str, system: str, *settings: Any) -> Iterator[dict[str, Any]]:
    """Decode the prompt, PRESTO first, then linear drafting; one update per round, until it is no longer wanted."""
    config = config_of(settings)
    show = Show("live", "Your prompt", link=to_query(prompt, system, config))
    yield show.value("running", "Loading the model and reading the prompt…")
    try:
        for message in decode_lanes(show, system, prompt, config, lambda: visit.wanted == number):
            yield show.value("running", message)
        end = ""
    except Exception as error:
        end = reason(error)
    if number in (visit.wanted, visit.stopped):
        yield show.value("done", "Stopped." if visit.stopped == number else end)
    visit.end(number)


def decode_lanes(
    show: Show, system: str, prompt: str, config: DecodeConfig, wanted: Callable[[], bool]
) -> Iterator[str]:
    """Feed ``show`` round by round while ``wanted``; yields what is being done. Closing it frees the model at once."""
    lanes = lanes_of(config)
    check_request(prompt, system, lanes)
    with closing(play(system, prompt, lanes)) as updates:
        for update in updates:
            if not wanted():
                return
            if update.trace is not None:
                show.take(update.trace)
            yield update.message or MESSAGES[update.lane]


def halt(visit: Visit) -> tuple[Any, Any]:
    """Stop: the run ends at its next round, what it has stays on the page."""
    visit.stop()
    return READY, UNSTOPPABLE


def rest(visit: Visit) -> tuple[Any, Any]:
    """After a run, however it ended: Run works again, unless another one has begun."""
    return (READY, UNSTOPPABLE) if visit.wanted is None else (gr.skip(), gr.skip())
