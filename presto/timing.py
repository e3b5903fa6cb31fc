"""Timing of a round's stages: one context manager."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from presto.records import Stages


class Stopwatch:
    """Adds up the seconds of each stage. ``synchronise`` waits for the device, so a stage owns the work it queued."""

    def __init__(self, synchronise: Callable[[], None] = lambda: None) -> None:
        self._synchronise = synchronise
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block as (a part of) stage ``name``."""
        began = time.perf_counter()
        yield
        self._synchronise()
        self.add(name, time.perf_counter() - began)

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def stages(self) -> Stages:
        """The sums, to the microsecond."""
        return Stages(**{name: round(value, 6) for name, value in self.seconds.items()})
