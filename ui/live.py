"""Asking for a run: checks, streaming round by round, stopping, and words for what went wrong."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from typing import Any, NamedTuple

import gradio as gr

from presto.records import DecodeConfig, Trace
from ui.controls import config_of
from ui.lanes import Lane
from ui.limits import check_request
from ui.line import full
from ui.links import to_query
from ui.serving import play
from ui.words import reason, sentence
from viz.payload import Show
from viz.visit import State, Visit

Value = dict[str, Any]  # of the page's component
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
    """A checked request gets its number; no recorded run is chosen any more, Run waits, Stop
    works.
    """
    return visit.begin(), None, BUSY, STOPPABLE


def run_live(
    visit: Visit, number: int, prompt: str, system: str, *settings: Any
) -> Iterator[Value]:
    """Decode the prompt, PRESTO first, then linear drafting; one update per round, until it is no
    longer wanted.
    """
    config = config_of(settings)
    show = Show("live", "Your prompt", link=to_query(prompt, system, config))
    request = Request(system, prompt, lanes_of(config), MESSAGES)
    yield from follow(visit, number, request, lambda _, trace: show.take(trace), show.value)


class Request(NamedTuple):
    """What to decode, lane after lane, and the words for each while it is decoded."""

    system: str
    prompt: str
    lanes: Sequence[Lane]
    words: Sequence[str]


def follow(
    visit: Visit,
    number: int,
    request: Request,
    take: Callable[[int, Trace], None],
    value: Callable[[State, str], Value],
) -> Iterator[Value]:
    """What the page shows of run ``number``, from loading to its end in words, until it is no
    longer wanted.

    ``take(lane, trace)`` keeps the newest state of a lane; ``value(state, message)`` is then shown.
    """

    def wanted(_: object = None) -> bool:
        return visit.wanted == number

    if not wanted():
        return  # given up while it waited in the line: the page stays as it is
    system, prompt, lanes, words = request
    end = ""
    try:
        yield value("running", "Loading the model and reading the prompt…")
        check_request(prompt, system, lanes)
        with closing(play(system, prompt, lanes)) as updates:  # closing it frees the model at once
            for update in takewhile(wanted, updates):
                if update.trace is not None:
                    take(update.lane, update.trace)
                yield value("running", update.message or words[update.lane])
    except Exception as error:
        end = reason(error)
    if number in (visit.wanted, visit.stopped):
        yield value("done", "Stopped." if visit.stopped == number else end)
    visit.end(number)


def halt(visit: Visit) -> tuple[Any, Any]:
    """Stop: the run ends at its next round, what it has stays on the page."""
    visit.stop()
    return READY, UNSTOPPABLE


def rest(visit: Visit) -> tuple[Any, Any]:
    """After a run, however it ended: Run works again, unless another one has begun."""
    return (READY, UNSTOPPABLE) if visit.wanted is None else (gr.skip(), gr.skip())
