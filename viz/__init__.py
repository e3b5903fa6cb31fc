"""Figures of a trace, for the page and for notebooks: ``viz.tree_figure(trace, round=3)``. No model, no server."""

from viz.scores import scores_figure
from viz.speedup import speedup_figure
from viz.tree import tree_figure

__all__ = ["scores_figure", "speedup_figure", "tree_figure"]
