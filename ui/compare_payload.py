"""What the page "Compare" receives: the lanes' texts by round, their figures, and where they
part.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from presto.records import Recording, Trace, check_lanes
from presto.runs.events import GrowingRun, RoundDecoded, RunEvent, RunStarted, events_of
from ui.payload import Badge, State, Value, dump, sent, units_of, without_points
from viz.alternatives import alternatives_of
from viz.lane_rows import LaneRow, TextCheck, differences, lane_row, text_checks
from viz.lanes import (
    LaneCurve,
    LanesInfo,
    _get_lanes_plot,
    end_flag,
    lane_names,
    lane_styles,
)
from viz.progress import progress
from viz.small_trees import small_style, small_tree, small_tree_words
from viz.theme import dark_of_light
from viz.tree import FAN
from viz.view import RoundView

STYLE = small_style()
ORDER = ("ar", "linear", "blind", "presto", "presto+")


def _cells(row: LaneRow) -> dict[str, str]:
    return {
        "scorer": row.scorer,
        "draft": row.draft,
        "τ": f"{row.tau:.2f}",
        "tokens/s": f"{row.tokens_per_second:.1f}",
        "over the first lane": "–" if row.ratio is None else f"{row.ratio:.2f}×",
        "text": row.check.text,
    }


@dataclass
class GrowingLane:
    """One lane on its way to the page."""

    name: str
    run: GrowingRun
    rounds: list[str] = field(default_factory=list)
    rest: bytes = b""  # of the text: a character that the next round completes
    whole: Trace | None = None  # once it is over
    check: TextCheck = field(default_factory=TextCheck)

    def add(self, event: RoundDecoded) -> None:
        """Add a round: its text, and where and when it ends."""
        run = self.run
        run.add(event)
        view = RoundView(event.round, run.pieces, run.head.config, run.finish, self.rest)
        self.rest = view.text.rest
        body = {
            "units": units_of(view.text.units),
            "end": run.clock.tokens[-1],
            "seconds": run.clock.seconds[-1],
            "tree": small_tree(view)._asdict(),
            "words": small_tree_words(view),
        }
        self.rounds.append(dump(body))
        if event.finish is not None:
            self.end()

    def end(self) -> None:
        """The lane is over, or was stopped."""
        self.whole = self.whole or self.run.trace()

    def curve(self, style: tuple[str, str]) -> LaneCurve:
        """The lane on the clock."""
        flag = end_flag(self.name, self.whole, self.run.clock.seconds[-1])
        return LaneCurve(self.name, *style, self.run.clock, flag)

    def alternatives(self) -> str:
        """What each other scorer would have committed at the state of each round, as ``[name,
        tokens, whether the run's own]``.
        """
        found = alternatives_of(self.whole) if self.whole else []
        return dump([[[one.name, one.committed, one.own] for one in row] for row in found])


@dataclass
class ComparePayload:
    """Several lanes on their way to the page: ``take`` their events, send the ``value``.

    What a new round costs does not depend on how many there are.
    """

    badge: Badge
    title: str
    names: Sequence[str] = ()  # of the lanes, in the order of their starts
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    lanes: dict[str, GrowingLane] = field(default_factory=dict)
    clock: str = ""  # all lanes on one clock, without the points, which the rounds bring

    def __post_init__(self) -> None:
        self._draw_clock()

    def take(self, lane: int, event: RunEvent) -> None:
        """Take what the lane of that number has told. ``ValueError`` if it cannot be compared."""
        name = self.names[lane]
        if isinstance(event, RunStarted):
            check_lanes([*(one.run.head for one in self.lanes.values()), event.head])
            self.lanes[name] = GrowingLane(name, GrowingRun(event.head))
        else:
            self.lanes[name].add(event)
        if isinstance(event, RunStarted) or event.finish is not None:
            self._draw_clock()
            self._check_texts()

    def progress(self) -> str:
        """How far the newest lane is, in a sentence."""
        *done, newest = self.lanes.values()
        end = max((lane.run.totals.tokens for lane in done), default=0)
        most = newest.run.head.config.max_new_tokens
        what = f"Lane {1 + len(done)} of {len(self.names)}, {newest.name}"
        return progress(what, newest.run.totals, end or most, is_sure=bool(end))

    def _draw_clock(self) -> None:
        lanes = list(self.lanes.values())
        styles = lane_styles([lane.run.head.method for lane in lanes])
        curves = [lane.curve(style) for lane, style in zip(lanes, styles, strict=True)]
        plot = _get_lanes_plot(LanesInfo(tuple(curves), None))
        self.clock = dump(sent(without_points(plot)))

    def _check_texts(self) -> None:
        over = [lane for lane in self.lanes.values() if lane.whole]
        checks = text_checks([lane.whole for lane in over if lane.whole])
        for lane, check in zip(over, checks, strict=True):
            lane.check = check

    def value(self, state: State = "done", message: str = "") -> Value:
        """The payload. ``message`` is a sentence about what happens now or went wrong."""
        lanes, over = list(self.lanes.values()), state == "done"
        if over:
            for lane in lanes:
                lane.end()
            self._draw_clock()
            self._check_texts()
        head = {
            "badge": self.badge,
            "title": self.title,
            "state": state,
            "message": message,
            "differences": differences([lane.whole for lane in lanes if lane.whole])
            if over
            else [],
            "dark": dark_of_light(),
            "style": STYLE,
            "fan": FAN,
        }
        return {
            "key": self.key,
            "head": dump(head),
            "lanes": [self._sent(lane, over) for lane in lanes],
            "clock": self.clock,
        }

    def _sent(self, lane: GrowingLane, over: bool) -> dict[str, Any]:
        first = next(iter(self.lanes.values())).run.totals
        row = lane_row(lane.run.head, lane.run.totals, first, lane.check)
        return {
            "head": dump({"name": lane.name, "cells": _cells(row)}),
            "rounds": [*lane.rounds],
            "alternatives": lane.alternatives() if over else "[]",
        }


def recorded_value(recording: Recording) -> Value:
    """The payload of a recording's lanes, plain decoding first."""
    traces = sorted(recording.traces, key=lambda trace: ORDER.index(trace.method))
    names = lane_names([(trace.method, trace.config) for trace in traces])
    payload = ComparePayload("recorded", recording.title, names)
    for lane, trace in enumerate(traces):
        for event in events_of(trace):
            payload.take(lane, event)
    return payload.value()
