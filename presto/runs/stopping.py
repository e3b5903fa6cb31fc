"""Ctrl-C and TERM as a wish: the work ends at its next sound place, and what is done is kept."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ASKED = b"presto: stopping, what is done is kept; once more stops at once\n"


class StoppedError(RuntimeError):
    """The work was ended by a signal; the message is one sentence with what was kept."""

    def __init__(self, sentence: str, number: int = signal.SIGINT) -> None:
        super().__init__(sentence)
        self.exit_code = 128 + number  # as shells report a process ended by this signal


class Stop:
    """Whether the end is wanted, and by which signal."""

    def __init__(self) -> None:
        self.signal = 0

    @property
    def wanted(self) -> bool:
        return self.signal != 0

    def end(self, kept: str) -> None:
        """Raise ``StoppedError``, with what was kept, if the end is wanted."""
        if self.wanted:
            raise StoppedError(f"stopped; {kept}", self.signal)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within the block the first SIGINT or SIGTERM is only noted; the second acts as usual.

    Signals reach the main thread alone, so elsewhere nothing is ever noted.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: FrameType | None) -> None:
        stop.signal = number
        restore()
        os.write(2, ASKED)  # a print could interrupt one that is under way

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        restore()
