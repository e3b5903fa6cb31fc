"""Runs on a thread of this process: loading with progress, round by round, watched, refused in
words.
"""

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from traceback import clear_frames
from typing import TypeVar

from presto.models import machine
from presto.models.catalogue import find
from presto.models.memory import is_out_of_memory, release
from presto.records import DecodeConfig
from ui.environment import limit
from ui.error_messages import ServingError, no_memory, stuck
from ui.lanes import Lane, Update, Waiting, told
from ui.listeners import Attention
from ui.worker import ModelThread, StuckError

T = TypeVar("T")
log = logging.getLogger(__name__)
ROUND_SECONDS, LOAD_SECONDS = 120, 1800  # PRESTO_ROUND_SECONDS, PRESTO_LOAD_SECONDS
WARM = 8  # tokens of the run that nobody sees


_threads: list[ModelThread] = []


def _thread() -> ModelThread:
    """The model's thread, another one if it is stuck."""
    if not _threads or _threads[-1].stuck:
        _threads[:] = [ModelThread()]
    return _threads[-1]


def decode_lanes(system: str, prompt: str, lanes: Sequence[Lane]) -> Generator[Update, None, None]:
    """Decode the lanes one after another. Closing the generator ends the run and frees its memory
    at once, and so does a visitor who never listens.
    """
    from presto.runs.runner import stream

    thread, attention = _thread(), Attention()
    yield from _loaded(thread, system)
    for number, lane in enumerate(lanes):
        events = stream(system, prompt, lane.method, lane.config, auto=lane.auto)
        try:
            while (event := _round(thread, partial(next, events, None), lane)) is not None:
                if attention.is_lost():
                    return
                lane = lane.after(event)
                yield told(number, event)
        finally:
            if not thread.stuck:
                thread.within(ROUND_SECONDS, events.close)


def load_ahead(pairs: Sequence[str]) -> None:
    """Load the pairs that can run here, beside the page, and decode a few tokens for nobody: the
    first visitor waits at most for the rest of it.
    """
    for name in pairs:
        if not machine.why_unavailable(find(name)):
            _thread().submit(partial(_warm_up, name))


def _warm_up(system: str) -> None:
    """What goes wrong is logged here, and told to whoever asks for the pair."""
    from presto.runs.runner import prepare, stream

    try:
        prepare(system)
        for _ in stream(system, "Hello", "presto", DecodeConfig(max_new_tokens=WARM), auto=True):
            pass
    except Exception:
        log.warning("%s could not be loaded ahead", find(system).title, exc_info=True)


def _loaded(thread: ModelThread, system: str) -> Iterator[Update]:
    from presto.runs.runner import prepare

    title = find(system).title
    with _with_message(
        f"{title} does not fit into this machine's memory: choose a smaller pair.",
        f"{title} could not be loaded in time: run again, or choose another pair.",
    ):
        for _ in thread.watched(
            limit("PRESTO_LOAD_SECONDS", LOAD_SECONDS), partial(prepare, system)
        ):
            yield Waiting(f"Loading {title}…")


def _round(thread: ModelThread, work: Callable[[], T], lane: Lane) -> T:
    seconds = limit("PRESTO_ROUND_SECONDS", ROUND_SECONDS)
    with _with_message(no_memory(lane), stuck(seconds)):
        return thread.within(seconds, work)


@contextmanager
def _with_message(memory: str, time: str) -> Iterator[None]:
    """End a run with ``memory`` or ``time`` if that is what it ran out of, and give back what it
    held.
    """
    problem = ""
    try:
        yield
    except StuckError:
        from presto.runs.runner import forget

        # the stuck round may have left the model in any state; no wait for the device here
        forget()
        problem = time
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        clear_frames(error.__traceback__)
        release()
        problem = memory
    if problem:
        raise ServingError(problem)
