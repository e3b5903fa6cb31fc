"""Mutation check: does some test fail when an operator, a constant or a comparison is changed?

    python -m tests.mutation [FILE …] [--part 1/4] [--examples 20]

For every change of a file its tests run in a forked process, where the changed file is imported in
the place of the real one. numba is off, so kernels run as plain Python. What survives must stand in
docs/mutation.md with the reason why no test can tell it from the real code; exit code 1 if not.
"""

import argparse
import ast
import contextlib
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "mutation.md"
# A change that makes the tests take more processor time than this is found, and one that makes them
# wait for ever.
SECONDS, PATIENCE = 60, 1200
# File → the tests that look at it, those that find most first.
TESTS = {
    "presto/records/tree.py": "tree viz_tree tree_attention",
    "presto/kernels/counts.py": "ngram search scoring",
    "presto/kernels/smoothing.py": "ngram search scoring learned",
    "presto/kernels/table.py": "ngram",
    "presto/kernels/ngram.py": "ngram",
    "presto/kernels/learned.py": "learned search",
    "presto/kernels/lookup.py": "lookup",
    "presto/kernels/candidates.py": "lookup search",
    "presto/kernels/problem.py": "scoring search plugins",
    "presto/kernels/rows.py": "scoring search plugins",
    "presto/kernels/scoring.py": "scoring search plugins learned",
    "presto/kernels/search.py": "search scoring plugins",
    "presto/kernels/noise.py": "sampling search",
    "presto/build.py": "search scoring plugins",
    "presto/scorers.py": "scorers scoring search plugins",
    "presto/searches.py": "search plugins",
    "presto/decoding/verify.py": "verify tree_attention lossless",
    "presto/decoding/sampling.py": "sampling lossless",
    "presto/decoding/output.py": "output requests",
    "presto/models/cache.py": "cache tree_attention lossless fixed",
}
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNSEEN = ("annotation", "returns", "decorator_list", "type_params")  # what no test can see
# Tests of what needs compiled code, processes or the command line: slow, and about other things.
NOT = "not kernel and not page and not bench and not command and not wheel"
OVERFLOW = "ignore:overflow encountered in scalar multiply:RuntimeWarning"  # of hashes, on purpose
SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change of a file: in which function, its lines before and after, the whole new text."""

    file: str
    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """Names the change as docs/mutation.md does; line numbers move, this stays."""
        return f"{self.function} | `{self.before}` | `{self.after}`"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that may stand in the place of ``node``."""
    match node:
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            for swap in SWAPS.get(type(node.op), ()):
                yield _with(node, op=swap())
        case ast.Compare():
            for i, old in enumerate(node.ops):
                for swap in SWAPS[type(old)]:
                    yield _with(node, ops=[*node.ops[:i], swap(), *node.ops[i + 1 :]])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=float()):
            yield ast.Constant(node.value * 1.5 + 0.25)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield _with(node, func=ast.Name(CALLS[name], ast.Load()))
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    return type(node)(**{name: getattr(node, name) for name in node._fields} | fields)


def mutants(file: str) -> list[Mutant]:
    """Every change of ``file``, in the order of its text."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return [
        _mutant(file, text, function, node, new)
        for function, node in _sites(ast.parse(text))
        for new in changes(node)
    ]


def _sites(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Expressions and statements that may change, with the function around them."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, Any]]:
        if isinstance(node, SKIPPED) or _is_text(node):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".removeprefix("module.")
        elif not isinstance(node, ast.Module):
            yield function, node
        for name, value in ast.iter_fields(node):
            if name in UNSEEN:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, function)

    return walk(tree, "module")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _mutant(file: str, text: str, function: str, old: Any, new: ast.AST) -> Mutant:
    """The change put in its very place of ``text``."""
    lines = text.encode().splitlines(keepends=True)
    first, last = old.lineno - 1, old.end_lineno - 1
    code = ast.unparse(ast.fix_missing_locations(new))
    code = code if isinstance(new, ast.stmt) else f"({code})"
    head, tail = lines[first][: old.col_offset], lines[last][old.end_col_offset :]
    changed = head + code.encode() + tail
    source = b"".join([*lines[:first], changed, *lines[last + 1 :]]).decode()
    before = b" ".join(line.strip() for line in lines[first : last + 1]).decode()
    return Mutant(file, function, old.lineno, before, changed.decode().strip(), source)


class Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a changed file in the place of the real one."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.module = mutant.file.removesuffix(".py").replace("/", ".")

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:
        if fullname != self.module:
            return None
        location = str(ROOT / self.mutant.file)
        return importlib.util.spec_from_file_location(fullname, location, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.source, str(module.__file__), "exec"), module.__dict__)


class Quick:
    """A pytest plugin: property tests repeat the same examples and do not look for simpler ones."""

    def pytest_sessionstart(self) -> None:
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutation",
            parent=settings(),
            phases=(Phase.explicit, Phase.generate),
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutation")


def preload() -> None:
    """What all processes share: everything large that a change cannot concern."""
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in (
        "numba",
        "torch",
        "hypothesis",
        "pytest",
        "transformers",
        "pydantic",
        "safetensors",
    ):
        importlib.import_module(name)
    for name in ("llama", "qwen3", "ministral3"):
        importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def passes(files: list[str], mutant: Mutant | None, examples: int) -> bool:
    """Whether the tests pass, in a process of their own; those of the real code for ``None``."""
    child = os.fork()
    if child:
        return _waited(child)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    os.environ["PRESTO_EXAMPLES"] = str(examples)
    if mutant is not None:
        sys.meta_path.insert(0, Replaced(mutant))
    try:
        with (
            open(os.devnull, "w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            code = _tests(files)
    except BaseException:
        code = 1
    os._exit(code)


def _tests(files: list[str]) -> int:
    import pytest

    import presto.kernels.compiler as compiler

    # The kernels' clock is a call into C, which only compiled code can make.
    compiler.seconds = lambda scratch: time.perf_counter()
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-W", OVERFLOW]
    arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is preloaded
    arguments += ["-m", "not weights and not browser", "-k", NOT]
    return int(pytest.main([*arguments, *files], plugins=[Quick()]))


def _waited(child: int) -> bool:
    """Whether the process ended well within its time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def files_for(file: str) -> list[str]:
    """The test files that look at ``file``."""
    return [str(ROOT / "tests" / f"test_{name}.py") for name in TESTS[file].split()]


def explained() -> set[tuple[str, str]]:
    """File and name of every change that docs/mutation.md explains."""
    found, file = set(), ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            file = line.removeprefix("### ").strip("`")
        elif line.startswith("| ") and "`" in line and file:
            name = " | ".join(cell.strip() for cell in line.replace("\\|", "\0").split("|")[1:4])
            found.add((file, name.replace("\0", "|")))
    return found


def survivors(file: str, part: tuple[int, int], examples: list[int]) -> tuple[int, list[Mutant]]:
    """How many changes were tried, and those that no test found; ``part`` (n, of) takes a share."""
    tried = mutants(file)[part[0] - 1 :: part[1]]
    files = files_for(file)
    assert passes(files, None, examples[0]), f"the tests of {file} fail without any change"
    alive = tried
    for count in examples:
        alive = [mutant for mutant in alive if passes(files, mutant, count)]
    return len(tried), alive


def main() -> None:
    """Try the changes, print what survived and a line of figures per file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {', '.join(TESTS)}")
    parser.add_argument("--part", default="1/1", help="N/M: every M-th change, from the N-th")
    parser.add_argument("--examples", default="20,200", help="tried one after the other")
    chosen = parser.parse_args()
    if unknown := [file for file in chosen.files if file not in TESTS]:
        parser.error(f"{unknown[0]} is not checked, there are {', '.join(TESTS)}")
    first, of = map(int, chosen.part.split("/"))
    known, missed = explained(), 0
    preload()
    for file in chosen.files or TESTS:
        began = time.monotonic()
        count, alive = survivors(file, (first, of), [int(n) for n in chosen.examples.split(",")])
        new = [mutant for mutant in alive if (file, mutant.name) not in known]
        for mutant in new:
            print(f"{file}:{mutant.line}: {mutant.name}")
        figures = f"{count} tried, {count - len(alive)} found, {len(alive) - len(new)} explained"
        print(f"{file}: {figures}, {len(new)} left, {time.monotonic() - began:.0f} s", flush=True)
        missed += len(new)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
