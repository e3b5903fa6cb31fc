"""Numbers that follow from a trace: acceptance length, speed, overhead, speed-up. Pure functions,
nothing stored.

Times are sums of the rounds' stages; prefill is the same work for every method and is left out.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from itertools import accumulate

from presto.records import Round, Stages, Trace


@dataclass(frozen=True)
class Totals:
    """Sums over a run's rounds so far, and what follows from them."""

    rounds: int = 0
    tokens: int = 0  # committed
    forwards: int = 0
    seconds: float = 0.0
    stages: Stages = field(default_factory=Stages)

    def plus(self, round_: Round) -> "Totals":
        """The sums after one more round."""
        spent = zip(astuple(self.stages), astuple(round_.seconds), strict=True)
        return Totals(
            self.rounds + 1,
            self.tokens + len(round_.committed),
            self.forwards + round_.forwards,
            self.seconds + round_seconds(round_),
            Stages(*(before + more for before, more in spent)),
        )

    @property
    def acceptance_length(self) -> float:
        """τ: mean committed tokens per round; 0 without a round."""
        return self.tokens / self.rounds if self.rounds else 0.0

    @property
    def tokens_per_second(self) -> float:
        """Committed tokens per second of decoding; 0 before anything was measured."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    @property
    def tokens_per_forward(self) -> float:
        """Committed tokens per model pass, the drafting passes of self-speculation counted too."""
        return self.tokens / self.forwards if self.forwards else 0.0

    @property
    def overhead_share(self) -> float:
        """(score + search + mask) / round time: what the tree costs beside the model passes (paper:
        under 4 %).
        """
        tree = self.stages.score + self.stages.search + self.stages.mask
        return tree / self.seconds if self.seconds > 0 else 0.0

    def speedup_over(self, baseline: "Totals") -> float | None:
        """The ratio of the two runs' tokens per second; ``None`` while one of them has none."""
        own, other = self.tokens_per_second, baseline.tokens_per_second
        return own / other if own > 0 and other > 0 else None


def totals(trace: Trace) -> Totals:
    """The sums over all rounds of ``trace``."""
    sums = Totals()
    for round_ in trace.rounds:
        sums = sums.plus(round_)
    return sums


def acceptance_length(trace: Trace) -> float:
    """τ: mean committed tokens per round (accepted drafts, bonus and exact token); 0 without a
    round.
    """
    return totals(trace).acceptance_length


def len_committed(trace: Trace) -> int:
    """Tokens of output so far."""
    return sum(len(round_.committed) for round_ in trace.rounds)


def output_ids(trace: Trace) -> list[int]:
    """All tokens of output so far."""
    return [token for round_ in trace.rounds for token in round_.committed]


def spelled_output(trace: Trace) -> str:
    """The output's tokens spelled by their pieces, without the one that ended the text.

    The tokenizer's own decoding may differ: in spaces of some vocabularies, in control tokens.
    """
    ids = output_ids(trace)[: -1 if trace.finish == "eos" else None]
    pieces = (trace.pieces[token] for token in ids)
    data = b"".join(p.encode() if isinstance(p, str) else bytes(p) for p in pieces)
    return data.decode(errors="replace")


def committed_counts(trace: Trace) -> list[int]:
    """Tokens of output after each round."""
    return list(accumulate(len(round_.committed) for round_ in trace.rounds))


def round_seconds(round_: Round) -> float:
    """Seconds of one round, all stages together."""
    return float(sum(astuple(round_.seconds)))


def elapsed_seconds(trace: Trace) -> list[float]:
    """Seconds since the end of prefill after each round."""
    return list(accumulate(round_seconds(round_) for round_ in trace.rounds))


def total_seconds(trace: Trace) -> float:
    """Seconds of all rounds."""
    return totals(trace).seconds


def tokens_per_second(trace: Trace) -> float:
    """Committed tokens per second of decoding; 0 before anything was measured."""
    return totals(trace).tokens_per_second


def tokens_per_forward(trace: Trace) -> float:
    """Committed tokens per model pass, the drafting passes of self-speculation counted too."""
    return totals(trace).tokens_per_forward


def stage_totals(trace: Trace) -> Stages:
    """Seconds per stage, summed over the rounds."""
    return totals(trace).stages


def overhead_share(trace: Trace) -> float:
    """(score + search + mask) / round time: what the tree costs beside the model passes (paper:
    under 4 %).
    """
    return totals(trace).overhead_share


@dataclass
class Clock:
    """How far a run was when: ``tokens[i]`` and ``seconds[i]`` after ``i`` rounds, from 0 on."""

    tokens: list[int] = field(default_factory=lambda: [0])
    seconds: list[float] = field(default_factory=lambda: [0.0])

    @classmethod
    def of(cls, trace: Trace) -> "Clock":
        """The clock of a run's rounds so far."""
        clock = cls()
        for round_ in trace.rounds:
            clock.tick(round_)
        return clock

    def tick(self, round_: Round) -> None:
        """Add the next round."""
        self.tokens.append(self.tokens[-1] + len(round_.committed))
        self.seconds.append(self.seconds[-1] + round_seconds(round_))

    def seconds_at(self, count: int) -> float | None:
        """When the run had committed ``count`` tokens, as if evenly inside its rounds; ``None`` if
        it is not that far.
        """
        return self._at(count, self.seconds.__getitem__)

    def rounds_at(self, count: int) -> float | None:
        """After how many rounds that was."""
        return self._at(count, float)

    def _at(self, count: int, reading: Callable[[int], float]) -> float | None:
        place = bisect_left(self.tokens, count)
        if place == len(self.tokens):
            return None
        if self.tokens[place] == count:
            return reading(place)
        low, high = reading(place - 1), reading(place)
        slope = (high - low) / (self.tokens[place] - self.tokens[place - 1])
        return slope * (count - self.tokens[place - 1]) + low


def cumulative_speedup(trace: Trace, baseline: Trace) -> list[float | None]:
    """Per round of ``trace``: the time ``baseline`` took for as many tokens, divided by the time of
    ``trace``.

    The baseline's clock runs evenly inside its rounds. ``None`` where the baseline has not
    committed that many tokens.
    """
    own, other = Clock.of(trace), Clock.of(baseline)
    return _ratios(map(other.seconds_at, own.tokens[1:]), own.seconds[1:])


def cumulative_pass_ratio(trace: Trace, baseline: Trace) -> list[float | None]:
    """The same ratio on a clock of rounds, i.e. verification passes: the speed-up if all passes
    cost alike.
    """
    own, other = Clock.of(trace), Clock.of(baseline)
    return _ratios(map(other.rounds_at, own.tokens[1:]), range(1, len(own.tokens)))


def _ratios(theirs: Iterable[float | None], own: Sequence[float]) -> list[float | None]:
    pairs = zip(theirs, own, strict=True)
    return [other / mine if other is not None and mine > 0 else None for other, mine in pairs]


def speedup(trace: Trace, baseline: Trace) -> float | None:
    """The ratio of the two runs' tokens per second; ``None`` while one of them has none."""
    return totals(trace).speedup_over(totals(baseline))
