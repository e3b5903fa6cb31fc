"""What a run tells while it goes on, as plain data that can be pickled.

A thread of this process, a worker that was forked from it and another process tell the same: the
run's head once, then every round as it comes. Whoever shows a run keeps of that what it needs; a
whole ``Trace`` is put together, and checked, once: at the end.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from presto.records import Finish, Piece, Round, Trace
from presto.records.measures import Clock, Totals


@dataclass(frozen=True)
class RunStarted:
    """The prompt has been read. ``head`` is the run's trace without any round.

    Its pieces are at least those of the prompt, its ``finish`` is ``stopped``.
    """

    head: Trace


@dataclass(frozen=True)
class RoundDecoded:
    """The run's next round.

    ``pieces`` are those of the round's tokens that no event before has brought. ``finish`` says why
    the run is over; it is ``None`` while another round follows. ``output`` is the whole text, told
    at the end.
    """

    round: Round
    pieces: dict[int, Piece]
    finish: Finish | None = None
    output: str = ""


RunEvent = RunStarted | RoundDecoded


@dataclass(frozen=True)
class DeviceMeasured:
    """What passes cost on the device is measured now, before the run starts; no part of the run."""


@dataclass
class GrowingRun:
    """A run so far. To add a round costs the same however many there are."""

    head: Trace
    rounds: list[Round] = field(default_factory=list)
    pieces: dict[int, Piece] = field(default_factory=dict)
    finish: Finish = "stopped"  # closing a run early leaves it so
    output: str = ""
    totals: Totals = field(default_factory=Totals)
    clock: Clock = field(default_factory=Clock)
    _trace: Trace | None = None  # the record, until another round comes

    def __post_init__(self) -> None:
        self.pieces |= self.head.pieces

    def add(self, event: RoundDecoded) -> None:
        """Add the next round."""
        self._trace = None
        self.rounds.append(event.round)
        self.pieces |= event.pieces
        self.finish, self.output = event.finish or "stopped", event.output
        self.totals = self.totals.plus(event.round)
        self.clock.tick(event.round)

    def trace(self) -> Trace:
        """The run so far as a checked record, made when it is asked for."""
        if self._trace is None:
            self._trace = replace(
                self.head,
                rounds=tuple(self.rounds),
                pieces=dict(self.pieces),
                finish=self.finish,
                output=self.output,
            )
        return self._trace


def events_of(trace: Trace) -> Iterator[RunEvent]:
    """What the run of ``trace`` told, all pieces at its start."""
    yield RunStarted(replace(trace, rounds=(), finish="stopped", output=""))
    yield from (RoundDecoded(round_, {}) for round_ in trace.rounds[:-1])
    for last in trace.rounds[-1:]:
        yield RoundDecoded(last, {}, trace.finish, trace.output)


def collected(
    events: Iterable[RunEvent], enough: Callable[[GrowingRun], bool] = lambda run: False
) -> Trace:
    """The whole run as a record, or what there is of it when ``enough`` says so, which is asked
    after every event. ``ValueError`` if it never started.
    """
    run: GrowingRun | None = None
    for event in events:
        if isinstance(event, RunStarted):
            run = GrowingRun(event.head)
        else:
            assert run is not None, "a run starts before its first round"
            run.add(event)
        if enough(run):
            break
    if run is None:
        raise ValueError("a run without any event has no trace")
    return run.trace()
