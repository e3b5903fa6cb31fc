"""What the documents name is there."""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HARDENING = (ROOT / "docs" / "hardening.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`\n]+)`")
NAMES_TESTS = re.compile(r"test_|tests/|python -m tests\.")


@lru_cache
def known() -> tuple[set[str], set[str], set[str]]:
    """Modules of tests, test functions, and both as ``test_module.py::test_function``."""
    modules, functions, both = set(), set(), set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        modules.add(path.stem)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                functions.add(node.name)
                both.add(f"{path.name}::{node.name}")
    return modules, functions, both


def exists(word: str) -> bool:
    """Whether ``word`` names tests that are there: a module, a function (``…`` cuts its name), both
    with ``::``, a file under ``tests`` or a command of theirs.
    """
    modules, functions, both = known()
    if word.startswith("python -m "):
        path = ROOT / word.split()[2].replace(".", "/")
        return path.is_dir() or path.with_suffix(".py").exists()
    if "::" in word:
        return word.rpartition("/")[2] in both
    if word.startswith("tests/"):
        return (ROOT / word).exists()
    if word.endswith("…"):
        return any(name.startswith(word[:-1]) for name in functions)
    return word in modules | functions


def unknown(text: str) -> list[str]:
    """What ``text`` names in code marks as a test, and no test is."""
    named = [word for word in CODE.findall(text) if NAMES_TESTS.match(word)]
    return [word for word in named if not exists(word)]


def test_every_test_that_hardening_names_exists() -> None:
    assert len([word for word in CODE.findall(HARDENING) if NAMES_TESTS.match(word)]) > 150
    assert unknown(HARDENING) == []


@pytest.mark.parametrize(
    "word",
    [
        "test_docs_of_nothing",
        "test_docs_of_n…",
        "tests/test_absent.py",
        "test_docs.py::test_absent",
        "python -m tests.absent --cases 3",
    ],
)
def test_a_name_that_no_test_has_is_told(word: str) -> None:
    assert unknown(f"`test_docs`, `{word}` and `tests/fuzz`") == [word]
