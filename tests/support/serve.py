"""The app in a process of its own, with a double for decoding: synthetic rounds, one per ``PACE``
seconds.

While the file ``HOLD`` exists a run waits after its fourth round, and while ``HOLD_LOADING`` does,
the pair is not loaded.
"""

import os
import sys
import time
import types
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from presto.records import DecodeConfig  # noqa: E402
from presto.runs.events import DeviceMeasured, RunEvent, events_of  # noqa: E402
from tests.support import synthetic  # noqa: E402

PACE = float(os.environ.get("PACE", "0.05"))
HOLD, HELD = os.environ.get("HOLD"), 4
HOLD_LOADING = os.environ.get("HOLD_LOADING")
CLOSED = Path(os.environ["CLOSED_LOG"]) if "CLOSED_LOG" in os.environ else None


def stream(
    system: str, prompt: str, method: str, config: DecodeConfig, auto: bool = False
) -> Generator[RunEvent | DeviceMeasured, None, None]:
    """A double of ``presto.runs.runner.stream``."""
    if prompt == "context":
        raise ValueError("the prompt has 9,000 tokens, the context holds 8,192")
    if prompt == "crash":
        raise RuntimeError("secret detail")
    pieces = synthetic.HOSTILE if prompt == "hostile" else synthetic.PLAIN
    made = synthetic.recording(rounds=8, budget=16, pieces=pieces, prompt=prompt)
    tuning = synthetic.TUNING if auto else None
    lanes = {trace.method: replace(trace, tuning=tuning) for trace in made.traces}
    if auto:
        yield DeviceMeasured()
        time.sleep(PACE)
    try:
        for count, event in enumerate(events_of(lanes[method])):  # type: ignore[index]
            yield event
            time.sleep(PACE)
            while count == HELD and HOLD and os.path.exists(HOLD):
                time.sleep(0.01)
    finally:
        if CLOSED:
            with CLOSED.open("a") as log:
                log.write(f"{method} {count}\n")


def prepare(system: str) -> None:
    """A double of ``presto.runs.runner.prepare``."""
    while HOLD_LOADING and os.path.exists(HOLD_LOADING):
        time.sleep(0.01)


def double() -> types.ModuleType:
    """What stands where the app imports ``presto.runs.runner``."""
    runs = types.ModuleType("presto.runs.runner")
    runs.stream = stream  # type: ignore[attr-defined]
    runs.prepare = prepare  # type: ignore[attr-defined]
    runs.forget = lambda: None  # type: ignore[attr-defined]
    return runs


if __name__ == "__main__":
    sys.modules["presto.runs.runner"] = double()
    import app

    app.main()
