"""Traces are saved whole and loaded strictly."""

import gzip
import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from presto.decoding.loop import decode
from presto.records import (
    Choice,
    DecodeConfig,
    Recording,
    Trace,
    load_recording,
    load_trace,
    save,
    to_json,
    trace_from_json,
)
from presto.runs.requests import make_config
from tests.support.doubles import Scripted


@pytest.fixture
def trace() -> Trace:
    system = Scripted(
        lambda prefix: 10 + len(prefix) % 3, lambda prefix, depth: 10 + (len(prefix) + depth) % 3
    )
    config = DecodeConfig(max_new_tokens=9, budget=5)
    rounds = tuple(decode(system, (9, 8), config))
    pieces = {token: chr(64 + token) for token in range(50)} | {12: (240, 159)}
    return Trace(
        "scripted",
        "scripted",
        "presto",
        config,
        "cpu",
        "float32",
        "none",
        "hi",
        (9, 8),
        rounds,
        pieces,
        "length",
    )


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_round_trip(trace: Trace, tmp_path: Path, name: str) -> None:
    save(trace, tmp_path / name)
    assert load_trace(tmp_path / name) == trace
    recording = Recording("title", "note", (trace, trace))
    save(recording, tmp_path / name)
    assert load_recording(tmp_path / name) == recording


def broken(trace: Trace, *path: Any, value: Any) -> str:
    data = json.loads(to_json(trace))
    place = data
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("surprise",), 1, "surprise"),
        (("rounds", 0, "margin"), float("nan"), "margin"),
        (("rounds", 0, "margin"), float("inf"), "margin"),
        (("rounds", 0, "tree", "parents", 1), 3, "parent of node 1"),
        (("rounds", 0, "tree", "parents", 0), 0, "root's parent"),
        (("rounds", 0, "tree", "blind"), [0.0], "one length"),
        (("rounds", 0, "tree", "tokens", 0), -1, "tokens.0"),
        (("rounds", 0, "accepted"), [99], "path from the root"),
        (("rounds", 0, "log_p"), [0.0], "log_p must have"),
        (("rounds", 0, "committed", 0), "x", "committed.0"),
        (("rounds", 0, "committed", 0), 48, "has no piece"),
        (("config", "budget"), 0, "config.budget"),
        (("config", "temperature"), "hot", "config.temperature"),
        (("schema_version",), 2, "schema_version"),
        (("prompt_ids",), [9, 49], "has no piece"),
        (("rounds", 0, "start"), 7, "start"),
    ],
)
def test_what_is_wrong_is_named(
    trace: Trace, path: tuple[Any, ...], value: Any, named: str
) -> None:
    data = json.loads(to_json(trace))
    data["pieces"] = {key: text for key, text in data["pieces"].items() if int(key) < 48}
    data = json.loads(broken(trace_from_json(json.dumps(data)), *path, value=value))
    with pytest.raises(ValueError, match="not a valid trace") as error:
        trace_from_json(json.dumps(data))
    assert named in str(error.value)
    assert "\n" not in str(error.value)


def test_unreadable_files(tmp_path: Path) -> None:
    for content in (b"", b"not gzip", gzip.compress(b'{"a": 1')[:-3]):
        (tmp_path / "x.json.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"trace|read"):
            load_trace(tmp_path / "x.json.gz")
    with pytest.raises(ValueError, match="cannot read"):
        load_trace(tmp_path / "absent.json")


def test_a_bomb_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presto.records.files.MAX_TRACE_BYTES", 1000)
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(ValueError, match="at most 1000"):
        load_trace(tmp_path / "x.json.gz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget", 0),
        ("budget", 5000),
        ("lam", float("nan")),
        ("scorer", "best"),
        ("top_p", 0.0),
        ("seed", -1),
    ],
)
def test_settings_out_of_range_are_one_sentence(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name}: ") as error:
        make_config(**{name: value})
    assert "\n" not in str(error.value)


def test_a_recording_is_about_one_prompt(trace: Trace) -> None:
    other = Trace(
        **{
            **{name: getattr(trace, name) for name in Trace.__dataclass_fields__},
            "prompt_ids": (9, 9),
        }
    )
    with pytest.raises(ValueError, match="same prompt_ids"):
        Recording("title", "", (trace, other))


def test_records_cannot_be_changed() -> None:
    choice = Choice(3)
    with pytest.raises(FrozenInstanceError):
        choice.token = 4  # type: ignore[misc]
