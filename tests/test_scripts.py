"""The page's scripts: their own tests under Node, and what they share with Python."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.records import Recording
from tests.support import synthetic
from tests.support.checks import some
from tests.support.node import evaluate, run_node
from ui.explore_payload import value_of
from ui.files import LARGEST
from ui.player import AT_ONCE, PLAYER, STYLES, early_scripts
from viz.formula import decimal, formula
from viz.text import label, plotly_text
from viz.theme import SYMBOLS
from viz.tree import LINES
from viz.view import view_of

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))
SCRIPTS = sorted(PLAYER.rglob("*.js"))
SOURCES = [*SCRIPTS, *STYLES, *(Path(__file__).parent / "js").iterdir()]
IMPORT = re.compile(r'^(?:import|\} from)\b.*?"(\./[\w./-]+|\.\./[\w./-]+)";$', re.M)


def test_the_scripts_pass_their_own_tests() -> None:
    done = run_node("--test", "--test-isolation=none", "--test-reporter=spec", *TESTS)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {name: int(count) for name, count in re.findall(r"^ℹ (\w+) (\d+)$", done.stdout, re.M)}
    written = sum(path.read_text(encoding="utf-8").count("\ntest(") for path in TESTS)
    assert counts["pass"] == counts["tests"] == written > 0


def test_every_module_of_logic_has_a_test() -> None:
    tested = {Path(name).name for path in TESTS for name in IMPORT.findall(path.read_text("utf-8"))}
    assert {path.name for path in PLAYER.glob("logic/*.js")} <= tested


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_lines_and_files_stay_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 250


def imported(paths: Iterable[Path]) -> set[Path]:
    """``paths`` and what they import, directly or not."""
    found: set[Path] = set()
    left = [*paths]
    while left:
        if (path := left.pop()) not in found:
            found.add(path)
            names = IMPORT.findall(path.read_text(encoding="utf-8"))
            left += [(path.parent / name).resolve() for name in names]
    return found


def test_the_page_loads_early_exactly_what_it_shows_first() -> None:
    needed = imported(PLAYER / name for name in ("player.js", *AT_ONCE))
    hrefs = re.findall(r'rel="modulepreload"[^>]* href="gradio_api/file=([^"]+)"', early_scripts())
    assert sorted(hrefs) == sorted(path.as_posix() for path in needed)


def test_no_script_is_unused() -> None:
    names = ("boot.js", "player.js", "film.js", "compare.js", "bench.js", "lesson.js", *AT_ONCE)
    assert set(SCRIPTS) == imported(PLAYER / name for name in names)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.text(st.sampled_from("&<>$;#'\"a漢\u2068 "), max_size=30), max_size=200))
def test_both_languages_escape_text_for_plotly_alike(texts: list[str]) -> None:
    assert evaluate("labels.js", "data.map(logic.plotlyText)", texts) == list(
        map(plotly_text, texts)
    )


def test_page_and_server_open_files_of_the_same_size() -> None:
    assert evaluate("files.js", "logic.LARGEST") == LARGEST


def test_the_preview_knows_every_mark_and_dash_of_the_tree() -> None:
    symbols = sorted(set(SYMBOLS.values()))
    assert all(evaluate("geometry.js", "data.map((s) => logic.markOf(s, 9).path)", symbols))
    dashes = [line["dash"] for line in LINES.values() if "dash" in line]
    assert all(evaluate("geometry.js", "data.map((dash) => logic.dashOf({ dash }))", dashes))


@pytest.fixture(scope="module")
def value() -> dict[str, Any]:
    """A whole run with hostile tokens, as the page receives it."""
    trace = synthetic.trace(rounds=3, pieces=synthetic.HOSTILE, budget=30, width=12)
    return value_of(Recording("title", "", (trace,)), "recorded")


READ = """(() => {
    const run = new logic.Run();
    run.take(data);
    return [0, 1, 2].map((i) => run.round(i)).map(({ rows, positions }) =>
        ({ rows, placed: rows.every((row) => positions.has(row.node)) }));
})()"""


def test_rows_arrive_with_the_texts_that_python_wrote(value: dict[str, Any]) -> None:
    trace = synthetic.trace(rounds=3, pieces=synthetic.HOSTILE, budget=30, width=12)
    for index, read in some(enumerate(evaluate("run.js", READ, value))):
        assert read["placed"]
        for row, node in zip(read["rows"], view_of(trace, index).nodes, strict=True):
            assert (row["node"], row["full"], row["status"]) == (node.node, node.full, node.status)
            assert row["labels"][0] == node.label == label(trace.pieces[node.token])
            for name in ("log_q", "log_rho", "blind", "aligned"):
                number = getattr(node, name)
                assert row[name] == (None if number is None else decimal(number))


def test_every_cell_of_the_table_is_known(value: dict[str, Any]) -> None:
    rows = evaluate("run.js", READ, value)[0]["rows"]
    read = "data.flatMap((row) => logic.COLUMNS.map(([, read]) => read(row) === undefined))"
    missing = evaluate("nodes.js", read, rows)
    assert len(missing) == 12 * len(rows)
    assert not any(missing)


def test_a_pinned_node_has_the_formula_that_python_writes(value: dict[str, Any]) -> None:
    trace = synthetic.trace(rounds=3, pieces=synthetic.HOSTILE, budget=30, width=12)
    rows = {row["node"]: row for row in evaluate("run.js", READ, value)[0]["rows"]}
    lines, node = list[str](), len(trace.rounds[0].tree.tokens) - 1
    here = node
    while here > 0:
        lines.insert(0, rows[here]["formula"])
        here = rows[here]["parent"]
    total = evaluate(
        "format.js", "logic.fill(...data)", [json.loads(value["head"])["sum"], rows[node]]
    )
    assert (*lines, total) == formula(trace, 0, node)
