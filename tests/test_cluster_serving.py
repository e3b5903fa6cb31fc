"""Runs on the replicas of a Ray cluster: equal to local ones, none crossed, a lost one in words."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from presto.cluster import replica as replica_module
from presto.cluster.joining import INSTALL, address_of, joined
from presto.cluster.replica import Replica
from presto.cluster.serving import Cluster, LostError, deploy, share, withdraw
from presto.cluster.told import Facts, Failed, Told
from presto.commands.main import main
from presto.models.catalogue import find
from presto.models.registry import Pair
from presto.records import DecodeConfig, Trace
from presto.runs.events import RunEvent, collected
from presto.runs.runner import finished
from tests.support.benches import tiny_pair
from tests.support.process import replicas_of
from ui import remote, serving
from ui.error_messages import FAILED, ServingError
from ui.lanes import Lane, LaneEvent, Update, Waiting
from ui.limits import why_unavailable

pytest.importorskip("ray")
ROOT = Path(__file__).resolve().parents[1]
PAIR = "smollm2-gated"
CONFIG = DecodeConfig(max_new_tokens=16, budget=8, draft_length=4)
LONG = DecodeConfig(max_new_tokens=230, budget=8, draft_length=4)
PROMPTS = ["BCDEFGHIJKLMNOPQRSTUV"[n : n + 5] for n in range(12)]


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of a cluster with two replicas of the tiny pair, to which the page is joined."""
    with joined():
        deploy({PAIR: tiny_pair}, replicas=2)
        remote._joined[:] = [Cluster()]
        yield address_of()
        remote._joined.clear()
        withdraw()


@pytest.fixture(scope="module")
def pair() -> Pair:
    return tiny_pair()


def trace_of(updates: list[Update], lane: int = 0) -> Trace:
    events: list[RunEvent] = [
        update.event for update in updates if isinstance(update, LaneEvent) and update.lane == lane
    ]
    return collected(events)


def decoded(prompt: str, *lanes: Lane) -> list[Update]:
    return list(serving.decode_lanes(PAIR, prompt, lanes or [Lane("presto", CONFIG)]))


def what(trace: Trace) -> Any:
    """What of a run depends on neither clock nor place."""
    return trace.prompt, trace.method, trace.text, [r.committed for r in trace.rounds], trace.finish


def test_simultaneous_visitors_get_their_own_runs_as_here(served: str, pair: Pair) -> None:
    with ThreadPoolExecutor(6) as visitors:
        runs = [what(trace_of(updates)) for updates in visitors.map(decoded, PROMPTS)]
    assert runs == [what(finished(pair, prompt, "presto", CONFIG)) for prompt in PROMPTS]
    assert serving.at_once() == 2


def test_lanes_come_one_after_another(served: str, pair: Pair) -> None:
    updates = decoded("BCD", Lane("presto", CONFIG), Lane("linear", CONFIG))
    order = [update.lane for update in updates if isinstance(update, LaneEvent)]
    assert order == sorted(order)
    assert [what(trace_of(updates, n)) for n in (0, 1)] == [
        what(finished(pair, "BCD", method, CONFIG)) for method in ("presto", "linear")
    ]


def test_a_refusal_comes_in_words(served: str) -> None:
    with pytest.raises(ServingError, match="the prompt has 300 tokens"):
        decoded("B" * 300)


def test_a_visitor_who_leaves_frees_the_replica(served: str) -> None:
    """Both replicas decode long runs that are given up; others follow at once."""
    left = [serving.decode_lanes(PAIR, "BCDE", [Lane("ar", LONG)] * 400) for _ in range(2)]
    for updates in left:
        next(update for update in updates if isinstance(update, LaneEvent))
    for updates in left:
        updates.close()
    began = time.monotonic()
    assert len(decoded("BCD")) > 1
    whole = time.monotonic()
    assert whole - began < 60, "four hundred lanes take longer"


def test_a_replica_that_dies_ends_its_run_in_words_and_is_replaced(served: str, pair: Pair) -> None:
    lanes = [Lane("ar", LONG)] * 3
    updates = [serving.decode_lanes(PAIR, prompt, lanes) for prompt in ("BCDE", "CDEF")]
    begun = [[next(u for u in one if isinstance(u, LaneEvent))] for one in updates]
    before = replicas_of("self")
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    ended: list[str] = []
    for prompt, one, first in zip(("BCDE", "CDEF"), updates, begun, strict=True):
        try:
            whole = [*first, *one]
        except ServingError as error:
            ended.append(str(error))
        else:
            assert what(trace_of(whole, 2)) == what(finished(pair, prompt, "ar", LONG))
    assert ended == [remote.LOST]
    assert what(trace_of(decoded("BCD"))) == what(finished(pair, "BCD", "presto", CONFIG))
    deadline = time.monotonic() + 180
    while len(now := replicas_of("self")) < 2 or before[0] in now:
        assert time.monotonic() < deadline, "no replica took its place"
        time.sleep(0.2)


PAGE = """
import sys
for name in ("torch", "transformers", "accelerate", "gguf", "tokenizers"):
    sys.modules[name] = None
import app
from presto.records import DecodeConfig
from ui import remote, serving
from ui.lanes import Lane, LaneEvent
with remote.backend():
    page = app.build()
    limits = {f.concurrency_limit for f in page.fns.values() if f.concurrency_id == app.MODEL}
    lanes = [Lane("presto", DecodeConfig(max_new_tokens=16, budget=8, draft_length=4))]
    updates = list(serving.decode_lanes("smollm2-gated", "BCD", lanes))
    print(limits, updates[-1].event.output)
"""


def test_the_page_needs_no_torch(served: str, pair: Pair) -> None:
    environment = os.environ | {remote.VARIABLE: f"ray:{served}", "PYTHONPATH": str(ROOT)}
    page = subprocess.run(
        [sys.executable, "-c", PAGE], capture_output=True, text=True, env=environment, check=False
    )
    text = finished(pair, "BCD", "presto", CONFIG).text
    assert page.stdout.strip() == f"{{2}} {text}", page.stderr


# Without a cluster


class Answers:
    """A run that tells what it is given; the functions among it are called."""

    def __init__(self, *parts: Any) -> None:
        self.parts, self.cancelled = [*parts], False

    def next(self) -> Told | None:
        part = self.parts.pop(0) if self.parts else None
        return part() if callable(part) else part

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """What the cluster of this test answers."""
    told = Answers()

    class Fake:
        facts = Facts({PAIR: 3})

        def decode(self, system: str, prompt: str, lanes: Any) -> Answers:
            return told

    monkeypatch.setattr(remote, "_joined", [Fake()])
    return told


def lost() -> None:
    raise LostError("gone")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([Told(0, Failed("memory"))], "with a budget of 8 and 16 new tokens: try a budget of 4"),
        ([Told(0, Failed("fault"))], FAILED),
        ([Told(0, Failed("refused", "the prompt is blank"))], "the prompt is blank"),
        ([lost], remote.LOST),
    ],
)
def test_what_went_wrong_is_told_as_for_a_run_here(
    answers: Answers, parts: list[Any], words: str
) -> None:
    answers.parts = parts
    with pytest.raises(ServingError) as refused:
        decoded("BCD")
    assert words in str(refused.value)
    assert answers.cancelled


def test_who_waits_is_told_so_and_not_for_ever(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = threading.Event()
    monkeypatch.setenv("PRESTO_LOAD_SECONDS", "2")
    answers.parts = [hang.wait]
    updates = serving.decode_lanes(PAIR, "BCD", [Lane("presto", CONFIG)])
    assert next(updates) == Waiting("Waiting for a replica…")
    with pytest.raises(ServingError, match="No replica of this pair became free in time"):
        list(updates)
    hang.set()


def test_a_round_that_hangs_is_given_up(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    hang, trace = threading.Event(), finished(tiny_pair(), "BCD", "ar", CONFIG)
    monkeypatch.setenv("PRESTO_ROUND_SECONDS", "1")
    from presto.runs.events import events_of

    answers.parts = [Told(0, next(events_of(trace))), hang.wait]
    with pytest.raises(ServingError, match="A round took longer than 1 seconds"):
        decoded("BCD", Lane("ar", CONFIG))
    assert answers.cancelled
    hang.set()


def test_pairs_that_are_not_served_are_named(answers: Answers) -> None:
    assert why_unavailable(find(PAIR)) == ""
    other = why_unavailable(find("smollm2-dflash"))
    assert other == f"this page's cluster serves only {PAIR}"
    assert serving.at_once() == 3


def test_replicas_share_the_devices_of_a_cluster() -> None:
    assert share({"CPU": 7.0}, 2) == 3
    assert share({"CPU": 64.0, "GPU": 4.0}, 2) == 2
    with pytest.raises(ValueError, match="3 pairs need as many GPUs, the cluster has 2"):
        share({"CPU": 64.0, "GPU": 2.0}, 3)


async def rounds(replica: Replica, most: int = 10**6) -> list[Told]:
    """What the replica tells of a long run, which its caller leaves after ``most`` events."""
    told = replica.decode("BCDE", [("ar", LONG, False)])
    found = []
    async for one in told:
        found.append(one)
        if len(found) == most:
            break
    await told.aclose()  # type: ignore[attr-defined]
    return found


def test_a_run_that_is_left_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    made = replica_module.told

    def watched(*request: Any) -> Any:
        try:
            yield from made(*request)
        finally:
            closed.append(threading.get_ident())

    monkeypatch.setattr(replica_module, "told", watched)
    replica = Replica(tiny_pair, 60)
    assert len(asyncio.run(rounds(replica, 3))) == 3
    replica._thread.shutdown()
    assert len(closed) == 1
    assert closed != [threading.get_ident()]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), Failed("memory")),
        (ValueError("the prompt is blank"), Failed("refused", "the prompt is blank")),
        (KeyError("x"), Failed("fault")),
    ],
)
def test_a_replica_tells_why_it_cannot_go_on(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: Failed
) -> None:
    def fail(*_: Any) -> Any:
        raise error
        yield

    monkeypatch.setattr(replica_module, "told", fail)
    assert asyncio.run(rounds(Replica(tiny_pair, 60))) == [Told(0, told)]


def test_a_replica_whose_round_hangs_is_sick(monkeypatch: pytest.MonkeyPatch) -> None:
    hang = threading.Event()

    def hanging(*_: Any) -> Any:
        yield hang.wait()

    monkeypatch.setattr(replica_module, "told", hanging)
    replica = Replica(tiny_pair, 0.05)
    replica.check_health()

    async def ask() -> None:
        task = asyncio.create_task(rounds(replica, 1))
        await asyncio.sleep(0.2)
        with pytest.raises(RuntimeError, match=r"a round takes longer than 0\.05 s"):
            replica.check_health()
        hang.set()
        await task

    asyncio.run(ask())
    replica.check_health()


@pytest.mark.parametrize("text", ["ray://host:10001", "spark", "rays", "http://x"])
def test_a_backend_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(remote.VARIABLE, text)
    with (
        pytest.raises(ValueError, match="PRESTO_BACKEND must be ray, ray:auto or ray:HOST:PORT"),
        remote.backend(),
    ):
        pass


def test_without_a_backend_runs_happen_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(remote.VARIABLE, raising=False)
    monkeypatch.setattr(remote, "_joined", [])
    with remote.backend():
        assert not remote.is_active()
        assert serving.at_once() == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), INSTALL),
        (("--replicas", "0"), "--replicas must be auto or a whole number from 1 on, got '0'"),
        (("--system", "gpt"), "unknown pair 'gpt'"),
    ],
)
def test_the_command_serve_refuses_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", ["presto", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert named in told
    assert told.count("\n") == 1
