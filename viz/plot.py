"""A figure as the plain data that Plotly draws, and a chart of the page: a figure with what
is said of it.

The page sends this data as it is. ``plotly.graph_objects`` checks every property of it, which costs
some fifteen times as much as making it; a notebook gets such a checked figure, and the tests make
one of every plot.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import plotly.graph_objects as go

from viz.theme import Palette, base_layout, note

Source = TypeVar("Source")
Info = TypeVar("Info")
Rows = tuple[tuple[str, ...], ...]  # of a table, the first its headings


class Plot(NamedTuple):
    """Traces, each with its ``type``, and the layout, by Plotly's own property names."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]

    def figure(self) -> go.Figure:
        """The same as a checked figure. Without a template of Plotly's, the layout is all there
        is.
        """
        return go.Figure(self.data, {**self.layout, "template": "none"})


def scatter(**settings: Any) -> dict[str, Any]:
    """A trace of lines, marks or both."""
    return {"type": "scatter", **settings}


def bars(**settings: Any) -> dict[str, Any]:
    """A trace of bars."""
    return {"type": "bar", **settings}


def heatmap(**settings: Any) -> dict[str, Any]:
    """A trace of shaded cells."""
    return {"type": "heatmap", **settings}


def empty_plot(palette: Palette, text: str) -> Plot:
    """A figure without anything to draw, and the sentence that says why."""
    hidden = {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    return Plot([], base_layout(palette) | hidden | {"annotations": [note(palette, text)]})


def no_remark(info: object) -> str:
    """For a chart that needs no sentence beside it."""
    return ""


def no_rows(info: object) -> Rows:
    """For a chart of the nodes, which have a table of their own."""
    return ()


class Drawn(NamedTuple):
    """A chart's figure, the remark under it, and the same numbers as a table."""

    plot: Plot
    remark: str
    rows: Rows


@dataclass(frozen=True)
class Chart(Generic[Source, Info]):
    """A figure of one round or run as a tab of the page, with all that the page says around it.

    ``info`` selects what is drawn, ``plot`` draws it, ``sentence`` is the remark under it, ``rows``
    are the same numbers as a table.
    """

    name: str  # in what is sent to the page
    title: str  # of its tab
    lead: str  # what it shows, beside the panel's heading
    label: str  # what it shows, for those who cannot see it
    info: Callable[[Source], Info]
    plot: Callable[[Info], Plot]
    sentence: Callable[[Info], str] = no_remark
    rows: Callable[[Info], Rows] = no_rows

    @property
    def about(self) -> dict[str, str]:
        """What the page says of it."""
        return {
            "name": self.name,
            "title": self.title,
            "lead": self.lead,
            "label": self.label,
        }

    def drawn(self, source: Source) -> Drawn:
        """The figure with its remark and table."""
        info = self.info(source)
        return Drawn(self.plot(info), self.sentence(info), self.rows(info))
