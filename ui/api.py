"""What programs may call: plain values in, plain JSON out. The docstrings are what the API page
shows.

What decodes is a generator, because Gradio ends nothing else when its client leaves: it tells
``None`` after every round, and the answer at last, which is what a client's ``predict`` returns.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gradio as gr

from presto.models.catalogue import find, names
from presto.records import load_recording, quoted, to_json
from presto.runs.events import RunEvent, collected
from presto.runs.requests import check_method, make_config, without_auto
from presto.runs.variants import PLAIN
from ui.error_messages import reason
from ui.lanes import Lane, LaneEvent
from ui.limits import check_request
from ui.recordings import recordings_in
from ui.serving import decode_lanes


def _lane(lane: object, system: str) -> Lane:
    settings = (lane.get("settings") or {}) if isinstance(lane, dict) else None
    if not isinstance(lane, dict) or not isinstance(settings, dict):
        raise ValueError(
            f'a lane must look like {{"method": "presto", "settings": {{}}}}, got {quoted(lane)}'
        )
    method, (given, auto) = check_method(lane.get("method")), without_auto(settings)
    config = make_config(**find(system).usual | given if auto else given)
    return Lane(method, config, auto and method != PLAIN)


def _traces(
    prompt: str, system: str, lanes: list[dict[str, Any]]
) -> Iterator[list[dict[str, Any]] | None]:
    """``None`` for everything that happens, then the lanes' traces in order; or a ``gr.Error`` of
    one sentence. Closing the generator ends the run.
    """
    told: dict[int, list[RunEvent]] = {}
    try:
        chosen = [_lane(lane, system) for lane in lanes]
        check_request(prompt, system, chosen)
        with closing(decode_lanes(system, prompt, chosen)) as updates:
            for update in updates:
                yield None
                if isinstance(update, LaneEvent):
                    told.setdefault(update.lane, []).append(update.event)
        traces = [collected(events) for events in told.values()]
    except Exception as error:
        raise gr.Error(reason(error), print_exception=False) from None
    yield [json.loads(to_json(trace)) for trace in traces]


def decode(
    prompt: str, method: str = "presto", system: str = "", settings: dict[str, Any] | None = None
) -> Any:
    """Decode a prompt and return the whole trace: tokens, draft trees, scores, verdicts and seconds
    of every round.

    Args:
        prompt: what to say to the model; its chat template is applied.
        method: "presto", "presto+" (the learned correction and prompt lookup), "blind" (the tree
        without correction), "linear" (one path) or "ar" (no drafting).
        system: name of the pair; empty for the default.
        settings: fields of DecodeConfig to change, such as {"budget": 64, "temperature": 0.8}; the
        "config" of a trace will do. {"budget": "auto"} chooses budget and draft length for the
        server's device; the trace says why ("tuning").
    """
    for traces in _traces(prompt, system or names()[0], [{"method": method, "settings": settings}]):
        yield traces and traces[0]


def compare(prompt: str, lanes: list[dict[str, Any]] | None = None, system: str = "") -> Any:
    """Decode one prompt by several methods, one after another, and return their traces in that
    order.

    Args:
        prompt: what to say to the model; its chat template is applied.
        lanes: up to four, each {"method": "presto", "settings": {"scorer": "mixture"}}; default:
        the four methods. A lane with {"budget": "auto"} has a budget of its own.
        system: name of the pair; empty for the default.
    """
    chosen = lanes or [{"method": method} for method in ("ar", "linear", "blind", "presto")]
    yield from _traces(prompt, system or names()[0], chosen)


def recorded_runs(folder: Path) -> Any:
    """The endpoint ``trace`` over the recordings in ``folder``."""

    def trace(run: str = "") -> Any:
        """Return a recorded run (all its lanes) as JSON; without a title, the titles there are.

        Args:
            run: title of a recorded run, as in the page's list.
        """
        titles = recordings_in(folder)
        if not run:
            return list(titles)
        if not isinstance(run, str) or run not in titles:
            raise gr.Error(
                f"No recorded run is called {quoted(run)}; there are: {', '.join(titles)}",
                print_exception=False,
            )
        return json.loads(to_json(load_recording(titles[run])))

    return trace
