"""A recorded run that can be replayed exactly here."""

from dataclasses import replace

from presto import load_recording
from presto.paths import ASSETS
from presto.records import Recording
from tests.support import synthetic
from ui.explore_payload import shown_first

REAL = load_recording(ASSETS / "runs" / "2-fibonacci.json.gz")
TRACE = shown_first(REAL)


def hostile() -> Recording:
    """The same run with foreign text for tokens: it can be replayed as exactly."""
    foreign = synthetic.HOSTILE
    traces = [
        replace(trace, pieces={token: foreign[token % len(foreign)] for token in trace.pieces})
        for trace in REAL.traces
    ]
    return Recording("Hostile", "", tuple(traces))
