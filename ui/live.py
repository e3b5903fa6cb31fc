"""Asking for a run: checks, streaming round by round, stopping, and what went wrong in words."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from typing import Any, NamedTuple

import gradio as gr

from presto.records import DecodeConfig
from presto.runs.events import RunEvent
from presto.runs.requests import tree_method
from ui.controls import config_of, is_auto
from ui.error_messages import reason, sentence
from ui.explore_payload import ExplorePayload
from ui.lanes import Lane, Waiting
from ui.limits import check_request
from ui.links import to_query
from ui.payload import State, Value
from ui.queue import queue_full
from ui.run_ticket import RunTicket
from ui.serving import decode_lanes

BUSY, READY = gr.Button(interactive=False), gr.Button(interactive=True)
STOPPABLE, UNSTOPPABLE = gr.Button(interactive=True), gr.Button(interactive=False)
MESSAGES = ("Decoding with PRESTO…", "Decoding the same prompt with linear drafting, to compare…")


def lanes_of(config: DecodeConfig, auto: bool) -> tuple[Lane, ...]:
    """What a run of "Explore" decodes, in the order of ``MESSAGES``."""
    return Lane(tree_method(config), config, auto), Lane("linear", config, auto)


def check(ticket: object, prompt: object, system: str, *settings: Any) -> list[dict[str, Any]]:
    """Refuse a request that cannot run, with one sentence under the prompt, before it is queued."""
    message = ""
    try:
        check_request(prompt, system, lanes_of(config_of(settings), is_auto(settings)))
        message = queue_full()
    except ValueError as error:
        message = sentence(error)
    fine = gr.validate(True, "")
    return [fine, gr.validate(not message, message), fine, *([fine] * len(settings))]


def begin(ticket: RunTicket, *request: Any) -> tuple[int, None, Any, Any]:
    """A checked request gets its number; no recorded run is chosen any more, Run waits, Stop
    works.
    """
    return ticket.begin(), None, BUSY, STOPPABLE


def run_live(
    ticket: RunTicket, number: int, prompt: str, system: str, *settings: Any
) -> Iterator[Value]:
    """Decode the prompt, PRESTO first, then linear drafting; one update per round, until it is no
    longer wanted.
    """
    config, auto = config_of(settings), is_auto(settings)
    payload = ExplorePayload("live", "Your prompt", link=to_query(prompt, system, config, auto))
    request = Request(system, prompt, lanes_of(config, auto), MESSAGES)
    yield from follow(ticket, number, request, payload.take, payload.value)


class Request(NamedTuple):
    """What to decode, lane after lane, and a message for each while it is decoded."""

    system: str
    prompt: str
    lanes: Sequence[Lane]
    messages: Sequence[str]


def follow(
    ticket: RunTicket,
    number: int,
    request: Request,
    take: Callable[[int, RunEvent], None],
    value: Callable[[State, str], Value],
) -> Iterator[Value]:
    """What the page shows of run ``number``, from loading to its end in words, until it is no
    longer wanted.

    ``take(lane, event)`` is given all that a lane tells; ``value(state, message)`` is then shown.
    """

    def wanted(_: object = None) -> bool:
        return ticket.wanted == number

    if not wanted():
        return  # given up while it waited in the queue: the page stays as it is
    system, prompt, lanes, messages = request
    end = ""
    try:
        yield value("running", "Loading the model and reading the prompt…")
        check_request(prompt, system, lanes)
        with closing(decode_lanes(system, prompt, lanes)) as updates:  # closing frees the model
            for update in takewhile(wanted, updates):
                if isinstance(update, Waiting):
                    yield value("running", update.message)
                    continue
                take(update.lane, update.event)
                yield value("running", messages[update.lane])
    except Exception as error:
        end = reason(error)
    if number in (ticket.wanted, ticket.stopped):
        yield value("done", "Stopped." if ticket.stopped == number else end)
    ticket.end(number)


def halt(ticket: RunTicket) -> tuple[Any, Any]:
    """Stop: the run ends at its next round, what it has stays on the page."""
    ticket.stop()
    return READY, UNSTOPPABLE


def ready_again(ticket: RunTicket) -> tuple[Any, Any]:
    """After a run, however it ended: Run works again, unless another one has begun."""
    return (READY, UNSTOPPABLE) if ticket.wanted is None else (gr.skip(), gr.skip())
