"""What the payloads of the pages have in common.

Every part of a payload is a JSON string of its own. A run that grows only adds strings, which
Gradio sends as what was added, and the page parses a part when it is shown.
"""

import json
from typing import Any, Literal

from viz.plot import Plot
from viz.text import Unit, running

Value = dict[str, Any]  # of a page's component
# opened: from a visitor's file; replayed: trees of other settings at a run's own states
Badge = Literal["recorded", "live", "opened", "pasted", "replayed"]
State = Literal["loading", "running", "done"]
POINTS = ("x", "y", "customdata")


def dump(value: Any) -> str:
    """``value`` as compact JSON; ``ValueError`` for a number that is not finite."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def without_points(plot: Plot) -> Plot:
    """The plot of a figure whose points the page adds as they come."""
    return plot._replace(data=[{**trace, **{name: [] for name in POINTS}} for trace in plot.data])


def sent(plot: Plot) -> dict[str, Any]:
    """A figure as the page's Plotly takes it."""
    return plot._asdict()


def units_of(units: tuple[Unit, ...]) -> list[Any]:
    """The chips of a round's text: what each shows, how it came, its nodes."""
    return [[running(unit.text), unit.kind, unit.nodes] for unit in units]
