"""Numbers that follow from a trace: acceptance length, speed, overhead, speed-up. Pure functions,
nothing stored.

Times are sums of the rounds' stages; prefill is the same work for every method and is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from itertools import accumulate

import numpy as np

from presto.records import Round, Stages, Trace


def acceptance_length(trace: Trace) -> float:
    """τ: mean committed tokens per round (accepted drafts, bonus and exact token); 0 without a
    round.
    """
    return len_committed(trace) / len(trace.rounds) if trace.rounds else 0.0


def len_committed(trace: Trace) -> int:
    """Tokens of output so far."""
    return sum(len(round_.committed) for round_ in trace.rounds)


def output_ids(trace: Trace) -> list[int]:
    """All tokens of output so far."""
    return [token for round_ in trace.rounds for token in round_.committed]


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
    return float(sum(round_seconds(round_) for round_ in trace.rounds))


def tokens_per_second(trace: Trace) -> float:
    """Committed tokens per second of decoding; 0 before anything was measured."""
    seconds = total_seconds(trace)
    return len_committed(trace) / seconds if seconds > 0 else 0.0


def tokens_per_forward(trace: Trace) -> float:
    """Committed tokens per model pass, the drafting passes of self-speculation counted too."""
    forwards = sum(round_.forwards for round_ in trace.rounds)
    return len_committed(trace) / forwards if forwards else 0.0


def stage_totals(trace: Trace) -> Stages:
    """Seconds per stage, summed over the rounds."""
    names = [field.name for field in fields(Stages)]
    return Stages(
        **{name: float(sum(getattr(r.seconds, name) for r in trace.rounds)) for name in names}
    )


def overhead_share(trace: Trace) -> float:
    """(score + search + mask) / round time: what the tree costs beside the model passes (paper:
    under 4 %).
    """
    totals, seconds = stage_totals(trace), total_seconds(trace)
    return (totals.score + totals.search + totals.mask) / seconds if seconds > 0 else 0.0


def cumulative_speedup(trace: Trace, baseline: Trace) -> list[float | None]:
    """Per round of ``trace``: the time ``baseline`` took for as many tokens, divided by the time of
    ``trace``.

    The baseline's clock runs evenly inside its rounds. ``None`` where the baseline has not
    committed that many tokens.
    """
    return _ratio(trace, baseline, elapsed_seconds)


def cumulative_pass_ratio(trace: Trace, baseline: Trace) -> list[float | None]:
    """The same ratio on a clock of rounds, i.e. verification passes: the speed-up if all passes
    cost alike.
    """
    return _ratio(trace, baseline, lambda run: list(range(1, len(run.rounds) + 1)))


def _ratio(
    trace: Trace, baseline: Trace, clock: Callable[[Trace], Sequence[float]]
) -> list[float | None]:
    tokens, times = [0, *committed_counts(baseline)], [0.0, *clock(baseline)]
    result: list[float | None] = []
    for count, own in zip(committed_counts(trace), clock(trace), strict=True):
        reached = count <= tokens[-1] and own > 0
        result.append(float(np.interp(count, tokens, times)) / own if reached else None)
    return result


def speedup(trace: Trace, baseline: Trace) -> float | None:
    """The ratio of the two runs' tokens per second; ``None`` while one of them has none."""
    own, other = tokens_per_second(trace), tokens_per_second(baseline)
    return own / other if own > 0 and other > 0 else None
