"""A replica: one loaded pair in a process of its own, which decodes one request after another."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from traceback import clear_frames

from presto.cluster.told import Failed, Lanes, Told
from presto.models.catalogue import WeightsError
from presto.models.memory import is_out_of_memory, release
from presto.models.registry import Pair
from presto.runs.events import DeviceMeasured, RunEvent
from presto.runs.runner import told

logger = logging.getLogger(__name__)
Events = Generator[RunEvent | DeviceMeasured, None, None]


class Replica:
    """Decodes on one thread, so that nothing else ever touches the model."""

    def __init__(self, load: Callable[[], Pair], round_seconds: float) -> None:
        """``round_seconds``: after a longer round the replica counts as sick and is replaced."""
        self._round_seconds = round_seconds
        self._began: float | None = None  # when the round in progress did
        self._thread = ThreadPoolExecutor(1, "model")
        self._pair = load()

    async def decode(self, prompt: str, lanes: Lanes) -> AsyncIterator[Told]:
        """Decode the lanes one after another, and tell every round as it comes.

        When the caller leaves, the run ends after the round in progress.
        """
        loop = asyncio.get_running_loop()
        for number, (method, config, auto) in enumerate(lanes):
            events: Events = told(self._pair, prompt, method, config, auto)
            try:
                while event := await loop.run_in_executor(self._thread, self._next, events):
                    yield Told(number, event)
            except Exception as error:
                yield Told(number, _failed(error))
                return
            finally:
                self._thread.submit(events.close)  # behind the round, if there is one

    def _next(self, events: Events) -> RunEvent | DeviceMeasured | None:
        self._began = monotonic()
        try:
            return next(events, None)
        finally:
            self._began = None

    def check_health(self) -> None:
        """Asked by Ray Serve, which replaces a replica that raises."""
        began = self._began
        if began is not None and monotonic() - began > self._round_seconds:
            raise RuntimeError(f"a round takes longer than {self._round_seconds:g} s")


def _failed(error: Exception) -> Failed:
    if is_out_of_memory(error):
        clear_frames(error.__traceback__)
        release()
        return Failed("memory")
    if isinstance(error, (ValueError, WeightsError)):
        return Failed("refused", str(error))
    logger.error("a run failed", exc_info=error)
    return Failed("fault")
