"""The command line: the documented output, and refusals without a traceback.

Two commands run as a user starts them, in a process of their own; the others in this one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from presto.commands.main import main
from presto.records import load_recording, load_trace

pytestmark = pytest.mark.weights
DECODE_KEYS = {
    "text",
    "token_ids",
    "tau",
    "rounds",
    "seconds",
    "tokens_per_second",
    "stages",
    "finish",
}


class Ended(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def started(*arguments: str) -> Ended:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "presto", *arguments]
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=one)
    return Ended(result.returncode, result.stdout, result.stderr)


@pytest.fixture
def presto(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """The command in this process; an exception that it lets out fails the test."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["presto", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capsys.readouterr())

    return run


def test_decode_prints_the_documented_object_and_saves_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "run.json.gz"
    result = started(
        "decode", "What is 2 + 3?", "--max-new-tokens", "12", "--trace", str(file), "--json"
    )
    assert result.returncode == 0, result.stderr
    assert "Warning" not in result.stderr
    printed = json.loads(result.stdout)
    assert printed.keys() >= DECODE_KEYS
    trace = load_trace(file)
    assert printed["token_ids"] == [token for round_ in trace.rounds for token in round_.committed]
    assert trace.method == "presto"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("decode", "  "), "blank"),
        (("decode", "hi", "--budget", "0"), "budget"),
        (("decode", "hi", "--method", "magic"), "known methods"),
        (("decode", "hi", "--scorer", "magic"), "scorer"),
        (("decode", "hi", "--system", "magic"), "known pairs"),
        (("fetch", "magic"), "known pairs"),
        (("decode", "hi", "--target", "nowhere"), "config.json is missing"),
        (("decode", "hi", "--drafter", "nowhere"), "needs --target"),
        (("decode", "hi", "--max-new-tokens", "8190"), "context holds 8192"),
        (("decode", "hi", "--dtype", "int4"), "dtype"),
        (("bench", "--data", "absent.jsonl"), "no such prompt file"),
        (("bench", "--data", __file__, "--methods", "ar,magic"), "unknown method 'magic'"),
    ],
)
def test_refusals(presto: Callable[..., Ended], arguments: tuple[str, ...], named: str) -> None:
    check_refusal(presto(*arguments), named)


def test_a_refusal_as_a_user_sees_it() -> None:
    check_refusal(started("decode", "hi", "--budget", "0"), "budget")


def check_refusal(result: Ended, named: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    assert named in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_bench_writes_the_documented_file(presto: Callable[..., Ended], tmp_path: Path) -> None:
    data, out = tmp_path / "two.jsonl", tmp_path / "bench.json"
    data.write_text('{"question": "What is 7 times 6?"}\n{"question": "Name three colours."}\n')
    result = presto("bench", "--data", str(data), "--max-new-tokens", "10", "--json", str(out))
    assert result.returncode == 0, result.stderr
    methods = json.loads(out.read_text())["methods"]
    assert list(methods) == ["ar", "linear", "blind", "presto"]
    for row in methods.values():
        assert row.keys() >= {
            "tau_macro", "tau_micro", "histogram", "tokens_per_second", "ratio_to_ar",
            "ratio_to_linear", "stages",
            "equal_to_ar",
        }  # fmt: skip
        assert row["equal_to_ar"][1] == 2
    assert methods["ar"]["ratio_to_ar"]["value"] == 1.0


def test_record_makes_a_recording(presto: Callable[..., Ended], tmp_path: Path) -> None:
    out = tmp_path / "run.json.gz"
    result = presto(
        "record", "Say hello.", "--out", str(out), "--title", "Hello", "--max-new-tokens", "8"
    )
    assert result.returncode == 0, result.stderr
    assert [trace.method for trace in load_recording(out).traces] == [
        "presto",
        "linear",
        "blind",
        "ar",
    ]


def test_ngram_build_from_text(presto: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat sat on the mat\nthe dog sat on the cat\n")
    result = presto("ngram", "build", str(tmp_path / "text.txt"), "--out", str(tmp_path / "t.npz"))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "t.npz").exists()
