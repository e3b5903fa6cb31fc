"""ZeroGPU with the real ``spaces`` package over a simulated daemon; see ``zero_space`` for what
else is simulated.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from presto.records import DecodeConfig
from ui import zero
from ui.lanes import Lane

SPACE = Path(__file__).parent / "support" / "zero_space.py"
GRANTED = (200, {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "token"})


class Daemon:
    """What grants GPUs on a Space, as far as ``spaces`` asks it: start-up, schedule, allow,
    release.
    """

    def __init__(self) -> None:
        self.schedule: tuple[int, dict[str, Any]] = GRANTED
        self.kill = False  # take the GPU away as soon as a worker has it
        self.asked: list[tuple[str, dict[str, str]]] = []
        daemon = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                daemon.asked.append((parts.path, query))
                status, body = daemon.schedule if parts.path == "/schedule" else (200, {})
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())
                if parts.path == "/allow" and daemon.kill:
                    threading.Timer(0.5, os.kill, (int(query["pid"]), signal.SIGKILL)).start()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    made = Daemon()
    yield made
    made.server.shutdown()
    made.server.server_close()


def space(daemon: Daemon, prompt: str = "hello", take: int = -1, **settings: str) -> dict[str, Any]:
    """What a visitor of the Space got."""
    address = f"http://127.0.0.1:{daemon.server.server_port}"
    zero_gpu = {"SPACES_ZERO_GPU": "true", "SPACES_ZERO_DEVICE_API_URL": address, "PACE": "0.05"}
    result = subprocess.run(
        [sys.executable, str(SPACE), prompt, str(take)],
        env=os.environ | zero_gpu | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout.strip().splitlines()[-1]))


def test_both_lanes_are_decoded_in_one_forked_worker_and_cross_as_plain_data(
    daemon: Daemon,
) -> None:
    answer = space(daemon)
    assert answer["problem"] == ""
    assert {made for *_, made in answer["seen"]} == {"worker"}
    assert [rounds for lane, rounds, _ in answer["seen"] if lane == 0] == list(range(9))
    assert {lane for lane, *_ in answer["seen"]} == {0, 1}
    assert daemon.paths() == ["/schedule", "/allow", "/release"]


def test_the_duration_is_computed_from_the_request(daemon: Daemon) -> None:
    space(daemon)
    config = DecodeConfig(max_new_tokens=12, budget=16)
    expected = zero.seconds(
        "smollm2-gated", "hello", [Lane("presto", config), Lane("linear", config)]
    )
    _, query = daemon.asked[0]
    assert int(query["durationSeconds"]) >= expected  # ``spaces`` weighs it by the size of its GPU
    chosen = [Lane("presto", config, auto=True), Lane("linear", config, auto=True)]
    measured = zero.seconds("smollm2-gated", "hello", chosen) - expected
    assert measured == zero.MEASURE_SECONDS
    more = [Lane("presto", DecodeConfig(max_new_tokens=1024))]
    assert (
        zero.seconds("qwen3-8b-dflash", "hello", more)
        > zero.seconds("smollm2-gated", "hello", more)
        > expected
    )


@pytest.mark.parametrize(
    ("wait", "words"),
    [(3600, "Your share of free GPU seconds is used up"), (-1, "asks for more GPU seconds")],
)
def test_quota_and_duration_refusals_are_plain_words_with_the_recorded_runs(
    daemon: Daemon, wait: int, words: str
) -> None:
    daemon.schedule = (429, {"left": 5, "wait": wait})
    answer = space(daemon)
    assert answer["seen"] == []
    assert words in answer["problem"]
    assert answer["problem"].endswith(zero.HELP)
    assert "/allow" not in daemon.paths()


def test_a_worker_that_is_killed_for_its_duration_is_told(daemon: Daemon) -> None:
    daemon.kill = True
    answer = space(daemon, PACE="30")
    assert "ServingError: The GPU was taken away" in answer["problem"]
    assert answer["problem"].endswith(zero.HELP)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("context", "ServingError: The prompt has 9,000 tokens"),
        ("crash", "ServingError: The run failed on our side"),
        (
            "memory",
            "ServingError: The machine ran out of memory with a budget of 16 and 12 new tokens: "
            "try a budget of 8.",
        ),
    ],
)
def test_the_words_of_a_failure_cross_from_the_worker(
    daemon: Daemon, prompt: str, words: str
) -> None:
    answer = space(daemon, prompt)
    assert answer["problem"].startswith(words)
    assert "secret" not in answer["problem"]


def test_a_visitor_who_leaves_ends_the_worker_within_a_round(
    daemon: Daemon, tmp_path: Path
) -> None:
    log = tmp_path / "closed"
    answer = space(daemon, take=3, PACE="0.3", CLOSED_LOG=str(log))
    assert len(answer["seen"]) == 3
    method, rounds = log.read_text().split()
    assert method == "presto"
    assert int(rounds) <= 5
    assert daemon.paths()[-1] == "/release"


def test_an_unknown_or_unloaded_pair_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESTO_PRELOAD", "qwen3-8b-dflash, nemotron-8b")
    from presto.models.catalogue import find

    assert zero.why_unavailable(find("nemotron-8b")) == ""
    assert "has loaded only qwen3-8b-dflash and nemotron-8b" in zero.why_unavailable(
        find("smollm2-gated")
    )


def test_elsewhere_nothing_of_it_is_imported() -> None:
    code = "import app, sys; assert 'spaces' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=SPACE.parents[2],
        env=os.environ | {"SPACES_ZERO_GPU": ""},
    )


@pytest.mark.weights
def test_a_model_loaded_before_the_fork_really_decodes_in_the_worker(daemon: Daemon) -> None:
    answer = space(daemon, "real")
    assert answer["problem"] == ""
    assert {lane for lane, *_ in answer["seen"]} == {0, 1}
    assert "/allow" in daemon.paths()
