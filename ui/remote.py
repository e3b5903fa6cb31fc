"""Runs on the replicas of a Ray cluster (``PRESTO_BACKEND``); this process needs no torch then.

``ray`` starts a cluster on this machine and serves the default pair on all its devices,
``ray:HOST:PORT`` and ``ray:auto`` join one that ``presto serve`` serves on.
"""

import logging
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from presto.cluster.joining import joined
from presto.cluster.serving import Cluster, LostError, RemoteRun, deploy
from presto.cluster.told import Failed, Told
from presto.models.catalogue import PairSpec, names
from ui.environment import limit
from ui.error_messages import FAILED, ServingError, no_memory, stuck
from ui.lanes import Lane, Update, Waiting, told
from ui.listeners import Attention
from ui.local import LOAD_SECONDS, ROUND_SECONDS
from ui.worker import ModelThread, StuckError

logger = logging.getLogger(__name__)
VARIABLE = "PRESTO_BACKEND"
LOST = (
    "The machine that decoded this run was lost; another one takes its place: run again in a "
    "moment."
)
NO_REPLICA = "No replica of this pair became free in time: run again later."
_joined: list[Cluster] = []  # at most one


def is_active() -> bool:
    """Whether runs happen on a cluster."""
    return bool(_joined)


def at_once() -> int:
    """How many runs the cluster decodes at once."""
    return sum(_joined[0].facts.replicas.values())


def why_unavailable(spec: PairSpec) -> str:
    """Why a pair cannot run on the cluster, as the end of a sentence; empty if it can."""
    served = _joined[0].facts.replicas
    return "" if spec.name in served else f"this page's cluster serves only {' and '.join(served)}"


@contextmanager
def backend() -> Iterator[None]:
    """Within the block runs happen where ``PRESTO_BACKEND`` says. ``ValueError`` in one sentence
    if that cannot be.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        yield
        return
    kind, _, address = text.partition(":")
    if kind != "ray" or address.startswith("//"):
        raise ValueError(
            f"{VARIABLE} must be ray, ray:auto or ray:HOST:PORT, got {text!r}: Ray's client "
            "(ray://) carries no streams, so the page's machine must be a node of the cluster"
        )
    with joined(address):
        if not address:
            from presto.models.registry import load

            deploy({names()[0]: partial(load, names()[0])}, round_seconds=_round_seconds())
        _joined[:] = [Cluster()]
        try:
            yield
        finally:
            _joined.clear()


def _round_seconds() -> int:
    return limit("PRESTO_ROUND_SECONDS", ROUND_SECONDS)


def decode_lanes(system: str, prompt: str, lanes: Sequence[Lane]) -> Generator[Update, None, None]:
    """Decode the lanes on the next free replica; ``ServingError`` says why it cannot go on."""
    attention, thread, asked = Attention(), ModelThread(), [*lanes]
    run = _joined[0].decode(
        system, prompt, [(lane.method, lane.config, lane.auto) for lane in lanes]
    )
    try:
        news = yield from _first(thread, run)
        while news is not None and not attention.is_lost():
            lane, event = asked[news.lane], news.event
            if isinstance(event, Failed):
                raise ServingError(_message(event, lane))
            asked[news.lane] = lane.after(event)
            yield told(news.lane, event)
            news = _next(thread, run)
    except LostError as error:
        logger.warning("a replica was lost: %s", error)
        raise ServingError(LOST) from None
    finally:
        run.cancel()
        thread.end()


def _first(thread: ModelThread, run: RemoteRun) -> Generator[Update, None, Told | None]:
    """The first that is told, after the wait for a replica, which may have to load its pair."""
    try:
        waiting = thread.watched(limit("PRESTO_LOAD_SECONDS", LOAD_SECONDS), run.next)
        while True:
            try:
                next(waiting)
            except StopIteration as over:
                return over.value  # type: ignore[no-any-return]
            yield Waiting("Waiting for a replica…")
    except StuckError:
        raise ServingError(NO_REPLICA) from None


def _next(thread: ModelThread, run: RemoteRun) -> Told | None:
    seconds = _round_seconds()
    try:
        return thread.within(seconds, run.next)
    except StuckError:
        raise ServingError(stuck(seconds)) from None


def _message(failed: Failed, lane: Lane) -> str:
    if failed.failure == "memory":
        return no_memory(lane)
    return FAILED if failed.failure == "fault" else failed.message
