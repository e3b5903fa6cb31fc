"""The page "Bench": result files of ``presto bench``, those that come with the project or one that
is pasted.
"""

from pathlib import Path
from typing import Any

from presto.paths import ASSETS
from viz.bench import histogram_figure, overhead_figure, speed_figure, tau_figure, where_line
from viz.results import parse_result
from viz.theme import dark_of_light

FIGURES = {
    "tau": tau_figure,
    "speed": speed_figure,
    "histogram": histogram_figure,
    "overhead": overhead_figure,
}
FOLDER = ASSETS / "benchmarks"
NONE = "No result file here yet: paste one."


def results() -> dict[str, Path]:
    """``title -> file`` of the bundled results; a file's name is its title."""
    return {path.stem.replace("-", " "): path for path in sorted(FOLDER.glob("*.json"))}


def show_result(text: str, badge: str = "pasted") -> dict[str, Any]:
    """The figures of a result file, or one sentence that says what is wrong with it."""
    try:
        result = parse_result(text)
    except ValueError as error:
        return {
            "badge": "",
            "where": "",
            "message": f"{str(error)[:1].upper()}{str(error)[1:]}.",
            "figures": {},
        }
    figures = {name: figure(result).to_json() for name, figure in FIGURES.items()}
    return {
        "badge": badge,
        "where": where_line(result),
        "message": "",
        "figures": figures,
        "dark": dark_of_light(),
    }


def open_result(title: str) -> dict[str, Any]:
    """A bundled result."""
    known = results()
    if title not in known:
        return {"badge": "", "where": "", "message": NONE, "figures": {}}
    return show_result(known[title].read_text(encoding="utf-8"), "recorded")
