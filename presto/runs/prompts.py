"""Prompt sets from files: GSM8K, HumanEval and Spec-Bench in their own field names, plain JSONL,
plain text.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

# Spec-Bench's conversational categories (MT-Bench's eight); the others are its summarisation, QA
# and maths parts.
CHAT = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
_RANGE = re.compile(r"^(?P<path>.+?)(?::(?:(?P<first>\d+)-)?(?P<last>\d+))?$")
_FIELDS = ("question", "prompt", "turns", "text", "instruction")


@dataclass(frozen=True)
class Prompt:
    """One prompt and the name of the set it came from."""

    dataset: str
    text: str


def load_prompts(source: str) -> list[Prompt]:
    """Prompts of ``PATH``, ``PATH:N`` (the first N) or ``PATH:A-B`` (numbers A to B, counted from
    1).
    """
    match = _RANGE.match(source)
    assert match is not None
    path = Path(match["path"])
    if not path.is_file():
        raise ValueError(f"no such prompt file: {path}")
    first, last = int(match["first"] or 1), int(match["last"]) if match["last"] else None
    texts = list(_texts(path))[first - 1 : last]
    if not texts:
        raise ValueError(f"{source} holds no prompts")
    return [Prompt(path.name.split(".")[0], text) for text in texts]


def _texts(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            lines = [line for line in file.read().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the prompt file {path}: {error}") from None
    if ".json" not in "".join(path.suffixes):
        yield from lines
        return
    rows = [_row(path, number, line) for number, line in enumerate(lines, start=1)]
    yield from (_prompt_of(path, number, row) for number, row in enumerate(_in_turn(rows), start=1))


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"{path}, line {number}: expected an object, got {type(row).__name__}")
    return row


def _in_turn(rows: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Spec-Bench rows: its chat categories in turn, so that the first N spread over all; other rows
    as they are.
    """
    if not all("turns" in row and "category" in row for row in rows):
        return rows
    by_category = ([row for row in rows if row["category"] == name] for name in CHAT)
    return (row for row in chain.from_iterable(zip_longest(*by_category)) if row is not None)


def _prompt_of(path: Path, number: int, row: dict[str, Any]) -> str:
    for name in _FIELDS:
        value = row.get(name)
        text = value[0] if isinstance(value, list) and value else value
        if isinstance(text, str) and text.strip():
            return text
    raise ValueError(
        f"{path}, prompt {number}: none of {', '.join(_FIELDS)} holds text (fields: "
        f"{', '.join(row)})"
    )
