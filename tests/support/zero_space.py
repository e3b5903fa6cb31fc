"""A ZeroGPU Space in a process of its own: runs one request and prints what came of it as JSON.

The decorator, the forked worker, pickling, scheduling and errors are the ``spaces`` package's own.
Simulated are the device daemon (an HTTP server of the test) and the GPU: torch is hidden while
``spaces`` is imported, so that it takes its own path for a process without torch and neither
emulates CUDA in the parent nor moves weights in the worker.
"""

import json
import os
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

# In place of this folder, in which a module may have the name of an installed package.
sys.path[0] = str(Path(__file__).resolve().parents[2])
import gradio  # noqa: E402, F401

sys.modules["torch"] = None  # type: ignore[assignment]
import spaces  # noqa: E402, F401

del sys.modules["torch"]
from presto.records import DecodeConfig  # noqa: E402
from presto.runs.events import RunEvent, RunStarted, collected  # noqa: E402
from tests.support import serve  # noqa: E402
from ui.lanes import Lane, LaneEvent  # noqa: E402


def stream(
    system: str, prompt: str, method: str, config: DecodeConfig, auto: bool = False
) -> Generator[RunEvent, None, None]:
    """The double of the browser tests; ``created`` tells in which process a run was made."""
    if prompt == "memory":
        raise MemoryError
    with closing(serve.stream(system, prompt, method, config)) as events:
        for event in events:
            if isinstance(event, RunStarted):
                event = RunStarted(replace(event.head, created=str(os.getpid())))
            yield event


def main(prompt: str, take: int) -> None:
    """Decode two lanes and print the updates; after ``take`` of them the visitor leaves."""
    if prompt != "real":
        runs = serve.double()
        runs.stream = stream  # type: ignore[attr-defined]
        sys.modules["presto.runs.runner"] = runs
    from ui import zero
    from ui.serving import decode_lanes

    zero.preload()
    config = DecodeConfig(max_new_tokens=12, budget=16)
    lanes = [Lane("presto", config), Lane("linear", config)]
    updates = decode_lanes("smollm2-gated", prompt, lanes)
    seen: list[tuple[int, int, str]] = []
    told: dict[int, list[RunEvent]] = {}
    problem, parent = "", str(os.getpid())
    try:
        for update in updates:
            if isinstance(update, LaneEvent):
                events = told.setdefault(update.lane, [])
                events.append(update.event)
                made = "parent" if collected(events).created == parent else "worker"
                seen.append((update.lane, len(events) - 1, made))
            if len(seen) == take:
                updates.close()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    print(json.dumps({"seen": seen, "problem": problem}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
