"""What a round of a live run costs the page's server: ``python -m tests.rounds [--rounds 300]``.

A synthetic run goes the way of a real one: the model's thread, ``ui.live.run_live`` and its
payload, then Gradio's own handling of every update as far as the bytes that it sends. Printed are
CPU milliseconds of the process per update, the share of them that is ours, and bytes, as medians
around a round; and what one round's payload costs alone.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Generator
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple

import gradio as gr
import orjson
from gradio.server_messages import ProcessGeneratingMessage
from gradio.state_holder import SessionState

from presto.records import DecodeConfig, Method, Trace
from presto.runs.events import RunEvent, events_of
from tests.support import serve, synthetic
from ui.controls import values_of
from ui.explore_payload import ExplorePayload
from ui.run_ticket import RunTicket

AROUND = 4  # updates on either side of a median
HEAD = f"{'lane':8}{'round':>7}{'CPU ms':>9}{'ours':>8}{'bytes':>9}"


class Update(NamedTuple):
    """One update of the page: CPU milliseconds, in all and in our handler, and bytes sent."""

    cpu: float
    ours: float
    size: int


def lane(method: Method, rounds: int) -> Trace:
    """A synthetic run of usual size: 32 nodes, or linear drafting with twice the rounds."""
    if method == "linear":
        return synthetic.trace(2, 2 * rounds, 8, method=method, keep=0.5, width=16)
    return synthetic.trace(1, rounds, 32, method=method, width=16)


def double(lanes: dict[str, Trace]) -> Any:
    """Stands where the app imports ``presto.runs.runner``."""

    def stream(
        system: str, prompt: str, method: str, config: DecodeConfig, auto: bool = False
    ) -> Generator[RunEvent, None, None]:
        yield from events_of(lanes[method])

    module = serve.double()
    module.stream = stream  # type: ignore[attr-defined]
    return module


def timed(handler: Any, spent: list[float]) -> Any:
    """``handler``, a generator function, which adds to ``spent`` the CPU seconds of every value."""

    @wraps(handler)
    def generator(*inputs: Any) -> Generator[Any, None, None]:
        values = handler(*inputs)
        while True:
            began = time.process_time()
            try:
                value = next(values)
            except StopIteration:
                return
            finally:
                spent.append(time.process_time() - began)
            yield value

    return generator


async def follow(page: gr.Blocks) -> list[Update]:
    """Every update of one run on the page "Explore", from its request to its end."""
    (function,) = [f for f in page.fns.values() if f.name == "run_live"]
    spent = list[float]()
    function.fn = timed(function.fn, spent)
    state, ticket = SessionState(page), RunTicket()
    state[function.inputs[0]._id] = ticket
    inputs = [None, ticket.begin(), "hello", "smollm2-gated", *values_of(DecodeConfig())]
    iterator, updates, going = None, list[Update](), True
    while going:
        began, before = time.process_time(), sum(spent)
        output = await page.process_api(
            function,
            inputs,
            state,
            iterator=iterator,
            session_hash="me",
            event_id="run",
            root_path="http://localhost",
        )
        iterator, going = output["iterator"], output["is_generating"]
        message = ProcessGeneratingMessage(output=output, success=True)
        size = len(orjson.dumps(message.model_dump(), default=str))
        cpu, ours = time.process_time() - began, sum(spent) - before
        updates.append(Update(1000 * cpu, 1000 * ours, size))
    return updates


def measured(rounds: int) -> list[Update]:
    """The updates of a run of ``rounds`` rounds; sent are the start, the rounds and the end."""
    methods: tuple[Method, ...] = ("presto", "linear")
    sys.modules["presto.runs.runner"] = double({m: lane(m, rounds) for m in methods})
    import app

    async def run() -> list[Update]:
        return await follow(app.build())

    return asyncio.run(run())


def round_milliseconds(rounds: int = 100, budget: int = 32) -> float:
    """CPU milliseconds of one round's payload, without its transport."""
    payload = ExplorePayload("live", "")
    start, *events = events_of(synthetic.trace(1, rounds, budget, width=16))
    payload.take(0, start)
    moments = [time.process_time()]
    for event in events:
        payload.take(0, event)
        moments.append(time.process_time())
    return statistics.median(1000 * (after - before) for before, after in pairwise(moments))


def main() -> None:
    """Measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds: int = parser.parse_args().rounds
    updates = measured(rounds)
    first = {"presto": 1, "linear": rounds + 2}  # a lane's start is an update of its own
    print(HEAD)
    for name, start in first.items():
        count = rounds if name == "presto" else 2 * rounds
        for place in sorted({10, 100, count // 2, count - AROUND}):
            around = updates[start + place - AROUND : start + place + AROUND + 1]
            cpu, ours, size = (
                statistics.median(getattr(update, part) for update in around)
                for part in ("cpu", "ours", "size")
            )
            print(f"{name:8}{place:7}{cpu:9.1f}{ours:8.1f}{size:9.0f}")
    for budget in (32, 256):
        print(f"payload of a round of {budget} nodes: {round_milliseconds(budget=budget):.1f} ms")


if __name__ == "__main__":
    main()
