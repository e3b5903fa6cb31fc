"""Stages on a device's clock: instants are taken without waiting, and read after one wait at the
end of the round.
"""

import torch

from presto.decoding.timing import CudaClock, HostClock, Stopwatch, clock_of
from presto.records import Stages


class Queue:
    """A device that gets round to the queued instants only when someone waits."""

    def __init__(self) -> None:
        self.taken, self.passed, self.waits = 0, 0, 0

    def now(self) -> int:
        self.taken += 1
        return self.taken

    def wait(self, instant: int) -> None:
        self.waits, self.passed = self.waits + 1, instant

    def seconds(self, begin: int, end: int) -> float:
        assert end <= self.passed
        return float(end - begin)


def test_a_round_waits_once_and_sums_its_stages() -> None:
    clock = Queue()
    watch = Stopwatch(clock)
    with watch.stage("draft"):
        clock.now()
    watch.add("score", 0.25)
    with watch.stage("verify"):
        pass
    with watch.stage("verify"):
        assert clock.waits == 0
    assert watch.stages() == Stages(draft=2.0, score=0.25, verify=2.0)
    assert clock.waits == 1


def test_a_round_of_host_stages_only_waits_for_nothing() -> None:
    clock = Queue()
    watch = Stopwatch(clock)
    watch.add("search", 0.5)
    assert watch.stages() == Stages(search=0.5)
    assert clock.waits == 0


def test_each_device_has_its_clock() -> None:
    assert isinstance(clock_of(torch.device("cpu")), HostClock)
    assert isinstance(clock_of(torch.device("cuda")), CudaClock)
