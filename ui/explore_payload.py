"""What the page "Explore" receives: per round its figures, rows and text, and one head for the
whole run.

``assets/player`` reads exactly these fields.
"""

import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from presto.records import Method, Recording, Trace, to_json
from presto.records.measures import Totals
from presto.runs.events import GrowingRun, RoundDecoded, RunEvent, RunStarted, events_of
from presto.runs.variants import TITLES
from ui.challenges import answers
from ui.kept_runs import keep
from ui.payload import Badge, State, Value, dump, sent, without_points
from ui.round_payload import SHARED, drawn, replay_json, result_charts, round_json
from ui.what_if_controls import controls, values_of
from viz.alternatives import Replay, replay
from viz.charts import RUN_CHARTS
from viz.numbers import ENDS, numbers, place, settings, stage_shares
from viz.progress import progress
from viz.speedup import SpeedupInfo, SpeedupPoints, _get_speedup_plot, speed_in_words
from viz.timeline import blind_counts, round_bar
from viz.view import RoundView, RunView

FIRST = 2  # rounds of the run that the page itself carries
LATER = "Known when the run is over."
SHOWN: dict[Method, int] = {"presto": 0, "presto+": 1}  # what is shown first
# Linear is compared with the rest.
ORDER: tuple[Method, ...] = ("presto", "presto+", "ar", "blind", "linear")


def opening(value: Value) -> Value:
    """The beginning of a run's ``value``, small enough to be part of the page; the whole value has
    to follow.
    """
    head = json.loads(value["head"]) | {"state": "loading"}
    parts = {name: value[name][:FIRST] for name in ("rounds", "replays")}
    return value | {"head": dump(head)} | parts


@dataclass
class ExplorePayload:
    """One run on its way to the page: ``take`` its events, send the ``value``.

    The first lane is the one shown. Its rounds are built once, when they come, and what a new round
    costs does not depend on how many there are.
    """

    badge: Badge
    title: str
    note: str = ""
    link: dict[str, str] = field(default_factory=dict)  # query parameters that bring this run back
    record: str = ""  # where the run's file lies, if it is one
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    lanes: list[GrowingRun] = field(default_factory=list)
    rounds: list[str] = field(default_factory=list)
    bars: list[str] = field(default_factory=list)  # of the timeline, one per round
    rest: bytes = b""  # of the text: a character that the next round completes
    speedup: SpeedupPoints | None = None
    speedup_base: str = ""  # its figure without points
    points: list[str] = field(default_factory=list)

    def take(self, lane: int, event: RunEvent) -> None:
        """Take what the lane of that number, in the order of their starts, has told."""
        if isinstance(event, RunStarted):
            assert lane == len(self.lanes), "lanes start one after another"
            self.lanes.append(GrowingRun(event.head))
            self._draw_speedup()
            return
        run = self.lanes[lane]
        run.add(event)
        if lane == 0:
            self._add_round(run, event)
        if run.head.method == "linear" and (lane > 0 or event.finish is not None):
            self._add_points(run)

    def _add_round(self, run: GrowingRun, event: RoundDecoded) -> None:
        view = RoundView(event.round, run.pieces, run.head.config, run.finish, self.rest)
        self.rounds.append(round_json(view))
        self.bars.append(dump(round_bar(event.round)))
        self.rest = view.text.rest

    def _add_points(self, linear: GrowingRun) -> None:
        if self.speedup is None:
            ar = next((run.trace() for run in self.lanes if run.head.method == "ar"), None)
            self.speedup = SpeedupPoints(self.lanes[0].trace(), ar)
        before = len(self.points)
        self.points += [dump(point) for point in self.speedup.extend(linear.clock)]
        if self.points and not before:
            self._draw_speedup()

    def _draw_speedup(self) -> None:
        info = self.speedup.info if self.speedup else SpeedupInfo(0, (), False, False)
        self.speedup_base = dump(sent(without_points(_get_speedup_plot(info, 0))))

    def progress(self) -> str:
        """How far the newest lane is, in a sentence."""
        shown, newest = self.lanes[0], self.lanes[-1]
        title = TITLES[newest.head.method]
        if newest is shown:
            return progress(f"Decoding, {title}", newest.totals, shown.head.config.max_new_tokens)
        return progress(
            f"The same with {title}, to compare", newest.totals, shown.totals.tokens, True
        )

    @property
    def others(self) -> dict[Method, Totals]:
        """The sums of the lanes beside the one shown."""
        return {run.head.method: run.totals for run in self.lanes[1:]}

    def value(self, state: State = "done", message: str = "") -> Value:
        """The payload. ``message`` is a sentence about what happens now or went wrong."""
        head = SHARED | {
            "controls": controls(),
            "badge": self.badge,
            "title": self.title,
            "note": self.note,
            "state": state,
            "message": message,
            "rounds": len(self.rounds),
            "link": self.link,
        }
        replays, record = list[str](), self.record
        if self.lanes:
            head |= self._numbers()
        if self.lanes and state == "done":
            traces = [run.trace() for run in self.lanes]
            found = replay(traces[0])
            replays = [replay_json(one) for one in found.rounds]
            record = record or to_json(Recording(self.title, self.note, tuple(traces))).decode()
            head |= self._result(traces, found)
            head["charts_of_run"] |= result_charts(traces[0], found)
            if not found.problem and not self.record:
                keep(self.key, traces[0])
        return {
            "key": self.key,
            "head": dump(head),
            "rounds": [*self.rounds],
            "bars": [*self.bars],
            "replays": replays,
            "speedup": self.speedup_base,
            "points": [*self.points],
            "record": record,
        }

    def _numbers(self) -> dict[str, Any]:
        """The head's part that changes with every round, and what is known from the start."""
        run, linear = self.lanes[0], self.others.get("linear")
        method = run.head.method
        return {
            "method": TITLES[method],
            "numbers": numbers(run.totals, self.others),
            "stages": stage_shares(run.totals),
            "place": place(run.head),
            "settings": settings(run.head),
            "charts_of_run": drawn(RUN_CHARTS, RunView(run.head, run.totals)),
            "lambda": run.head.config.lam,
            "speed": speed_in_words(method, run.totals, linear) if linear else "",
            "ending": "",
            "answers": {},
            "blind": [],
            "absent": LATER,
            "own": None,
        }

    def _result(self, traces: list[Trace], found: Replay) -> dict[str, Any]:
        """The head's part that is known when the run is over."""
        shown, linear = self.lanes[0], self.others.get("linear")
        ran = next((trace for trace in traces[1:] if trace.method == "linear"), None)
        return {
            "speed": speed_in_words(shown.head.method, shown.totals, linear),
            "ending": ENDS[shown.finish],
            "answers": answers(traces[0], ran, found.rounds),
            "blind": blind_counts(found.rounds),
            "absent": found.problem,
            "own": None if found.problem else values_of(shown.head.config),
        }


def shown_first(recording: Recording) -> Trace:
    """The run that is shown of a recording, beside which the others are compared."""
    return min(recording.traces, key=lambda trace: SHOWN.get(trace.method, len(SHOWN)))


def value_of(
    recording: Recording, badge: Badge, link: dict[str, str] | None = None, file: str = ""
) -> Value:
    """The value of a recording; one in a file is known by the file's name."""
    payload = ExplorePayload(badge, recording.title, recording.note, link or {}, file)
    payload.key = Path(file).name or payload.key
    first = shown_first(recording)
    others = [trace for trace in recording.traces if trace is not first]
    others.sort(key=lambda trace: ORDER.index(trace.method))
    for lane, trace in enumerate([first, *others]):
        for event in events_of(trace):
            payload.take(lane, event)
    return payload.value()
