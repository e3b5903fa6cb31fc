"""Traces are saved whole and loaded strictly."""

import gzip
import json
from collections.abc import Callable
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
from tests.support.limits import watched


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
        (("rounds", 0, "choice", "top_ids"), [48], "has no piece"),
        (("rounds", 0, "committed"), [9] * 9, "committed must have at most the"),
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
    with pytest.raises(ValueError, match="at most 1,000"):
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
    with pytest.raises(ValueError, match="on one prompt only"):
        Recording("title", "", (trace, other))


def test_records_cannot_be_changed() -> None:
    choice = Choice(3)
    with pytest.raises(FrozenInstanceError):
        choice.token = 4  # type: ignore[misc]


def grown(trace: Trace, parents: list[int], piece: str = "x") -> str:
    """``trace`` with a first round whose tree has these parents, as JSON."""
    data = json.loads(to_json(trace))
    data["pieces"] = dict.fromkeys(data["pieces"], piece)
    nodes = len(parents)
    zeros = [0.0] * nodes
    data["rounds"][0] |= {
        "tree": {"tokens": [9] * nodes, "parents": parents, "rank": [0] * nodes}
        | dict.fromkeys(("log_q", "log_rho", "blind", "aligned"), zeros),
        "log_p": zeros,
        "accepted": [],
        "exact": None,
        "committed": [],
    }
    data["rounds"] = data["rounds"][:1]
    return json.dumps(data)


def star(nodes: int) -> list[int]:
    return [-1, *([0] * nodes)]


def chain(nodes: int) -> list[int]:
    return list(range(-1, nodes))


def test_the_largest_tree_that_a_run_can_make_is_read(trace: Trace) -> None:
    assert len(trace_from_json(grown(trace, star(1024))).rounds[0].tree.tokens) == 1025
    assert len(trace_from_json(grown(trace, chain(31), "x" * 512)).rounds[0].tree.tokens) == 32


@pytest.mark.parametrize(
    ("parents", "piece", "named"),
    [
        (star(1025), "x", "rounds.0.tree.tokens: Tuple should have at most 1025 items"),
        (star(300_000), "x", "rounds.0.tree.tokens: Tuple should have at most 1025 items"),
        (chain(32), "x", "the tree has depth 32, at most 31 are allowed"),
        (chain(4000), "x", "rounds.0.tree.tokens: Tuple should have at most 1025 items"),
        (star(400), "x" * 513, "String should have at most 512 characters"),
        (star(400), "x" * 9000, "String should have at most 512 characters"),
    ],
)
def test_more_than_a_run_can_make_is_refused_at_once(
    trace: Trace, parents: list[int], piece: str, named: str
) -> None:
    text = grown(trace, parents, piece)
    with watched() as cost, pytest.raises(ValueError, match="not a valid trace") as error:
        trace_from_json(text)
    assert named in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert cost.seconds < 1
    assert cost.megabytes < 200


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: t | {"rounds": t["rounds"][:1] * 8194}, "rounds: Tuple should have at most"),
        (lambda t: t | {"prompt": "x" * 20_001}, "prompt: String should have at most 20000"),
        (lambda t: t | {"system": "x" * 10**6}, "system: String should have at most"),
        (lambda t: t | {"models": dict.fromkeys(map(str, range(20)), "")}, "models: Dictionary"),
        (lambda t: t | {"pieces": {"9": [256]}}, "pieces.9"),
        (lambda t: t | {"pieces": {"-9": "x"}}, "pieces.-9"),
        (lambda t: t | {"x" * 10**6: 0}, "Unexpected keyword argument"),
        (lambda t: t | {"a\nb": "\n" * 99}, "a b: Unexpected keyword argument"),
    ],
)
def test_other_parts_are_bounded_too(
    trace: Trace, change: Callable[[dict[str, Any]], dict[str, Any]], named: str
) -> None:
    text = json.dumps(change(json.loads(to_json(trace))))
    with watched() as cost, pytest.raises(ValueError, match="not a valid trace") as error:
        trace_from_json(text)
    assert named in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert cost.seconds < 3  # 8,193 rounds may be right, so they are read before the next is not


def test_numbers_are_bounded_where_kernels_compute_with_them(trace: Trace) -> None:
    for path in (("marginals", "log_q", 0, 0), ("tree", "log_q", 0), ("log_p", 0)):
        with pytest.raises(ValueError, match=r"greater than or equal to -10000"):
            trace_from_json(broken(trace, "rounds", 0, *path, value=-1e300))
        with pytest.raises(ValueError, match="less than or equal to 0"):
            trace_from_json(broken(trace, "rounds", 0, *path, value=0.1))
    with pytest.raises(ValueError, match="less than 2147483648"):
        trace_from_json(broken(trace, "prompt_ids", value=[2**63]))


def test_a_bomb_of_values_is_refused_before_it_is_parsed() -> None:
    text = b'{"prompt_ids": [' + b"0," * 30_000_000 + b"0]}"
    with watched() as cost, pytest.raises(ValueError, match=r"at most 4,000,000 are allowed"):
        trace_from_json(text)
    assert cost.seconds < 1
    assert cost.megabytes < 50


def test_a_corrupt_archive_is_named(trace: Trace, tmp_path: Path) -> None:
    save(trace, tmp_path / "x.json.gz")
    data = bytearray((tmp_path / "x.json.gz").read_bytes())
    for place in range(10, len(data), 7):
        (tmp_path / "x.json.gz").write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + b"\0")
        with pytest.raises(ValueError, match=r"x\.json\.gz|not a valid trace"):
            load_trace(tmp_path / "x.json.gz")
