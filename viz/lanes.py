"""What the comparison page receives: the lanes' texts by round, their figures, and where they
part.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from presto.records import Recording, Trace
from presto.records.measures import committed_counts
from viz.compare import LaneRow, lane_names, lane_table, lanes_figure, next_difference
from viz.rivals import rivals_of
from viz.text import round_texts, running
from viz.theme import dark_of_light
from viz.visit import State

Badge = Literal["recorded", "live"]
ORDER = ("ar", "linear", "blind", "presto")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _cells(row: LaneRow) -> dict[str, str]:
    return {
        "scorer": row.scorer,
        "τ": f"{row.tau:.2f}",
        "tokens/s": f"{row.tokens_per_second:.1f}",
        "over the first lane": "–" if row.ratio is None else f"{row.ratio:.2f}×",
        "text": row.text,
    }


def differences(traces: Sequence[Trace]) -> list[int]:
    """Output positions (from 0) at which a round begins in one drafting lane but not in another."""
    found, position = list[int](), -1
    while (following := next_difference(traces, position)) is not None:
        found.append(following)
        position = following
    return found


def lane_json(name: str, trace: Trace, row: LaneRow, over: bool) -> str:
    """One lane: its figures, where its rounds end (in output tokens), and the text of each round.

    When the run is ``over`` also what each other scorer would have committed at the state of each
    round, as ``[name, tokens, whether the run's own]``.
    """
    units = [
        [[running(unit.text), unit.kind, unit.nodes] for unit in text.units]
        for text in round_texts(trace)
    ]
    body = {"name": name, "cells": _cells(row), "ends": committed_counts(trace), "rounds": units}
    found = rivals_of(trace) if over else []
    body["rivals"] = [
        [[rival.name, rival.committed, rival.own] for rival in rivals] for rivals in found
    ]
    return _dump(body)


@dataclass
class SideBySide:
    """Several lanes on their way to the page: ``take`` each lane's growing trace, send the
    ``value``.
    """

    badge: Badge
    title: str
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    lanes: dict[str, Trace] = field(default_factory=dict)

    def take(self, name: str, trace: Trace) -> None:
        """The newest state of the lane called ``name``."""
        self.lanes[name] = trace

    def value(self, state: State = "done", message: str = "") -> dict[str, Any]:
        """The payload. ``message`` is a sentence about what happens now or went wrong."""
        traces = list(self.lanes.values())
        head = {
            "badge": self.badge,
            "title": self.title,
            "state": state,
            "message": message,
            "differences": differences(traces) if state == "done" else [],
            "dark": dark_of_light(),
        }
        rows = zip(self.lanes, traces, lane_table(traces) if traces else [], strict=True)
        lanes = [lane_json(name, trace, row, state == "done") for name, trace, row in rows]
        return {
            "key": self.key,
            "head": _dump(head),
            "lanes": lanes,
            "clock": lanes_figure(traces).to_json(),
        }


def side_by_side(recording: Recording) -> dict[str, Any]:
    """The payload of a recording's lanes, plain decoding first."""
    traces = sorted(recording.traces, key=lambda trace: ORDER.index(trace.method))
    show = SideBySide("recorded", recording.title)
    for name, trace in zip(lane_names(traces), traces, strict=True):
        show.take(name, trace)
    return show.value()
