"""The page "Bench": result files of ``presto bench``, those that come with the project or one that
is pasted.
"""

from pathlib import Path
from typing import Any

from presto.benchmarks.results import BenchResult, parse_result
from presto.paths import ASSETS
from ui.error_messages import sentence
from ui.payload import Badge, Value, dump, sent
from viz.bench import CHARTS
from viz.bench_info import where_line
from viz.plot import Chart
from viz.theme import dark_of_light

FOLDER = ASSETS / "benchmarks"
NONE = "No result file here yet: paste one."
EMPTY = "The result file has no figures."


def results() -> dict[str, Path]:
    """``title -> file`` of the bundled results; a file's name is its title."""
    return {path.stem.replace("-", " "): path for path in sorted(FOLDER.glob("*.json"))}


def _chart(chart: Chart[BenchResult, Any], result: BenchResult) -> dict[str, str] | None:
    """What is said of a chart, and its figure; none where the file has nothing for it."""
    plot = chart.drawn(result).plot
    return {**chart.about, "figure": dump(sent(plot))} if plot.data else None


def show_result(text: str, badge: Badge = "pasted") -> Value:
    """The figures of a result file, or one sentence that says what is wrong with it."""
    try:
        result = parse_result(text)
    except ValueError as error:
        return _nothing(f"{sentence(error)}.")
    charts = [drawn for chart in CHARTS if (drawn := _chart(chart, result))]
    return {
        "badge": badge,
        "where": where_line(result),
        "message": "" if charts else EMPTY,
        "charts": charts,
        "dark": dark_of_light(),
    }


def _nothing(message: str) -> Value:
    return {"badge": "", "where": "", "message": message, "charts": []}


def open_result(title: str) -> Value:
    """A bundled result."""
    known = results()
    if title not in known:
        return _nothing(NONE)
    return show_result(known[title].read_text(encoding="utf-8"), "recorded")
