"""Workers on a Ray cluster that each make one thing, such as a loaded pair, and do tasks with it.

A worker that dies costs the task it was at, which is done again on another one.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from presto.cluster.joining import ray_module
from presto.records import shown

Made = TypeVar("Made")
Key = TypeVar("Key")
Result = TypeVar("Result")
TICK = 0.2  # seconds between two looks at whether the end is wanted
TRIES = 3  # workers that a task may cost
START_SECONDS = 600.0  # until the first worker must be there


class _Worker(Generic[Made]):
    """In a process of its own. What it works with is made at the first task."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None

    def begin(self) -> None:
        """Answer that the process is there."""

    def do(self, task: Callable[[Made], Result]) -> Result:
        if self._made is None:
            self._made = self._make()
        return task(self._made)


class Pool(Generic[Made]):
    """Some workers. ``make``, tasks and results must be picklable."""

    def __init__(self, make: Callable[[], Made], workers: int = 0) -> None:
        """``workers``: how many, each with a GPU where the cluster has any, otherwise with a CPU;
        0: as many as it has of these now.
        """
        self._ray = ray_module()
        resources = self._ray.cluster_resources()
        gpus = int(resources.get("GPU", 0))
        self._actor = self._ray.remote(_Worker).options(num_cpus=1, num_gpus=min(1, gpus))
        self._make = self._ray.put(make)
        self._idle: list[Any] = []
        self._coming: dict[Any, Any] = {}  # the answer after which a worker is free → worker
        self._busy: dict[Any, tuple[Any, Any]] = {}  # a result to come → worker and task's key
        self._failed = 0  # workers that ended before they began, one after another
        self.size = workers or gpus or max(1, int(resources.get("CPU", 1)))
        for _ in range(self.size):
            self._start()

    def _start(self) -> None:
        worker = self._actor.remote(self._make)
        self._coming[worker.begin.remote()] = worker

    def results(
        self,
        tasks: Mapping[Key, Callable[[Made], Result]],
        stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[Key, Result]]:
        """What the tasks return, by key, as they are done, until ``stopped`` says so.

        An exception of a task is raised here. ``ValueError`` if a task ends worker after worker.
        """
        waiting, tries = deque(tasks), Counter[Key]()
        deadline = time.monotonic() + START_SECONDS
        try:
            while waiting or self._busy:
                while waiting and self._idle:
                    worker, key = self._idle.pop(), waiting.popleft()
                    self._busy[worker.do.remote(tasks[key])] = worker, key
                for reference in self._done():
                    if reference in self._coming:
                        self._welcome(reference)
                        continue
                    worker, key = self._busy.pop(reference)
                    try:
                        result = self._ray.get(reference)
                    except self._ray.exceptions.RayTaskError as error:
                        self._idle.append(worker)
                        raise error.cause from error
                    except self._ray.exceptions.RayError as error:
                        self._replace(worker)
                        tries[key] += 1
                        if tries[key] == TRIES:
                            raise ValueError(_lost(key, error)) from None
                        waiting.appendleft(key)
                    else:
                        self._idle.append(worker)
                        yield key, result
                if stopped():
                    return
                self._check_begun(deadline)
        finally:  # what nobody waits for any more frees its worker when it is over
            self._coming |= {reference: worker for reference, (worker, _) in self._busy.items()}
            self._busy = {}

    def _check_begun(self, deadline: float) -> None:
        if not (self._busy or self._idle) and time.monotonic() > deadline:
            raise ValueError(
                f"the cluster gave no worker within {START_SECONDS:.0f} s: its CPUs and GPUs are "
                "in use by others"
            )

    def _done(self) -> list[Any]:
        """The answers that have come, after at most a tick."""
        awaited = [*self._coming, *self._busy]
        done, _ = self._ray.wait(awaited, num_returns=1, timeout=TICK)
        return list(done)

    def _welcome(self, reference: Any) -> None:
        """Take a worker that has answered, or start another in its place."""
        worker = self._coming.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayTaskError:
            self._idle.append(worker)
        except self._ray.exceptions.RayError as error:
            self._failed += 1
            if self._failed == TRIES:
                raise ValueError(
                    f"workers end before they begin: {shown(str(error), 300)}"
                ) from error
            self._replace(worker)
        else:
            self._failed = 0
            self._idle.append(worker)

    def _replace(self, worker: Any) -> None:
        self._ray.kill(worker)  # one that is only out of reach must not hold its device
        self._start()

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in (*self._idle, *self._coming.values(), *(w for w, _ in self._busy.values())):
            self._ray.kill(worker)
        self._idle, self._coming, self._busy = [], {}, {}


def _lost(key: object, error: Exception) -> str:
    return (
        f"task {key} ended {TRIES} workers and is given up: {type(error).__name__}, probably out "
        "of memory"
    )


@contextmanager
def pool_of(make: Callable[[], Made], workers: int = 0) -> Iterator[Pool[Made]]:
    """A pool that ends with the block."""
    pool = Pool(make, workers)
    try:
        yield pool
    finally:
        pool.close()
