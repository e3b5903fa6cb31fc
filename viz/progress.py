"""How far a run is that goes on: rounds and tokens so far, its speed, and when it ends."""

from presto.records.measures import Totals


def progress(what: str, run: Totals, end: int, is_sure: bool = False) -> str:
    """The sentence. ``what`` is decoded; ``end``: its tokens at the end, or at most
    (``is_sure``: exactly, as another lane has written the same text).
    """
    if not run.rounds:
        return f"{what}…"
    rounds = f"{run.rounds} round{'s' * (run.rounds > 1)}"
    sofar = f"{what}: {run.tokens} of {'at most ' * (not is_sure)}{end} tokens in {rounds}"
    speed = run.tokens_per_second
    if not speed:
        return f"{sofar}."
    left = (max(0, end - run.tokens)) / speed
    time = f"{left:.0f}" if left >= 10 else f"{left:.1f}"
    return f"{sofar}, {speed:.1f} tokens/s, {'about' if is_sure else 'at most'} {time} s more."
