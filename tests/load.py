"""Load test on loopback: ``python -m tests.load [--visitors 20] [--runs 100] [--real]``; prints the
figures as JSON.

Visitors of the public endpoint come all at once, each with a prompt of their own, and come back
when the line was full. Every answer must belong to its own prompt, every run must end, and the
server's memory may not grow with their number. Without ``--real`` a double stands for the model;
then the figures are about the server, not about decoding.
"""

import argparse
import json
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gradio_client import Client
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError

from tests.support.process import serving, usage

RETRY_SECONDS = 0.2
PATIENCE_SECONDS = 60  # clients and server share the cores of one machine here
# So few sessions that memory must stay flat within the test: two waves of visitors.
SETTINGS = {"PACE": "0.002", "PRESTO_SESSIONS": "40"}


@dataclass
class Tally:
    """What happened to all visitors."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    crossed: int = 0  # answers that belong to somebody else's prompt
    texts: dict[str, str] = field(default_factory=dict)  # by prompt
    ended_in_words: list[str] = field(default_factory=list)  # runs that the server gave up, and why


def visit(url: str, prompt: str, tokens: int, tally: Tally) -> None:
    """One run of one visitor, asked for again while the line is full."""
    began = time.perf_counter()
    client = Client(url, verbose=False, httpx_kwargs={"timeout": PATIENCE_SECONDS})
    try:
        while True:
            try:
                trace = client.predict(
                    prompt, "presto", "", {"max_new_tokens": tokens}, api_name="/decode"
                )
                break
            except QueueError:
                with tally.lock:
                    tally.refused += 1
                time.sleep(RETRY_SECONDS)
            except AppError as error:
                with tally.lock:
                    tally.ended_in_words.append(str(error))
                return
    finally:
        client.close()
    with tally.lock:
        tally.texts[prompt] = trace["output"]
        tally.seconds.append(time.perf_counter() - began)
        tally.crossed += trace["prompt"] != prompt


def wave(url: str, numbers: range, visitors: int, tokens: int, tally: Tally) -> None:
    """``visitors`` at a time until every number has had its run."""
    with ThreadPoolExecutor(visitors) as pool:
        list(pool.map(lambda number: visit(url, f"visitor {number} asks", tokens, tally), numbers))


def run_load(
    url: str, pid: int, visitors: int, runs: int, tokens: int = 16, tally: Tally | None = None
) -> dict[str, Any]:
    """The figures of ``runs`` runs by ``visitors`` simultaneous visitors; memory is read after
    every ``visitors``.
    """
    tally, began = tally or Tally(), time.perf_counter()
    megabytes = [usage(pid).megabytes]
    for first in range(0, runs, visitors):
        wave(url, range(first, min(first + visitors, runs)), visitors, tokens, tally)
        megabytes.append(usage(pid).megabytes)
    return {
        "visitors": visitors,
        "runs": len(tally.seconds),
        "lost": runs - len(tally.seconds) - len(tally.ended_in_words),
        "ended_in_words": tally.ended_in_words,
        "crossed": tally.crossed,
        "refusals_of_a_full_line": tally.refused,
        "seconds": round(time.perf_counter() - began, 2),
        "median_answer_seconds": round(statistics.median(tally.seconds), 2),
        "slowest_answer_seconds": round(max(tally.seconds), 2),
        "megabytes": [round(value) for value in megabytes],
    }


def main() -> None:
    """Serve the app and load it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=16, help="new tokens of a run")
    parser.add_argument("--real", action="store_true", help="decode with the embedded pair")
    chosen = parser.parse_args()
    with (
        TemporaryDirectory() as folder,
        serving(chosen.real, Path(folder), **SETTINGS) as (url, pid),
    ):
        print(json.dumps(run_load(url, pid, chosen.visitors, chosen.runs, chosen.tokens), indent=1))


if __name__ == "__main__":
    main()
