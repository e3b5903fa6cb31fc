"""Load test of a page whose runs happen on a Ray cluster of this machine:

    python -m tests.cluster_load [--visitors 20] [--runs 100] [--tokens 16] [--kill]

prints the figures as JSON. The cluster has a replica of the embedded pair per core. With ``--kill``
one is killed when half of the runs are over. Every text is compared with that of a run in this
process afterwards.
"""

import argparse
import json
import os
import signal
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import presto
from tests.load import Tally, run_load
from tests.support import server
from tests.support.process import replicas_of, serving


def kill_one(pid: int, tally: Tally, runs: int) -> None:
    """Kill a replica of the page's process ``pid`` once half of the runs are over."""
    while len(tally.seconds) < runs // 2:
        time.sleep(0.1)
    os.kill(replicas_of(pid)[0], signal.SIGKILL)


def unequal(tally: Tally, tokens: int) -> list[str]:
    """The prompts whose text differs from that of a run in this process."""
    pair = presto.load("smollm2-gated")
    return [
        prompt
        for prompt, text in tally.texts.items()
        if presto.generate(pair, prompt, max_new_tokens=tokens).text != text
    ]


def main() -> None:
    """Serve the page, load it, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=16, help="new tokens of a run")
    parser.add_argument("--kill", action="store_true", help="kill a replica in the middle")
    chosen = parser.parse_args()
    server.START = 600  # a cluster and its replicas start first
    tally = Tally()
    with (
        TemporaryDirectory() as folder,
        serving(True, Path(folder), PRESTO_BACKEND="ray", PRESTO_SESSIONS="40") as (url, pid),
    ):
        replicas = len(replicas_of(pid))
        if chosen.kill:
            threading.Thread(target=kill_one, args=(pid, tally, chosen.runs), daemon=True).start()
        figures = run_load(url, pid, chosen.visitors, chosen.runs, chosen.tokens, tally)
    figures |= {"replicas": replicas, "texts_unlike_the_local_ones": unequal(tally, chosen.tokens)}
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
