"""Opening a saved run: the page sends a file's text, the server checks it as strictly as one of its
own.
"""

from typing import Any

import gradio as gr

from presto.records import Recording, Trace, recording_from_json, trace_from_json
from presto.runs.requests import AUTO
from ui.controls import CHOSEN, chosen_in
from ui.error_messages import sentence, warn
from ui.explore_payload import shown_first, value_of
from ui.run_ticket import RunTicket

LARGEST = 16 << 20  # bytes of JSON, as in assets/player/logic/files.js
LARGE = f"The file holds more than {LARGEST >> 20} MB, which is more than this page opens."
# Of a run that is opened all rounds are drawn before the first is shown: 1.5 ms each, and 0.05 ms a
# node. The longest run of the page itself has so many tokens.
MAX_ROUNDS, MAX_NODES = 1024, 65_536
MAX_CHARACTERS = 1_000_000  # of the nodes' tokens together; ordinary tokens have four


def open_file(ticket: RunTicket, event: gr.EventData) -> tuple[Any, ...]:
    """Picker, prompt, player and the controls of the budget for the run in ``event``; another file
    is refused and the page stays as it was.
    """
    try:
        recording = _recording(event)
        for trace in recording.traces:
            check_size(trace)
        value = value_of(recording, "opened")
    except ValueError as error:
        warn(sentence(error))
        return tuple(gr.skip() for _ in ("picker", "prompt", "player", AUTO, *CHOSEN))
    ticket.leave()
    chosen = chosen_in(shown_first(recording))
    return None, recording.traces[0].prompt, value, *chosen.values()


def check_size(trace: Trace) -> None:
    """Refuse, as ``ValueError``, a run that would keep the server drawing for minutes."""
    nodes = [token for round_ in trace.rounds for token in round_.tree.tokens]
    found = {
        "rounds": (len(trace.rounds), MAX_ROUNDS),
        "nodes": (len(nodes), MAX_NODES),
        "characters in its nodes": (sum(len(trace.pieces[n]) for n in nodes), MAX_CHARACTERS),
    }
    for what, (number, most) in found.items():
        if number > most:
            raise ValueError(
                f"the run has {number:,} {what}, this page opens runs with at most {most:,}"
            )


def _recording(event: gr.EventData) -> Recording:
    """What ``presto record``, ``presto decode --trace`` or the page itself saved."""
    try:
        text = event.text
    except (AttributeError, TypeError):  # what arrives can be anything
        text = None
    if not isinstance(text, str):
        raise ValueError(f"the file's text is missing, got {type(text).__name__}")
    content = text.encode("utf-8", "replace")
    if len(content) > LARGEST:
        raise ValueError(LARGE)
    if b'"traces"' in content:
        return recording_from_json(content)
    return Recording("A saved run", "", (trace_from_json(content),))
