"""Timing of a round's stages: one context manager, on the clock of the device that does the
work.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from presto.records import Stages


class Clock(Protocol):
    """Takes instants as stages pass; seconds between two of them are read when the round is
    over.
    """

    def now(self) -> Any: ...

    def wait(self, instant: Any) -> None:
        """Return when the device has passed ``instant`` and, with it, every earlier one."""
        ...

    def seconds(self, begin: Any, end: Any) -> float: ...


class HostClock:
    """The CPU's: an operation is over when its call returns."""

    def now(self) -> float:
        return time.perf_counter()

    def wait(self, instant: float) -> None:
        pass

    def seconds(self, begin: float, end: float) -> float:
        return end - begin


class CudaClock:
    """Events in the device's stream: a stage owns the work that it queued, and taking an instant
    waits for nothing.
    """

    def now(self) -> Any:
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def wait(self, instant: Any) -> None:
        instant.synchronize()

    def seconds(self, begin: Any, end: Any) -> float:
        return float(begin.elapsed_time(end)) / 1e3  # CUDA counts milliseconds


def clock_of(device: torch.device) -> Clock:
    return CudaClock() if device.type == "cuda" else HostClock()


class Stopwatch:
    """Adds up the seconds of each stage. Stages that run on the host alone are added by whoever
    timed them.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spans: list[tuple[str, Any, Any]] = []
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block as (a part of) stage ``name``."""
        began = self._clock.now()
        yield
        self._spans.append((name, began, self._clock.now()))

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def stages(self) -> Stages:
        """The sums, to the microsecond; waits for the end of the last stage, once."""
        if self._spans:
            self._clock.wait(self._spans[-1][2])
        for name, began, ended in self._spans:
            self.add(name, self._clock.seconds(began, ended))
        self._spans.clear()
        return Stages(**{name: round(value, 6) for name, value in self._seconds.items()})
