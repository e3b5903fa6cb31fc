"""The charts of a round, or of its run, that the page shows as tabs, in their order.

A new chart is a function that selects, one that draws, a ``CHART`` beside them, and its name here.
"""

from collections.abc import Sequence
from typing import Any

from presto.runs.counterfactuals import Alternative
from viz import alternatives, budget, ends, marginals, prediction, scores, stopping
from viz.ends import EndedRun
from viz.plot import Chart
from viz.view import RoundView, RunView

# Drawn as soon as a round is there.
ROUND_CHARTS: tuple[Chart[RoundView, Any], ...] = (
    scores.CHART,
    prediction.CHART,
    marginals.CHART,
    stopping.CHART,
)
# Drawn when the run is over, from what other settings would have committed in the round.
REPLAY_CHARTS: tuple[Chart[Sequence[Alternative], Any], ...] = (alternatives.CHART,)
# Drawn for the whole run, when it is over.
RESULT_CHARTS: tuple[Chart[EndedRun, Any], ...] = (ends.CHART,)
# Drawn for the whole run, again with every round.
RUN_CHARTS: tuple[Chart[RunView, Any], ...] = (budget.CHART,)
