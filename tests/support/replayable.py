"""A recorded run that can be replayed exactly here."""

from dataclasses import replace
from typing import Any

from presto import load_recording
from presto.models.tables import table_of
from presto.paths import ASSETS
from presto.records import Recording, changed
from presto.runs.states import States
from tests.support import synthetic
from ui.explore_payload import shown_first
from viz.replayed import replayed_view

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


def under(title: str, index: int = 5, **changes: Any) -> Recording:
    """One round of the same run as it would have been under other settings, in a run of its own."""
    states = States(TRACE, table_of(TRACE.system))
    config = changed(TRACE.config, changes)
    found = states.replay(index, config)
    assert found is not None
    own, start = TRACE.rounds[index], TRACE.rounds[index].start
    view = replayed_view(states, index, found, config)
    round_ = replace(view.round, seconds=own.seconds, forwards=own.forwards)
    trace = replace(
        TRACE,
        config=config,
        prompt_ids=tuple(states.text[:start]),
        rounds=(round_,),
        finish="stopped",
    )
    return Recording(title, "", (trace,))


BEAM = {"search": "beam", "beam_width": 6, "budget": 48}
