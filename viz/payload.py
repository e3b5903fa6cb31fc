"""What the player in the page receives: per round its figures, rows and text, and one head for the whole run.

Every part is a JSON string of its own, so that a growing run is sent as what was added, and the page parses a round
only when it is shown. ``assets/player`` reads exactly these fields.
"""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from presto.records import Method, Recording, Trace, to_json
from viz.nodes import Node, node_rows, round_sentence
from viz.numbers import NAMES, ending, numbers, place, settings, stage_shares
from viz.scores import _get_scores_info, _get_scores_plot
from viz.speedup import _get_speedup_info, _get_speedup_plot
from viz.text import round_texts, running
from viz.theme import dark_of_light
from viz.tree import FAN, _get_tree_info, _get_tree_plot, probability_text

Badge = Literal["recorded", "live"]


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _row(node: Node) -> list[Any]:
    """A row's values in the order of ``Node._fields``, which the head names once."""
    values = node._asdict() | {"probability": probability_text(node.probability)}
    return list(values.values())


def round_json(trace: Trace, index: int) -> str:
    """One round, complete: sentence, rows, both figures, text units."""
    text = round_texts(trace)[index]
    tree, scores = _get_tree_info(trace, index), _get_scores_info(trace, index)
    body = {
        "sentence": round_sentence(trace, index),
        "rows": [_row(node) for node in node_rows(trace, index)],
        "units": [[running(unit.text), unit.kind, unit.nodes] for unit in text.units],
        "pending": text.pending,
    }
    figures = f'"tree":{_get_tree_plot(tree).to_json()},"scores":{_get_scores_plot(scores).to_json()}'
    return f"{_dump(body)[:-1]},{figures}}}"


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
        """Take the newest state of a lane. The first lane is the one shown; its rounds are built once and kept."""
        if self.trace is None or self.trace.method == trace.method:
            self.trace = trace
            self.rounds += [round_json(trace, index) for index in range(len(self.rounds), len(trace.rounds))]
        else:
            self.others[trace.method] = trace

    def value(self, state: Literal["running", "done"] = "done", message: str = "") -> dict[str, Any]:
        """The payload. ``message`` is a sentence about what happens now or went wrong."""
        head: dict[str, Any] = {
            "badge": self.badge,
            "title": self.title,
            "note": self.note,
            "state": state,
            "message": message,
            "link": self.link,
        }
        trace, linear = self.trace, self.others.get("linear")
        if trace is None:
            return {"key": self.key, "head": _dump(head), "rounds": [], "speedup": "", "record": ""}
        head |= {
            "method": NAMES[trace.method],
            "numbers": numbers(trace, self.others),
            "stages": stage_shares(trace),
            "place": place(trace),
            "settings": settings(trace),
            "ending": ending(trace) if state == "done" else "",
            "lambda": trace.config.lam,
            "columns": Node._fields,
            "dark": dark_of_light(),
            "fan": FAN,
        }
        figure = _get_speedup_plot(_get_speedup_info(trace, linear), 0)
        return {
            "key": self.key,
            "head": _dump(head),
            "rounds": list(self.rounds),
            "speedup": figure.to_json(),
            "record": self.record or (self._json() if state == "done" else ""),
        }

    def _json(self) -> str:
        """A run that is over, all lanes, as the file that ``presto record`` would have written."""
        assert self.trace is not None
        whole = Recording(self.title, self.note, (self.trace, *self.others.values()))
        return to_json(whole).decode()
