"""A watch on what a piece of code costs: processor time, and by how much the process grew."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Cost:
    """``seconds`` and ``megabytes`` of the block of ``watched``, known when it is over.

    The seconds are the process's own, so that a busy machine fails no test.
    """

    seconds = 0.0
    megabytes = 0.0


def _memory(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1e3
    raise LookupError(field)


@contextmanager
def watched() -> Iterator[Cost]:
    """Measure the block: its processor time, and its highest resident memory above the start's."""
    cost = Cost()
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
    before, began = _memory("VmRSS"), time.process_time()
    try:
        yield cost
    finally:
        cost.seconds = time.process_time() - began
        cost.megabytes = _memory("VmHWM") - before
