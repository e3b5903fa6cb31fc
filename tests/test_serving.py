"""What the server allows, and what it does when a run takes too much memory or too much time."""

import gc
import threading
import weakref
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest
import torch

from presto.models import machine
from presto.models.memory import is_out_of_memory
from presto.records import DecodeConfig
from presto.records import settings as config_settings
from presto.runs import runner as runs
from presto.runs.events import RunEvent, events_of
from tests.support import synthetic
from tests.support.event_loop import in_a_loop
from ui import api, limits, live, local, serving
from ui.compare import check_lanes
from ui.controls import FIELDS, values_of
from ui.error_messages import ServingError, no_memory
from ui.lane_forms import FIRST, values_of_lanes
from ui.lanes import Lane, LaneEvent, Waiting
from ui.limits import check_request
from ui.preload import chosen
from ui.run_ticket import RunTicket
from ui.settings_panel import settings_panel
from ui.worker import ModelThread, StuckError

PAIR = "smollm2-gated"
CONFIG = DecodeConfig(budget=64, max_new_tokens=40)
EXTREME = {"budget": 1024, "max_new_tokens": 1024}


def lanes(*methods: str, **settings: Any) -> list[Lane]:
    return [Lane(method, DecodeConfig(**settings)) for method in methods]  # type: ignore[arg-type]


@pytest.fixture
def decode(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Stand-ins for loading and decoding, to be filled in by a test."""
    parts: dict[str, Any] = {"prepare": lambda system: None, "step": lambda: None, "forgotten": 0}

    def stream(
        system: str, prompt: str, method: str, config: DecodeConfig, auto: bool = False
    ) -> Generator[RunEvent, None, None]:
        made = synthetic.recording(rounds=3, prompt=prompt).traces
        (whole,) = [trace for trace in made if trace.method == method]
        for event in events_of(whole):
            parts["step"]()
            yield event

    def forget() -> None:
        parts["forgotten"] += 1

    monkeypatch.setattr(runs, "prepare", lambda system: parts["prepare"](system))
    monkeypatch.setattr(runs, "stream", stream)
    monkeypatch.setattr(runs, "forget", forget)
    yield parts
    local._threads.clear()


def test_the_page_may_run_large_trees_and_long_outputs_but_not_four_lanes_of_both() -> None:
    check_request("hello", PAIR, lanes("presto", "linear", **EXTREME))
    check_request("hello", PAIR, lanes("ar", "linear", "blind", "presto"))
    with pytest.raises(
        ValueError, match=r"asks for 4,194,304 tokens × nodes over 4 lanes, at most 2,097,152"
    ):
        check_request("hello", PAIR, lanes(*["presto"] * 4, **EXTREME))


def test_the_controls_have_the_ranges_of_the_settings() -> None:
    def made() -> list[Any]:
        with gr.Blocks():
            return settings_panel({})[1:]

    controls = dict(zip(FIELDS, in_a_loop(made), strict=True))
    bounded = {n: s for n, s in config_settings().items() if s.high is not None}
    assert len(bounded) == 12
    for name, setting in bounded.items():
        assert controls[name].maximum == setting.high
        assert controls[name].minimum == setting.low or setting.open_low
    longest = bounded["max_new_tokens"].high
    check_request("hello", PAIR, lanes("presto", "linear", budget=200, max_new_tokens=longest))


def test_pairs_are_loaded_ahead_and_a_run_waits_for_the_rest_of_it(
    decode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, ready = list[str](), threading.Event()
    monkeypatch.setattr(machine, "why_unavailable", lambda spec: "" if spec.name == PAIR else "no")

    def prepare(system: str) -> None:
        loaded.append(system)
        ready.wait(10)

    decode["prepare"] = prepare
    serving.load_ahead((PAIR, "qwen3-8b-dflash"))  # the second cannot run here
    updates = serving.decode_lanes(PAIR, "hello", lanes("presto"))
    assert isinstance(next(updates), Waiting)
    ready.set()
    assert [type(update) for update in updates][-4:] == [LaneEvent] * 4
    assert loaded == [PAIR, PAIR]


def test_a_pair_that_cannot_be_loaded_ahead_is_tried_again_by_the_run(
    decode: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(machine, "why_unavailable", lambda spec: "")
    problems = [RuntimeError("no disk")]
    decode["prepare"] = lambda system: _raise(problems.pop()) if problems else None
    serving.load_ahead((PAIR,))
    updates = list(serving.decode_lanes(PAIR, "hello", lanes("presto")))
    assert sum(isinstance(update, LaneEvent) for update in updates) == 4
    assert "could not be loaded ahead" in caplog.text


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (None, ("smollm2-gated",)),
        ("", ()),
        ("nemotron-8b, smollm2-dflash", ("nemotron-8b", "smollm2-dflash")),
    ],
)
def test_the_pairs_loaded_ahead_are_named_in_the_environment(
    text: str | None, pairs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PRESTO_PRELOAD", raising=False)
    if text is not None:
        monkeypatch.setenv("PRESTO_PRELOAD", text)
    assert chosen() == pairs


@pytest.mark.parametrize(
    ("text", "words"),
    [("gpt", "known pairs"), (",".join(["smollm2-gated"] * 3), "names 3 pairs, at most 2")],
)
def test_unknown_or_too_many_pairs_end_the_server_before_it_serves(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESTO_PRELOAD", text)
    with pytest.raises(ValueError, match=words):
        chosen()


@pytest.mark.parametrize(
    ("method", "nodes"), [("ar", 1), ("linear", 12), ("blind", 32), ("presto", 32)]
)  # of the default settings
def test_work_counts_the_nodes_a_method_verifies(method: str, nodes: int) -> None:
    (lane,) = lanes(method, max_new_tokens=10)
    assert limits.work(lane, PAIR) == 10 * nodes


@pytest.mark.parametrize(
    ("method", "system", "nodes"),
    [
        ("ar", PAIR, 1),
        ("linear", PAIR, 12),
        ("presto", PAIR, 128),
        ("presto", "qwen3-8b-dflash", 32),  # no curve to choose by
    ],
)
def test_a_budget_that_is_chosen_later_counts_as_the_largest(
    method: str, system: str, nodes: int
) -> None:
    (lane,) = lanes(method, max_new_tokens=10)
    assert limits.work(lane._replace(auto=True), system) == 10 * nodes


def test_a_refused_auto_request_says_how_to_make_it_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PRESTO_MAX_WORK", "1000")
    with pytest.raises(ValueError, match="turn auto off and set a small budget, or ask for fewer"):
        check_request("hello", PAIR, [Lane("presto", DecodeConfig(), auto=True)])


def test_the_page_refuses_before_the_queue_and_again_where_the_run_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = values_of(replace(DecodeConfig(), **EXTREME))
    answers = live.check(RunTicket(), "hello", PAIR, *settings)
    assert [answer["is_valid"] for answer in answers] == [True] * (3 + len(settings))
    refused = check_lanes(RunTicket(), "hello", *values_of_lanes(FIRST), PAIR, *settings)[1]
    assert "at most 2,097,152" in refused["message"]
    monkeypatch.setenv("PRESTO_MAX_WORK", "1000")
    assert "at most 1,000" in live.check(RunTicket(), "hello", PAIR, *settings)[1]["message"]
    ticket = RunTicket()
    *_, last = live.run_live(ticket, ticket.begin(), "hello", PAIR, *settings)
    assert "at most 1,000" in last["head"]


def test_the_endpoints_refuse_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "prepare", lambda system: pytest.fail("a model was loaded"))
    with pytest.raises(gr.Error, match="at most 2,097,152"):
        list(api.compare("hello", [{"method": "presto", "settings": EXTREME}] * 4))
    with pytest.raises(gr.Error, match="at most 2,097,152"):
        list(api.decode("hello", "presto", settings={"budget": 1024, "max_new_tokens": 8192}))
    with pytest.raises(gr.Error, match="A lane must look like"):
        list(api.compare("hello", ["presto"]))  # type: ignore[list-item]


def test_a_limit_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESTO_MAX_WORK", "lots")
    with pytest.raises(
        ValueError, match="PRESTO_MAX_WORK must be a positive whole number, got 'lots'"
    ):
        limits.max_work()


OUT = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried"
    ),
    MemoryError(),
]


@pytest.mark.parametrize("error", OUT, ids=lambda error: type(error).__name__)
def test_out_of_memory_is_answered_with_half_the_budget_and_the_next_run_works(
    decode: dict[str, Any], error: Exception
) -> None:
    def fail() -> None:
        raise error

    decode["step"] = fail
    with pytest.raises(
        ServingError, match=r"budget of 64 and 40 new tokens: try a budget of 32\.$"
    ):
        list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))
    decode["step"] = lambda: None
    assert len(list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))) == 4


@pytest.mark.parametrize(
    ("step", "words"),
    [(1, "before a budget was chosen"), (2, "a budget of 32 and 128 new")],
)
def test_out_of_memory_in_an_auto_run_names_the_budget_that_was_chosen(
    decode: dict[str, Any], step: int, words: str
) -> None:
    """That of the run's start, here a synthetic one's, not that of the request."""
    left = iter([*[None] * (step - 1), MemoryError()])

    def fail() -> None:
        if error := next(left):
            raise error

    decode["step"] = fail
    lane = Lane("presto", DecodeConfig(budget=77), auto=True)
    with pytest.raises(ServingError, match=words):
        list(serving.decode_lanes(PAIR, "hello", [lane]))


def test_a_real_failed_allocation_is_recognised() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    assert not is_out_of_memory(RuntimeError("shape mismatch"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_what_a_failed_round_held_is_freed_before_the_answer(decode: dict[str, Any]) -> None:
    held: list[weakref.ref[torch.Tensor]] = []

    def fail() -> None:
        buffer = torch.zeros(10)
        held.append(weakref.ref(buffer))
        raise MemoryError

    decode["step"] = fail
    with pytest.raises(ServingError, match="ran out of memory"):  # holds the error's traceback
        list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))
    (buffer,) = held
    assert buffer() is None


def test_plain_decoding_is_offered_fewer_tokens() -> None:
    assert no_memory(Lane("ar", CONFIG)).endswith("try 20 new tokens.")
    assert no_memory(Lane("presto", DecodeConfig(budget=1, max_new_tokens=1))).endswith(
        "try 1 new tokens."
    )


def test_a_stuck_round_ends_the_run_and_frees_the_queue(
    decode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = threading.Event()
    monkeypatch.setenv("PRESTO_ROUND_SECONDS", "1")
    decode["step"] = hang.wait
    with pytest.raises(ServingError, match=r"A round took longer than 1 seconds"):
        list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))
    assert decode["forgotten"] == 1, "the model may be in any state: it is loaded anew"
    decode["step"] = lambda: None
    assert len(list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))) == 4
    hang.set()


def test_a_stuck_thread_ends_and_drops_its_run_when_its_work_returns() -> None:
    class Run:
        pass

    hang, thread, run = threading.Event(), ModelThread(), Run()
    alive = weakref.ref(run)

    def work(run: Run = run) -> bool:
        return hang.wait()

    with pytest.raises(StuckError):
        thread.within(0.05, work)
    del run, work
    hang.set()
    thread.thread.join(10)
    gc.collect()
    assert alive() is None
    assert not thread.thread.is_alive()


def test_loading_shows_what_is_loaded_and_for_how_long(
    decode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = threading.Event()
    decode["prepare"] = lambda system: loading.wait()
    updates = serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)])
    first = next(updates)
    assert isinstance(first, Waiting)
    assert (
        first.message
        == "Loading SmolLM2-135M-Instruct, drafting for itself through a gated adapter…"
    )
    loading.set()
    assert len([update for update in updates if isinstance(update, LaneEvent)]) == 4


def test_a_model_that_does_not_load_in_time_or_space_is_answered(
    decode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESTO_LOAD_SECONDS", "1")
    hang = threading.Event()
    decode["prepare"] = lambda system: hang.wait()
    with pytest.raises(ServingError, match="could not be loaded in time"):
        list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))
    hang.set()

    def too_large(system: str) -> None:
        raise MemoryError

    decode["prepare"] = too_large
    with pytest.raises(
        ServingError,
        match="does not fit into this machine's memory: choose a smaller pair",
    ):
        list(serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG)]))


def test_a_pair_that_does_not_fit_beside_another_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def load(system: str) -> None:
        asked.append(system)
        if len(asked) == 1:
            raise MemoryError

    monkeypatch.setattr(runs, "load", load)
    monkeypatch.setattr(runs, "forget", lambda: asked.append("forget"))
    runs.prepare("a")
    assert asked == ["a", "forget", "a"]


def test_every_round_is_decoded_on_one_thread_and_only_when_asked_for(
    decode: dict[str, Any],
) -> None:
    seen: list[str] = []
    decode["step"] = lambda: seen.append(threading.current_thread().name)
    updates = serving.decode_lanes(PAIR, "hello", [Lane("presto", CONFIG), Lane("linear", CONFIG)])
    next(updates)
    next(updates)
    assert seen == ["model"] * 2
    updates.close()
    assert seen == ["model"] * 2
