"""Prompt files in their own field names."""

import gzip
import json
from pathlib import Path

import pytest

from presto.runs.prompts import CHAT, load_prompts


def write(path: Path, rows: list[dict[str, object]]) -> str:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


def test_fields_and_ranges(tmp_path: Path) -> None:
    source = write(tmp_path / "gsm.jsonl", [{"question": f"q{i}", "answer": "a"} for i in range(5)])
    assert [prompt.text for prompt in load_prompts(source)] == ["q0", "q1", "q2", "q3", "q4"]
    assert [prompt.text for prompt in load_prompts(source + ":2")] == ["q0", "q1"]
    assert [prompt.text for prompt in load_prompts(source + ":2-4")] == ["q1", "q2", "q3"]
    assert load_prompts(source)[0].dataset == "gsm"


def test_compressed_code_prompts(tmp_path: Path) -> None:
    source = write(tmp_path / "code.jsonl.gz", [{"task_id": "x", "prompt": "def f():\n"}])
    assert load_prompts(source)[0].text == "def f():\n"


def test_spec_bench_takes_its_chat_categories_in_turn(tmp_path: Path) -> None:
    rows = [
        {"category": name, "turns": [f"{name}{i}", "later"]}
        for name in ("qa", *CHAT)
        for i in range(2)
    ]
    source = write(tmp_path / "spec.jsonl", rows)
    texts = [prompt.text for prompt in load_prompts(source)]
    assert texts == [f"{name}{i}" for i in range(2) for name in CHAT]


def test_plain_text_is_a_prompt_a_line(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("one\n\ntwo\n")
    assert [prompt.text for prompt in load_prompts(str(tmp_path / "p.txt"))] == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "line 1: not JSON"),
        ("[1]", "expected an object"),
        ('{"x": 1}', "none of question"),
        ("", "no prompts"),
    ],
)
def test_unusable_files(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / "bad.jsonl").write_text(content)
    with pytest.raises(ValueError, match=named):
        load_prompts(str(tmp_path / "bad.jsonl"))


def test_absent_file() -> None:
    with pytest.raises(ValueError, match="no such prompt file"):
        load_prompts("absent.jsonl:16")
