"""Figures of a trace, for the page and for notebooks: ``viz.tree_figure(trace, round=3)``. No
model, no server.
"""

from presto.benchmarks.results import BenchResult, parse_result
from viz.alternatives import alternatives_figure, alternatives_of, alternatives_total_figure
from viz.bench import (
    ends_by_method_figure,
    histogram_figure,
    overhead_figure,
    speed_figure,
    tau_figure,
)
from viz.budget import budget_figure, budget_sentence
from viz.ends import ends_figure, ends_sentence
from viz.formula import formula
from viz.lane_rows import aligned_rounds, lane_rows, next_difference
from viz.lanes import lanes_figure
from viz.marginals import marginals_figure
from viz.prediction import prediction_figure
from viz.replayed import replayed_figure
from viz.rounds import rounds_figure
from viz.scores import scores_figure
from viz.speedup import speed_sentence, speedup_figure
from viz.stopping import stopping_figure, stopping_sentence
from viz.sweep import sweep_figure
from viz.tree import tree_figure
from viz.two_trees import two_trees_figure

__all__ = [
    "BenchResult",
    "aligned_rounds",
    "alternatives_figure",
    "alternatives_of",
    "alternatives_total_figure",
    "budget_figure",
    "budget_sentence",
    "ends_by_method_figure",
    "ends_figure",
    "ends_sentence",
    "formula",
    "histogram_figure",
    "lane_rows",
    "lanes_figure",
    "marginals_figure",
    "next_difference",
    "overhead_figure",
    "parse_result",
    "prediction_figure",
    "replayed_figure",
    "rounds_figure",
    "scores_figure",
    "speed_figure",
    "speed_sentence",
    "speedup_figure",
    "stopping_figure",
    "stopping_sentence",
    "sweep_figure",
    "tau_figure",
    "tree_figure",
    "two_trees_figure",
]
