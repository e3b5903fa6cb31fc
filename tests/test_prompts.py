"""Prompt files in their own field names, and files that are not what their name says."""

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.runs import prompts
from presto.runs.prompts import CHAT, checked_prompts, load_prompts
from tests.support.limits import watched

ROW = b'{"question": "fine"}\n'


def write(path: Path, rows: list[dict[str, object]]) -> str:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


def texts(source: str) -> list[str]:
    return [prompt.text for prompt in load_prompts(source)]


def test_fields_and_ranges(tmp_path: Path) -> None:
    source = write(tmp_path / "gsm.jsonl", [{"question": f"q{i}", "answer": "a"} for i in range(5)])
    assert texts(source) == ["q0", "q1", "q2", "q3", "q4"]
    assert texts(source + ":2") == ["q0", "q1"]
    assert texts(source + ":2-4") == ["q1", "q2", "q3"]
    assert load_prompts(source)[0].dataset == "gsm"


@pytest.mark.parametrize("numbers", ["0", "0-3", "3-2"])
def test_ranges_that_name_nothing(tmp_path: Path, numbers: str) -> None:
    source = write(tmp_path / "gsm.jsonl", [{"question": "q"}] * 5)
    with pytest.raises(ValueError, match="A-B with 1 ≤ A ≤ B, got"):
        load_prompts(f"{source}:{numbers}")


def test_a_file_whose_name_looks_like_a_range(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl:1", [{"question": "q"}] * 3)
    assert len(load_prompts(source)) == 3


def test_compressed_code_prompts(tmp_path: Path) -> None:
    source = write(tmp_path / "code.jsonl.gz", [{"task_id": "x", "prompt": "def f():\n"}])
    assert texts(source) == ["def f():\n"]


def test_spec_bench_takes_its_chat_categories_in_turn(tmp_path: Path) -> None:
    rows = [
        {"category": name, "turns": [f"{name}{i}", "later"]}
        for name in ("qa", *CHAT)
        for i in range(2)
    ]
    source = write(tmp_path / "spec.jsonl", rows)
    assert texts(source) == [f"{name}{i}" for i in range(2) for name in CHAT]
    assert load_prompts(source)[1].line == 5
    source = write(tmp_path / "mixed.jsonl", [*rows, {"question": "plain"}])
    assert texts(source)[:2] == ["qa0", "qa1"]


def test_plain_text_is_a_prompt_a_line(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes("\ufeffone\r\n\n two\u2028three\x0c\x85 \n".encode("utf-8"))
    assert texts(str(tmp_path / "p.txt")) == ["one", " two\u2028three\x0c\x85 "]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=1))
def test_json_lines_end_at_line_feeds_only(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    """Whatever a string holds raw, U+2028, U+0085 and the like included, its line is one line."""
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    written = [f"{value}." for value in values]
    lines = (json.dumps({"text": value}, ensure_ascii=False) for value in written)
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert texts(str(path)) == written


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"{", "line 1: not JSON"),
        (b"[1]", "expected an object"),
        (b'{"x": 1}', "none of question"),
        (b"", "no prompts"),
        (b"\n \n\xe2\x80\xa8\n", "no prompts"),
        (ROW + b"[" * 100_000, "line 2: not JSON"),
        (ROW + b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "line 2: not JSON"),
        (ROW + b'{"x": ' + b"9" * 5000 + b"}", "line 2: not JSON"),
        (ROW + b"\n" + b'{"text": "\xff"}', "line 3: not UTF-8"),
        (b"\xff\xfe{\0", "line 1: not UTF-8"),
        (ROW + rb'{"text": "a\ud800"}', r"line 2: half a surrogate pair \(U\+D800\)"),
        (ROW + b'{"a\\nb": 1}', "line 2: none of question"),
        (ROW + b'{"text": "' + b"x" * prompts.MAX_LINE + b'"}', "line 2: longer than 4,194,304"),
        (ROW * 100_001, "line 100001: more than 100,000 lines"),
    ],
)
@pytest.mark.parametrize("name", ["bad.jsonl", "bad.jsonl.gz"])
def test_unusable_files(tmp_path: Path, content: bytes, named: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
    with watched() as cost, pytest.raises(ValueError, match=named) as error:
        load_prompts(str(path))
    assert name in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400 + len(str(path))
    assert cost.seconds < 2
    assert cost.megabytes < 200


def test_damaged_archives_are_named_with_their_line(tmp_path: Path) -> None:
    rows = b"".join(b'{"question": "%d"}\n' % random.Random(i).getrandbits(64) for i in range(9999))
    whole, path = gzip.compress(rows), tmp_path / "x.jsonl.gz"
    for data in (whole[:-4], whole[: len(whole) // 2], b"not gzip", whole[:99] + b"?" + whole[99:]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"cannot read .*x\.jsonl\.gz after line \d+: "):
            load_prompts(str(path))


@pytest.mark.parametrize("unit", [b" ", b"\n", b"0", ROW])
def test_a_bomb_is_refused_at_once(tmp_path: Path, unit: bytes) -> None:
    """Two gigabytes in two megabytes: members of one archive, so that writing it is quick."""
    member = gzip.compress(unit * ((16 << 20) // len(unit)), 1)
    (tmp_path / "bomb.jsonl.gz").write_bytes(member * 128)
    with watched() as cost, pytest.raises(ValueError, match=r"bomb\.jsonl\.gz, line \d+: "):
        load_prompts(str(tmp_path / "bomb.jsonl.gz"))
    assert cost.seconds < 2
    assert cost.megabytes < 200


def test_a_range_reads_no_further_than_it_must(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(ROW * 3 + b"{")
    assert texts(f"{path}:3") == ["fine"] * 3


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("absent.jsonl:16", "no such prompt file: absent.jsonl"),
        ("", "the name of a prompt file is empty"),
        ("tests", "tests is a folder"),
        ("tests:3", "tests is a folder"),
        ("x" * 5000, "File name too long"),
        ("a\nb", "no such prompt file"),
        ("/dev/zero", "no such prompt file"),
    ],
)
def test_what_is_no_file(source: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        load_prompts(source)


def test_all_prompts_are_checked_before_any_is_used(tmp_path: Path) -> None:
    first = write(tmp_path / "one.jsonl", [{"text": "fine"}, {"text": "fine too"}])
    other = write(tmp_path / "two.jsonl", [{"text": "fine"}, {"text": "x" * 20_001}])
    assert len(checked_prompts([first])) == 2
    with pytest.raises(ValueError, match=r"two\.jsonl, line 2: the prompt has 20,001 characters"):
        checked_prompts([first, other])
