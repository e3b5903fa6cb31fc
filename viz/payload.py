"""What the player in the page receives: per round its figures, rows and text, and one head for the
whole run.

Every part is a JSON string of its own, so that a growing run is sent as what was added, and the
page parses a round only when it is shown. ``assets/player`` reads exactly these fields.
"""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from presto.records import Method, Piece, Recording, Trace, to_json
from presto.runs.counterfactuals import Rival
from viz.formula import SUM, decimal, level_lines
from viz.learn import answers
from viz.marginals import marginals_figure, marginals_sentence
from viz.nodes import Node, node_rows, round_sentence
from viz.numbers import NAMES, ending, numbers, phases, place, settings, stage_shares
from viz.prediction import prediction_figure, prediction_sentence
from viz.rivals import missing_nodes, only_own, rivals_figure, rivals_of, rivals_sentence
from viz.scores import scores_figure
from viz.speedup import _get_speedup_info, _get_speedup_plot, speed_sentence
from viz.stopping import stopping_figure, stopping_sentence
from viz.text import labels, path_text, round_texts, running
from viz.theme import dark_of_light
from viz.tree import FAN, probability_text, tree_figure
from viz.visit import State

SCORES = ("log_q", "log_rho", "blind", "aligned")
COLUMNS = (*(name for name in Node._fields if name != "label"), "labels", "line")
MISSING = 12  # nodes of the blind tree alone that a round names
FIRST = 2  # rounds of the run that the page itself carries
Badge = Literal["recorded", "live", "opened"]  # opened: from a visitor's file


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _row(node: Node, piece: Piece, line: str) -> list[Any]:
    """A row's values as the page shows them, in the order of ``COLUMNS``, which the head names
    once.
    """
    numbers = {name: getattr(node, name) for name in SCORES}
    values = node._asdict() | {
        **{name: None if value is None else decimal(value) for name, value in numbers.items()},
        "probability": probability_text(node.probability),
        "labels": labels(piece),
        "line": line,
    }
    return [values[name] for name in COLUMNS]


def round_json(trace: Trace, index: int) -> str:
    """One round, complete: sentence, rows, figures and the remarks beside them, text units."""
    text, lines = round_texts(trace)[index], level_lines(trace, index)
    body = {
        "sentence": round_sentence(trace, index),
        "rows": [
            _row(node, trace.pieces[node.token], lines.get(node.node, ""))
            for node in node_rows(trace, index)
        ],
        "units": [[running(unit.text), unit.kind, unit.nodes] for unit in text.units],
        "pending": text.pending,
        "phases": phases(trace.rounds[index].seconds),
        "remarks": {
            "prediction": prediction_sentence(trace, index),
            "marginals": marginals_sentence(trace, index),
            "stopping": stopping_sentence(trace, index),
        },
    }
    figures = {
        "tree": tree_figure(trace, index),
        "scores": scores_figure(trace, index),
        "prediction": prediction_figure(trace, index),
        "marginals": marginals_figure(trace, index),
        "stopping": stopping_figure(trace, index),
    }
    parts = ",".join(f'"{name}":{figure.to_json()}' for name, figure in figures.items())
    return f"{_dump(body)[:-1]},{parts}}}"


def _rivals_round(trace: Trace, found: list[tuple[Rival, ...]], index: int) -> str:
    """What other scorers would have had accepted at a round's state (``viz.rivals.rivals_of``)."""
    round_, rivals = trace.rounds[index], found[index]
    missing = missing_nodes(round_, rivals)[:MISSING]
    body = {
        "remark": rivals_sentence(rivals) if rivals else "",
        "only": only_own(round_, rivals),
        "missing": [
            [path_text([trace.pieces[token] for token in path], 48), rank] for path, rank in missing
        ],
    }
    return f'{_dump(body)[:-1]},"rivals":{rivals_figure(found, index).to_json()}}}'


def opening(value: dict[str, Any]) -> dict[str, Any]:
    """The beginning of a run's ``value``, small enough to be part of the page; the whole value has
    to follow.
    """
    head = json.loads(value["head"]) | {"state": "loading"}
    return value | {
        "head": _dump(head),
        "rounds": value["rounds"][:FIRST],
        "rivals": value["rivals"][:FIRST],
    }


@dataclass
class Show:
    """One run on its way to the page: ``take`` its growing traces, send the ``value``."""

    badge: Badge
    title: str
    note: str = ""
    link: dict[str, str] = field(default_factory=dict)  # query parameters that bring this run back
    record: str = ""  # where the run's file lies, if it is one
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    trace: Trace | None = None
    others: dict[Method, Trace] = field(default_factory=dict)
    rounds: list[str] = field(default_factory=list)

    def take(self, trace: Trace) -> None:
        """Take the newest state of a lane. The first lane is the one shown; its rounds are built
        once and kept.
        """
        if self.trace is None or self.trace.method == trace.method:
            self.trace = trace
            self.rounds += [
                round_json(trace, index) for index in range(len(self.rounds), len(trace.rounds))
            ]
        else:
            self.others[trace.method] = trace

    def value(self, state: State = "done", message: str = "") -> dict[str, Any]:
        """The payload. ``message`` is a sentence about what happens now or went wrong."""
        head: dict[str, Any] = {
            "badge": self.badge,
            "title": self.title,
            "note": self.note,
            "state": state,
            "message": message,
            "rounds": len(self.rounds),
            "link": self.link,
        }
        trace, linear = self.trace, self.others.get("linear")
        rivals = rivals_of(trace) if trace is not None and state == "done" else []
        if trace is None:
            return {
                "key": self.key,
                "head": _dump(head),
                "rounds": [],
                "rivals": [],
                "speedup": "",
                "record": "",
            }
        head |= {
            "method": NAMES[trace.method],
            "numbers": numbers(trace, self.others),
            "stages": stage_shares(trace),
            "place": place(trace),
            "settings": settings(trace),
            "ending": ending(trace) if state == "done" else "",
            "answers": answers(trace, linear, rivals) if state == "done" else {},
            "lambda": trace.config.lam,
            "columns": COLUMNS,
            "sum": SUM,
            "honest": speed_sentence(trace, linear) if linear or state == "done" else "",
            "dark": dark_of_light(),
            "fan": FAN,
        }
        figure = _get_speedup_plot(_get_speedup_info(trace, linear, self.others.get("ar")), 0)
        return {
            "key": self.key,
            "head": _dump(head),
            "rounds": list(self.rounds),
            "rivals": [_rivals_round(trace, rivals, index) for index in range(len(rivals))],
            "speedup": figure.to_json(),
            "record": self.record or (self._json() if state == "done" else ""),
        }

    def _json(self) -> str:
        """A run that is over, all lanes, as the file that ``presto record`` would have written."""
        assert self.trace is not None
        whole = Recording(self.title, self.note, (self.trace, *self.others.values()))
        return to_json(whole).decode()
