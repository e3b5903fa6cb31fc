"""The one thread that touches a model, and the watchdog over it.

Work is handed over one round at a time and waited for, so that nothing is decoded which nobody
asked for: a visitor who leaves ends the run at the end of the round in progress.

Limits of the watchdog. Native code cannot be interrupted from Python, so a stuck thread is left
behind, not killed: it keeps its memory until its round returns (then it closes its run and ends),
and a device that hangs as a whole hangs the next thread too. What is freed at once is the queue of
visitors: the next one gets a new thread and a newly loaded model.
"""

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import NoReturn, TypeVar

T = TypeVar("T")


class StuckError(RuntimeError):
    """A piece of work took longer than its limit; its thread was left behind."""


class ModelThread:
    """A daemon thread that does one piece of work after another."""

    def __init__(self) -> None:
        self.stuck = False
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.thread = Thread(target=self._serve, name="model", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task  # its result may hold tensors

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Queue a piece of work."""
        future: Future[T] = Future()

        def task() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._tasks.put(task)
        return future

    def within(self, seconds: float, work: Callable[[], T]) -> T:
        """Do ``work`` and return its result; ``StuckError`` after ``seconds``."""
        future = self.submit(work)
        if not wait([future], seconds).done:
            self.leave(seconds)
        return future.result()

    def watched(
        self, seconds: float, work: Callable[[], T], tick: float = 1.0
    ) -> Generator[float, None, T]:
        """The same, yielding the seconds waited so far at every ``tick``; returns the result."""
        future, waited = self.submit(work), 0.0
        while not wait([future], tick).done:
            waited += tick
            if waited >= seconds:
                self.leave(seconds)
            yield waited
        return future.result()

    def end(self) -> None:
        """Nothing more will be asked of this thread: it ends after the work in progress."""
        self._tasks.put(None)

    def leave(self, seconds: float) -> NoReturn:
        """Give this thread up: it ends, and drops its run, when the work in progress returns."""
        self.stuck = True
        self.end()
        raise StuckError(f"no answer within {seconds:g} s")
