"""Every figure on every shape of trace: nothing drafted, a single round, one node, 512 nodes,
hostile tokens.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import plotly.graph_objects as go
import pytest

import viz
from presto.records import Trace
from presto.runs.counterfactuals import counterfactuals
from tests.support import synthetic
from viz.theme import DARK, LIGHT, Palette, dark_of_light

SHAPES = {
    "nothing drafted": synthetic.trace(1, rounds=1, budget=0, method="ar"),
    "one round": synthetic.trace(2, rounds=1, budget=12, width=8),
    "one node": synthetic.trace(3, rounds=2, budget=1, width=1),
    "512 nodes": synthetic.trace(4, rounds=2, budget=512, depth=15, width=32),
    "hostile": synthetic.trace(5, rounds=3, budget=24, pieces=synthetic.HOSTILE, width=20),
}
Figure = Callable[[Trace, Palette], go.Figure]


def _alternatives(draw: Callable[..., go.Figure]) -> Figure:
    def figure(trace: Trace, ink: Palette) -> go.Figure:
        return draw(list(counterfactuals(trace, None, vocab=100)), ink=ink)

    return figure


FIGURES: dict[str, Figure] = {
    "tree": lambda trace, ink: viz.tree_figure(trace, ink=ink),
    "upright tree": lambda trace, ink: viz.tree_figure(trace, ink=ink, vertical=True),
    "scores": lambda trace, ink: viz.scores_figure(trace, ink=ink),
    "prediction": lambda trace, ink: viz.prediction_figure(trace, ink=ink),
    "marginals": lambda trace, ink: viz.marginals_figure(trace, ink=ink),
    "stopping": lambda trace, ink: viz.stopping_figure(trace, ink=ink),
    "speed-up": lambda trace, ink: viz.speedup_figure(trace, trace, ink=ink),
    "lanes": lambda trace, ink: viz.lanes_figure([trace, trace], ink=ink),
    "no budget chosen": lambda trace, ink: viz.budget_figure(trace, ink=ink),
    "budget": lambda trace, ink: viz.budget_figure(
        replace(trace, tuning=synthetic.TUNING), ink=ink
    ),
    "alternatives": _alternatives(viz.alternatives_figure),
    "alternatives in all": _alternatives(viz.alternatives_total_figure),
}


def _texts(value: object) -> Sequence[str]:
    """All strings that Plotly would read as pseudo-HTML."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in _texts(part)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_every_shape(name: str, shape: str) -> None:
    figure = json.loads(FIGURES[name](SHAPES[shape], LIGHT).to_json())
    assert figure["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert figure["data"] or figure["layout"]["annotations"]  # a figure without data says why
    for ids in (trace["ids"] for trace in figure["data"] if "ids" in trace):
        assert len(set(ids)) == len(ids)  # of points with the same id Plotly draws only one
    assert not [
        text for text in _texts(figure) if "<img" in text or "<script" in text or "<svg" in text
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_the_dark_figure_is_the_light_one_with_every_colour_swapped(name: str) -> None:
    light, dark = (FIGURES[name](SHAPES["one round"], ink).to_json() for ink in (LIGHT, DARK))
    for ours, theirs in dark_of_light().items():
        light = light.replace(f'"{ours}"', f'"{theirs}"')
    assert json.loads(light) == json.loads(dark)
