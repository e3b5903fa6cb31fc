"""What the page "Explore" receives of a round, and the charts of a run: figures, rows, text."""

from typing import Any

from presto.records import Trace
from presto.runs.counterfactuals import Alternative
from ui.payload import dump, sent, units_of
from ui.table_rows import COLUMNS, table_rows
from viz.alternatives import Replay
from viz.charts import REPLAY_CHARTS, RESULT_CHARTS, ROUND_CHARTS, RUN_CHARTS
from viz.ends import ended_run
from viz.formula import SUM, level_lines
from viz.numbers import phases
from viz.plot import Chart
from viz.theme import dark_of_light
from viz.tree import FAN, _get_tree_info, _get_tree_plot
from viz.view import RoundView, round_sentence

# The same for all runs: the figures' colours on a dark page, the rows' columns, what is said of the
# charts.
SHARED: dict[str, Any] = {
    "dark": dark_of_light(),
    "columns": COLUMNS,
    "sum": SUM,
    "fan": FAN,
    "charts": [
        *(chart.about for chart in ROUND_CHARTS),
        *(chart.about for chart in REPLAY_CHARTS),
        *(chart.about for chart in RESULT_CHARTS),
        *(chart.about for chart in RUN_CHARTS),
    ],
}


def drawn(charts: tuple[Chart[Any, Any], ...], source: Any) -> dict[str, Any]:
    """Each chart's figure, remark and table (if it has one) by its name."""
    found = {chart.name: chart.drawn(source) for chart in charts}
    return {
        name: {"figure": sent(one.plot), "remark": one.remark}
        | ({"rows": one.rows} if one.rows else {})
        for name, one in found.items()
    }


def round_json(view: RoundView) -> str:
    """One round, complete: sentence, rows, text units, tree and charts."""
    return dump(
        {
            "sentence": round_sentence(view),
            "rows": table_rows(view, level_lines(view)),
            "units": units_of(view.text.units),
            "pending": view.text.pending,
            "phases": phases(view.round.seconds),
            "tree": sent(_get_tree_plot(_get_tree_info(view))),
            "charts": drawn(ROUND_CHARTS, view),
        }
    )


def replay_json(found: tuple[Alternative, ...]) -> str:
    """What other scorers would have had accepted at a round's state."""
    return dump({"charts": drawn(REPLAY_CHARTS, found)})


def result_charts(trace: Trace, found: Replay) -> dict[str, Any]:
    """The charts of a run that is over; none where no replay of it is exact."""
    return {} if found.problem else drawn(RESULT_CHARTS, ended_run(trace))
