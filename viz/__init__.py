"""Figures of a trace, for the page and for notebooks: ``viz.tree_figure(trace, round=3)``. No
model, no server.
"""

from viz.bench import histogram_figure, overhead_figure, speed_figure, tau_figure
from viz.compare import aligned_rounds, lane_table, lanes_figure, next_difference
from viz.formula import formula
from viz.marginals import marginals_figure
from viz.prediction import prediction_figure
from viz.results import BenchResult, parse_result
from viz.rivals import rivals_figure, rivals_of, rivals_total_figure
from viz.scores import scores_figure
from viz.speedup import speed_sentence, speedup_figure
from viz.stopping import stopping_figure, stopping_sentence
from viz.tree import tree_figure

__all__ = [
    "BenchResult",
    "aligned_rounds",
    "formula",
    "histogram_figure",
    "lane_table",
    "lanes_figure",
    "marginals_figure",
    "next_difference",
    "overhead_figure",
    "parse_result",
    "prediction_figure",
    "rivals_figure",
    "rivals_of",
    "rivals_total_figure",
    "scores_figure",
    "speed_figure",
    "speed_sentence",
    "speedup_figure",
    "stopping_figure",
    "stopping_sentence",
    "tau_figure",
    "tree_figure",
]
