"""ZeroGPU: on such a Space a request borrows a GPU for a duration it states beforehand.

The ``spaces`` package forks a worker per request. What the parent loaded before it serves moves to
the GPU there; what the worker yields is pickled, and a run's events are plain records. An
exception's text does not cross, so refusals are yielded as words. Elsewhere nothing here is
imported or changed.
"""

import math
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import gradio as gr

from presto.models.catalogue import PairSpec, find
from ui.error_messages import ServingError, reason_in
from ui.lanes import Lane, Update, told
from ui.preload import chosen

F = TypeVar("F", bound=Callable[..., Any])
ACTIVE = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")
# What a request reserves, not what it measures: if it ends earlier, only the seconds used are
# charged.
START_SECONDS = 10  # moving the weights to the GPU and reading the prompt
MEASURE_SECONDS = 5  # what passes cost, where budgets are chosen: until a worker kept it on disk
TOKEN_SECONDS = 0.05  # per new token and lane, as if no draft were ever accepted
HELP = "The recorded runs above need no GPU."
MESSAGES = {  # titles of the errors of ``spaces`` → what they mean to a visitor
    "ZeroGPU quota exceeded": (
        "Your share of free GPU seconds is used up, or no GPU is left for it: try again later."
    ),
    "ZeroGPU pending credits exceeded": (
        "Other runs of yours hold all your GPU seconds: wait until they end."
    ),
    "ZeroGPU illegal duration": (
        "This run asks for more GPU seconds than you may: ask for fewer tokens or lanes."
    ),
    "ZeroGPU queue timeout": "No GPU became free within a minute: try again later.",
    "ZeroGPU worker error": (
        "The GPU was taken away, probably because the run took too long: ask for fewer tokens."
    ),
}
OTHERWISE = "No GPU could be had: try again later."


class Refusal(NamedTuple):
    """Why the worker cannot go on, in words."""

    message: str


def why_unavailable(spec: PairSpec) -> str:
    """Why a pair cannot run on this Space, as the end of a sentence; empty if it can."""
    return "" if spec.name in chosen() else f"this Space has loaded only {' and '.join(chosen())}"


def preload() -> None:
    """Load the pairs in this process, on its main thread, before it serves: workers inherit
    them.
    """
    if ACTIVE:
        from presto.runs.runner import prepare

        for name in chosen():
            prepare(name)


def seconds(system: str, prompt: str, lanes: Sequence[Lane]) -> int:
    """GPU seconds to reserve for a request."""
    tokens = sum(lane.config.max_new_tokens for lane in lanes)
    measured = MEASURE_SECONDS * any(lane.auto for lane in lanes)
    weights = math.ceil(find(system).gigabytes)
    return START_SECONDS + measured + weights + math.ceil(tokens * TOKEN_SECONDS)


def _on_gpu(task: F) -> F:
    if not ACTIVE:
        return task
    import spaces

    return spaces.GPU(duration=seconds)(task)  # type: ignore[no-any-return]


@_on_gpu
def in_worker(
    system: str, prompt: str, lanes: Sequence[Lane]
) -> Generator[Update | Refusal, None, None]:
    """What the worker does: decode the lanes and tell each event as plain data."""
    from presto.runs.runner import stream

    for number, lane in enumerate(lanes):
        events = stream(system, prompt, lane.method, lane.config, auto=lane.auto)
        try:
            for event in events:
                lane = lane.after(event)
                yield told(number, event)
        except Exception as error:
            yield Refusal(reason_in(lane, error))
            return
        finally:
            events.close()


def decode_lanes(system: str, prompt: str, lanes: Sequence[Lane]) -> Generator[Update, None, None]:
    """The lanes' events, decoded on a borrowed GPU; ``ServingError`` says why it cannot be."""
    try:
        with closing(in_worker(system, prompt, lanes)) as updates:
            for news in updates:
                if isinstance(news, Refusal):
                    raise ServingError(news.message)
                yield news
    except gr.Error as error:
        raise ServingError(f"{MESSAGES.get(error.title, OTHERWISE)} {HELP}") from None
