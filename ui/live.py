"""Asking for a run: checks, streaming round by round, stopping, and what went wrong in words."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

import gradio as gr

from presto.runs.events import RunEvent
from presto.runs.requests import without_method
from ui.controls import lane_of
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


def lanes_of(lane: Lane) -> tuple[Lane, ...]:
    """What a run of "Explore" decodes: what is asked for, then linear drafting, to compare."""
    if lane.method == "linear":
        return (lane,)
    return lane, Lane("linear", without_method(lane.config), lane.auto)


def check(ticket: object, prompt: object, system: str, *settings: Any) -> list[dict[str, Any]]:
    """Refuse a request that cannot run, with one sentence under the prompt, before it is queued."""
    message = ""
    try:
        check_request(prompt, system, lanes_of(lane_of(settings)))
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
    """Decode the prompt, first as asked, then with linear drafting; one update per round, until it
    is no longer wanted.
    """
    lane = lane_of(settings)
    payload = ExplorePayload("live", "Your prompt", link=to_query(prompt, system, lane))
    request = Request(system, prompt, lanes_of(lane))
    yield from follow(ticket, number, request, payload)


class Request(NamedTuple):
    """What to decode, lane after lane."""

    system: str
    prompt: str
    lanes: Sequence[Lane]


class Payload(Protocol):
    """What takes all that the lanes tell, and is sent to the page."""

    def take(self, lane: int, event: RunEvent) -> None:
        """Take what the lane of that number has told."""

    def value(self, state: State = "done", message: str = "") -> Value:
        """What is shown, with a sentence about what happens now or went wrong."""

    def progress(self) -> str:
        """How far the newest lane is, in a sentence."""


def follow(ticket: RunTicket, number: int, request: Request, payload: Payload) -> Iterator[Value]:
    """What the page shows of run ``number``, from loading to its end in words, until it is no
    longer wanted.
    """

    def wanted(_: object = None) -> bool:
        return ticket.wanted == number

    if not wanted():
        return  # given up while it waited in the queue: the page stays as it is
    system, prompt, lanes = request
    end = ""
    try:
        yield payload.value("running", "Loading the model and reading the prompt…")
        check_request(prompt, system, lanes)
        with closing(decode_lanes(system, prompt, lanes)) as updates:  # closing frees the model
            for update in takewhile(wanted, updates):
                if isinstance(update, Waiting):
                    yield payload.value("running", update.message)
                    continue
                payload.take(update.lane, update.event)
                yield payload.value("running", payload.progress())
    except Exception as error:
        end = reason(error)
    if number in (ticket.wanted, ticket.stopped):
        yield payload.value("done", "Stopped." if ticket.stopped == number else end)
    ticket.end(number)


def halt(ticket: RunTicket) -> tuple[Any, Any]:
    """Stop: the run ends at its next round, what it has stays on the page."""
    ticket.stop()
    return READY, UNSTOPPABLE


def ready_again(ticket: RunTicket) -> tuple[Any, Any]:
    """After a run, however it ended: Run works again, unless another one has begun."""
    return (READY, UNSTOPPABLE) if ticket.wanted is None else (gr.skip(), gr.skip())
