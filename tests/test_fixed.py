"""Padded passes compute what free ones do, and a recorded pass is fed and read through its own
storage.
"""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.decoding.loop import autoregressive, decode
from presto.models import fixed
from presto.models.cache import Rooms
from presto.models.device import may_record
from presto.models.fixed import Recording, Shapes
from presto.models.nemotron import NemotronSystem
from presto.models.quadratic import QuadraticGatedSystem, QuadraticNemotronSystem
from presto.models.target import TargetSystem
from presto.records import DecodeConfig, Round, Tree
from tests.support.dflash import tiny_dflash
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.nemotron import write_checkpoint


@pytest.fixture(
    scope="module", params=["gated", "quadratic", "dflash", "nemotron", "nemotron-quadratic"]
)
def system(
    request: pytest.FixtureRequest, device: torch.device, tmp_path_factory: pytest.TempPathFactory
) -> TargetSystem:
    if request.param == "dflash":
        return tiny_dflash(device=device)
    if "nemotron" not in request.param:
        gated = tiny_gated(6, device=device)
        parts = gated.backbone, gated.eos_ids, gated.adapter, gated.mask_embedding
        return gated if request.param == "gated" else QuadraticGatedSystem("q", *parts)
    folder: Path = tmp_path_factory.mktemp("nemotron")
    write_checkpoint(folder)
    kind = QuadraticNemotronSystem if "quadratic" in request.param else NemotronSystem
    return kind.load("tiny", folder, device, torch.float64)


@pytest.fixture(autouse=True)
def free_again(system: TargetSystem, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(system, "eos_ids", frozenset())  # runs go on to their cap
    monkeypatch.setattr(system.backbone, "rooms", Rooms())
    yield
    system.backbone.shapes = "free"
    Recording.refused = False


def replayed(function: Callable[..., Any], inputs: Any) -> tuple[Callable[[], None], Any]:
    """A recording without a GPU: reads the inputs' storage and writes the outputs' when it is
    replayed.
    """
    outputs = tuple(tensor.clone() for tensor in function(*inputs))

    def replay() -> None:
        for ours, new in zip(outputs, function(*inputs), strict=True):
            ours.copy_(new)

    return replay, outputs


def run(
    system: TargetSystem, shapes: Shapes, prompt: list[int], config: DecodeConfig
) -> list[Round]:
    system.backbone.shapes = shapes
    return list(decode(system, prompt, config))  # type: ignore[arg-type]


def text(rounds: list[Round]) -> list[int]:
    return [token for round_ in rounds for token in round_.committed]


@settings(max_examples=examples(25))
@given(
    prompt=st.lists(st.integers(2, 21), min_size=1, max_size=9),
    search=st.sampled_from(("linear", "best_first")),
    budget=st.integers(1, 12),
    temperature=st.sampled_from((0.0, 0.9)),
    draft_length=st.integers(1, 5),
)
def test_padded_rounds_are_free_rounds(
    system: TargetSystem, prompt: list[int], **settings_: Any
) -> None:
    config = DecodeConfig(max_new_tokens=16, **settings_)
    plain, padded = run(system, "free", prompt, config), run(system, "padded", prompt, config)
    assert [(r.tree.tokens, r.accepted, r.committed) for r in padded] == [
        (r.tree.tokens, r.accepted, r.committed) for r in plain
    ]
    for ours, theirs in zip(padded, plain, strict=True):
        assert ours.log_p == pytest.approx(theirs.log_p, abs=2e-5)


def test_recorded_rounds_are_free_rounds(
    system: TargetSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Any] = []
    really = fixed.record if system.device.type == "cuda" else replayed
    monkeypatch.setattr(fixed, "record", lambda *given: recorded.append(given) or really(*given))
    config = DecodeConfig(max_new_tokens=60, budget=9, draft_length=4)
    assert text(run(system, "recorded", [3, 7, 5], config)) == text(
        run(system, "free", [3, 7, 5], config)
    )
    assert recorded
    assert not Recording.refused
    reference = list(autoregressive(system, [3, 7, 5], config))  # type: ignore[arg-type]
    assert text(run(system, "recorded", [3, 7, 5], config)) == text(reference)


def test_recordings_serve_the_runs_that_follow(
    system: TargetSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Any] = []

    def record(function: Callable[..., Any], inputs: Any) -> tuple[Callable[[], None], Any]:
        """Holds no reference to the pass, as a recording of a GPU does not."""
        recorded.append(tuple(tensor.shape for tensor in inputs))
        return (lambda: None), tuple(tensor.clone() for tensor in function(*inputs))

    monkeypatch.setattr(fixed, "record", record)
    system.backbone.shapes = "recorded"
    counts = []
    for _ in range(3):
        session = system.start((3, 7, 5), 64)  # type: ignore[attr-defined]
        for _ in range(3):
            session.draft(5, 4, 8)
            session.verify(session.plan(Tree((5, 9, 8), (-1, 0, 0), *[(0,) * 3] * 5)))
        counts.append(len(recorded))
        del session
    assert counts[0] == counts[1] == counts[2] > 0


def test_the_prompts_slices_are_not_recorded(system: TargetSystem) -> None:
    system.backbone.shapes = "recorded"
    session = system.start(tuple(range(2, 12)) * 3, 64)  # type: ignore[attr-defined]
    assert session is not None
    assert all(not room.recordings for room in _rooms(system, session))


def _rooms(system: TargetSystem, session: Any) -> list[Any]:
    own = getattr(session, "own", session)
    return [cache.room for cache in (own.cache, getattr(own, "context", own.cache))]


def test_a_recording_that_does_not_fit_into_memory_is_tried_once(
    system: TargetSystem, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[Any] = []

    def refuse(*given: Any) -> Any:
        tried.append(tuple(tensor.shape for tensor in given[1]))
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    monkeypatch.setattr(fixed, "record", refuse)
    config = DecodeConfig(max_new_tokens=40, budget=9, draft_length=4)
    ours = run(system, "recorded", [3, 7, 5], config)
    assert text(ours) == text(run(system, "free", [3, 7, 5], config))
    assert len(tried) == len({*tried}) > 0
    assert not Recording.refused
    assert not caplog.records


def test_shapes_repeat(system: TargetSystem) -> None:
    """Few shapes in a run, so that recordings pay: draft and verify, shorter ones at the end."""
    seen = set()
    system.backbone.shapes = "padded"
    hook = system.backbone.decoder.register_forward_pre_hook(
        lambda _, __, given: seen.add(
            (given["inputs_embeds"].shape, given["attention_mask"].shape)
        ),
        with_kwargs=True,
    )
    rounds = list(
        decode(system, [3, 7, 5], DecodeConfig(max_new_tokens=120, budget=9, draft_length=4))
    )  # type: ignore[arg-type]
    hook.remove()
    assert len(rounds) > 10
    assert len(seen) <= 6


def test_a_device_that_cannot_record_is_named_once_and_runs_on(
    system: TargetSystem, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(fixed, "record", refuse)
    config = DecodeConfig(max_new_tokens=40, budget=9, draft_length=4)
    with caplog.at_level(logging.WARNING):
        ours = run(system, "recorded", [3, 7, 5], config)
    assert text(ours) == text(run(system, "free", [3, 7, 5], config))
    assert [record.message for record in caplog.records] == [
        "CUDA graphs do not work here, passes run without them: operation not permitted when "
        "stream is capturing"
    ]


def test_recording_must_be_asked_for_and_never_happens_on_zerogpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = torch.device("cuda")
    monkeypatch.delenv("PRESTO_GRAPHS", raising=False)
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    assert not may_record(cuda)
    monkeypatch.setenv("PRESTO_GRAPHS", "1")
    assert may_record(cuda)
    assert not may_record(torch.device("cpu"))
    monkeypatch.setenv("SPACES_ZERO_GPU", "1")
    assert not may_record(cuda)
