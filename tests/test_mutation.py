"""The mutation check itself: what it changes, and that its explanations are about today's code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import ROOT, TESTS, changes, explained, files_for, mutants
from tests.support.checks import some


@pytest.mark.parametrize(
    ("code", "becomes"),
    [
        ("a + b", {"a - b"}),
        ("a < b <= c", {"a <= b <= c", "a >= b <= c", "a < b < c", "a < b > c"}),
        ("a and b", {"a or b"}),
        ("not a", {"a"}),
        ("-a", {"a"}),
        ("3", {"4"}),
        ("0.5", {"1.0"}),
        ("True", {"False"}),
        ("min(a, b)", {"max(a, b)"}),
        ("a if b else c", {"c if b else a"}),
        ("a is None", {"a is not None"}),
        ("'text'", set()),
    ],
)
def test_one_operator_or_number_changes(code: str, becomes: set[str]) -> None:
    node = ast.parse(code, mode="eval").body
    assert {ast.unparse(new) for new in changes(node)} == becomes


@pytest.mark.parametrize("file", TESTS)
def test_every_change_is_one_place_of_a_program(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    found = mutants(file)
    assert found
    assert len({mutant.source for mutant in found} | {text}) > len(found) / 2
    for mutant in found:
        compile(mutant.source, file, "exec")
        assert mutant.source != text


def test_every_file_has_tests_and_every_explanation_a_change() -> None:
    names = some(name for file in TESTS for name in files_for(file))
    assert [name for name in names if not Path(name).is_file()] == []
    known = {(file, mutant.name) for file in TESTS for mutant in mutants(file)}
    assert set(some(explained())) - known == set()


def test_a_change_that_matters_is_found() -> None:
    command = [sys.executable, "-m", "tests.mutation", "presto/records/tree.py"]
    command += ["--part", "2/9", "--examples", "2"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r": (\d+) tried, \1 found, 0 explained, 0 left", result.stdout)
