"""Lanes in figures and words: how fast each is, whether the texts are equal, where rounds part."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from presto.records import Trace, check_lanes
from presto.records.measures import Totals, committed_counts, output_ids, totals
from presto.runs.variants import TITLES
from viz.lanes import scorer_words


class TextCheck(NamedTuple):
    """How a lane's text compares with plain decoding's; nothing known without such a lane.

    ``same``: whether they are equal as far as both go. Where they are not, ``differs_at`` is the
    first output token that differs (from 0) and ``margin`` the gap between the target's two best
    logits there: near 0 it is a tie that rounding decided. ``text`` says this in words.
    """

    same: bool | None = None
    differs_at: int | None = None
    margin: float | None = None
    text: str = ""


class LaneRow(NamedTuple):
    """The figures of one lane. ``ratio``: tokens per second against the first lane, ``None`` where
    one has none.
    """

    method: str
    scorer: str
    tau: float
    tokens_per_second: float
    ratio: float | None
    check: TextCheck
    draft: str = ""  # the most nodes and positions of a draft


def lane_rows(traces: Sequence[Trace]) -> list[LaneRow]:
    """One row per lane, in the order given. ``ValueError`` for runs that cannot be compared."""
    check_lanes(traces)
    sums = [totals(trace) for trace in traces]
    checks = text_checks(traces)
    return [
        lane_row(trace, own, sums[0], check)
        for trace, own, check in zip(traces, sums, checks, strict=True)
    ]


def lane_row(head: Trace, run: Totals, first: Totals, check: TextCheck) -> LaneRow:
    """The figures of a lane from its sums and the first lane's; ``head``: at least its settings."""
    scorer = "" if head.method == "ar" else scorer_words(head.config)
    figures = run.acceptance_length, run.tokens_per_second, run.speedup_over(first)
    return LaneRow(TITLES[head.method], scorer, *figures, check, _bounds(head))


def _bounds(head: Trace) -> str:
    """The most nodes and positions of a draft, and whether they were chosen for the device."""
    if head.method == "ar":
        return ""
    config, path = head.config, head.method == "linear"
    nodes = "" if path else f"{config.budget} nodes, "
    return f"{nodes}{config.draft_length} positions{', auto' if head.tuning else ''}"


def text_checks(traces: Sequence[Trace]) -> list[TextCheck]:
    """Each lane's text against that of the first autoregressive lane that has any."""
    reference = next((trace for trace in traces if trace.method == "ar" and trace.rounds), None)
    return [
        TextCheck(True, text="the reference")
        if trace is reference
        else _text_check(trace, reference)
        if reference is not None and trace.rounds
        else TextCheck()
        for trace in traces
    ]


def _text_check(trace: Trace, reference: Trace) -> TextCheck:
    ours, theirs = output_ids(trace), output_ids(reference)
    common = min(len(ours), len(theirs))
    place = next((i for i in range(common) if ours[i] != theirs[i]), None)
    if place is None:
        short = trace if len(ours) < len(theirs) else reference
        if len(ours) == len(theirs):
            return TextCheck(True, text="identical to the autoregressive text")
        if short.finish in ("stopped", "length"):
            return TextCheck(True, text=f"identical as far as both go ({common} tokens)")
        place = common
    # An autoregressive round decides one token: its margin is that of this very position.
    lane = reference if place < len(theirs) else trace
    (index,) = aligned_rounds([lane], place)
    assert index is not None
    margin = lane.rounds[index].margin
    apart = f"the target’s two best logits are {margin:.2g} apart there"
    return TextCheck(False, place, margin, f"differs from token {place + 1} on; {apart}")


def aligned_rounds(traces: Sequence[Trace], position: int) -> list[int | None]:
    """For each lane the index of the round that emitted output token ``position`` (from 0),
    ``None`` if none did.
    """
    result: list[int | None] = []
    for trace in traces:
        index = bisect_right(committed_counts(trace), position)
        result.append(index if position >= 0 and index < len(trace.rounds) else None)
    return result


def differences(traces: Sequence[Trace]) -> list[int]:
    """Output tokens, in order, with which a round begins in one drafting lane but not in another.

    Counted from 0, as far as all drafting lanes go. Autoregressive lanes begin a round at every
    token and are left out.
    """
    counts = [committed_counts(trace) for trace in traces if trace.method != "ar" and trace.rounds]
    if len(counts) < 2:
        return []
    starts, shortest = [set(lane[:-1]) for lane in counts], min(lane[-1] for lane in counts)
    differing = starts[0].union(*starts) - starts[0].intersection(*starts)
    return sorted(start for start in differing if start < shortest)


def next_difference(traces: Sequence[Trace], position: int) -> int | None:
    """The first of ``differences`` after output token ``position``; ``None`` if there is none."""
    return next((start for start in differences(traces) if start > position), None)
