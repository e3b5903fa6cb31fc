"""Opening a saved run: the page sends a file's text, the server checks it as strictly as one of its
own.
"""

from typing import Any

import gradio as gr

from presto.records import Recording, recording_from_json, trace_from_json
from ui.words import sentence
from viz.shelf import value_of
from viz.visit import Visit

LARGEST = 16 << 20  # bytes of JSON, as in assets/player/share.js
LARGE = f"The file holds more than {LARGEST >> 20} MB, which is more than this page opens."


def open_file(visit: Visit, event: gr.EventData) -> tuple[Any, Any, Any]:
    """Picker, prompt and player for the run in ``event``; another file is refused and the page
    stays as it was.
    """
    try:
        recording = _recording(event._data)
    except ValueError as error:
        gr.Warning(sentence(error))
        return gr.skip(), gr.skip(), gr.skip()
    visit.leave()
    return None, recording.traces[0].prompt, value_of(recording, "opened")


def _recording(data: object) -> Recording:
    """What ``presto record``, ``presto decode --trace`` or the page itself saved."""
    text = data.get("text") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"the file's text is missing, got {type(text).__name__}")
    content = text.encode("utf-8", "replace")
    if len(content) > LARGEST:
        raise ValueError(LARGE)
    if b'"traces"' in content:
        return recording_from_json(content)
    return Recording("A saved run", "", (trace_from_json(content),))
