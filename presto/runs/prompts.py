"""Prompt sets from files: GSM8K, HumanEval and Spec-Bench in their own field names, plain JSONL,
plain text.

A file comes from anyone: it is read line by line within bounds, and what is wrong with it is told
with its name and line.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from presto.records import shown
from presto.runs.requests import check_prompt

# Spec-Bench's conversational categories (MT-Bench's eight); the others are its summarisation, QA
# and maths parts.
CHAT = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
MAX_LINE = 4 << 20  # bytes
_RANGE = re.compile(r"(?P<path>.+?)(?::(?:(?P<first>\d{1,9})-)?(?P<last>\d{1,9}))?", re.DOTALL)
_FIELDS = ("question", "prompt", "turns", "text", "instruction")


class Limits(NamedTuple):
    """How much of a file is read at most, after decompression."""

    size: int  # bytes
    lines: int


PROMPTS, CORPUS = Limits(64 << 20, 100_000), Limits(1 << 30, 10_000_000)


@dataclass(frozen=True)
class Prompt:
    """One prompt, the name of the set it came from and its line in that file, counted from 1."""

    dataset: str
    text: str
    line: int = 0


class _Row(NamedTuple):
    """A line of a file: its prompt (``None`` if it has none), and its category if it has turns."""

    line: int
    text: str | None
    category: object = None
    fields: str = ""


def load_prompts(source: str) -> list[Prompt]:
    """Prompts of ``PATH``, ``PATH:N`` (the first N) or ``PATH:A-B`` (numbers A to B, counted from
    1). ``ValueError`` names file and line of what cannot be read.
    """
    return list(read_prompts(source, PROMPTS))


def read_prompts(source: str, limits: Limits) -> Iterator[Prompt]:
    """The same one by one, and with other limits; at least one, or ``ValueError``."""
    path, first, last = _parts(source)
    lines = _lines(path, limits)
    rows = _rows(path, lines) if ".json" in "".join(path.suffixes) else lines
    found = False
    for row in islice(_in_turn(rows), first - 1, last):
        found = True
        yield _prompt(path, row)
    if not found:
        raise ValueError(f"{source} holds no prompts")


def checked_prompts(sources: Iterable[str]) -> list[Prompt]:
    """The prompts of all sources. ``ValueError`` names the first one that no model can be asked,
    so that it is found before any other is decoded.
    """
    prompts = []
    for source in sources:
        for prompt in load_prompts(source):
            try:
                check_prompt(prompt.text)
            except ValueError as error:
                raise ValueError(f"{source}, line {prompt.line}: {error}") from None
            prompts.append(prompt)
    return prompts


def _parts(source: str) -> tuple[Path, int, int | None]:
    """File, first and last number of a source; a file that is really called ``a:3`` is taken."""
    match = _RANGE.fullmatch(source)
    if match is None:
        raise ValueError("the name of a prompt file is empty")
    try:
        whole = Path(source).is_file()
        path = Path(source if whole else match["path"])
        if path.is_dir():
            raise ValueError(f"{shown(str(path), 200)} is a folder: name one of its files")
        if not path.is_file():
            raise ValueError(f"no such prompt file: {shown(str(path), 200)}")
    except OSError as error:
        raise ValueError(f"no such prompt file: {shown(source)} ({error.strerror})") from None
    if whole or not match["last"]:
        return path, 1, None
    first, last = int(match["first"] or 1), int(match["last"])
    if not 1 <= first <= last:
        raise ValueError(f"{source}: the numbers must be A-B with 1 ≤ A ≤ B, got {first}-{last}")
    return path, first, last


def _lines(path: Path, limits: Limits) -> Iterator[_Row]:
    """The lines that are not blank. They end at line feeds only: JSON strings may hold any other
    separator.
    """
    number, read = 0, 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(MAX_LINE + 1):
                number, read = number + 1, read + len(line)
                if problem := _too_much(len(line), Limits(read, number), limits):
                    raise ValueError(f"{path}, line {number}: {problem}")
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip():
                    yield _Row(number, text.removesuffix("\n").removesuffix("\r"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
    except (OSError, EOFError, zlib.error) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"cannot read {path} after line {number}: {problem}") from None


def _too_much(line: int, read: Limits, limits: Limits) -> str:
    if line > MAX_LINE:
        return f"longer than {MAX_LINE:,} bytes"
    if read.size > limits.size:
        return f"over {limits.size:,} bytes were read until here: split the file, or name a range"
    if read.lines > limits.lines:
        return f"more than {limits.lines:,} lines: split the file, or name a range"
    return ""


def _rows(path: Path, lines: Iterator[_Row]) -> Iterator[_Row]:
    for number, line, *_ in lines:
        row = _object(path, number, str(line))
        category = row["category"] if "turns" in row and "category" in row else None
        text = _text(row)
        yield _Row(number, text, category, shown(", ".join(row), 200) if text is None else "")


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        problem = f"{error.msg} in column {error.colno}"
    except (ValueError, RecursionError) as error:
        problem = shown(str(error))
    else:
        if isinstance(row, dict):
            return row
        kind = type(row).__name__
        raise ValueError(f"{path}, line {number}: expected an object, got {kind}")
    raise ValueError(f"{path}, line {number}: not JSON ({problem}); one object a line is expected")


def _in_turn(rows: Iterator[_Row]) -> Iterator[_Row]:
    """Spec-Bench rows: its chat categories in turn, so that the first N spread over all; other rows
    as they are, read when they are wanted.
    """
    first = next(rows, None)
    if first is None:
        return
    if first.category is None:
        yield from chain((first,), rows)
        return
    found = [first, *rows]
    if any(row.category is None for row in found):
        yield from found
        return
    by_category = ([row for row in found if row.category == name] for name in CHAT)
    yield from (row for row in chain.from_iterable(zip_longest(*by_category)) if row is not None)


def _text(row: dict[str, Any]) -> str | None:
    for name in _FIELDS:
        value = row.get(name)
        text = value[0] if isinstance(value, list) and value else value
        if isinstance(text, str) and text.strip():
            return text
    return None


def _prompt(path: Path, row: _Row) -> Prompt:
    if row.text is None:
        raise ValueError(
            f"{path}, line {row.line}: none of {', '.join(_FIELDS)} holds text (fields: "
            f"{row.fields})"
        )
    try:
        row.text.encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(row.text[error.start]):04X}"
        raise ValueError(f"{path}, line {row.line}: half a surrogate pair ({half})") from None
    name = path.name.split(".")[0] or path.name
    return Prompt(name.encode(errors="replace").decode()[:200], row.text, row.line)
