"""The page "Compare": up to four lanes decoded one after another on one prompt and seed, or those
of a recorded run.
"""

from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from presto.records import DecodeConfig, load_recording
from presto.runs.requests import without_method
from presto.runs.variants import variants
from ui.compare_payload import ComparePayload, recorded_value
from ui.controls import lane_of, values_of
from ui.error_messages import sentence
from ui.lanes import Lane
from ui.limits import check_request
from ui.live import Request, check, follow
from ui.payload import Value
from ui.questions import asked, find_run
from ui.run_ticket import RunTicket

NO_LANE = "–"
SETTINGS = (
    "Pair and settings are those of Explore. With “Auto budget” every lane that drafts has the "
    "budget and draft length that are fastest for it on this device."
)
OF_EXPLORE = "settings of Explore"
COMPARE = "compare"  # the tab
ONE_LANE = (OF_EXPLORE, NO_LANE, NO_LANE, NO_LANE)
FIRST = ("autoregressive", "linear", "blind tree", OF_EXPLORE)


def lanes_on_offer(explore: Lane) -> dict[str, Lane]:
    """What a lane may run, by title: what Explore's controls ask for (``explore``), and every
    method, scorer and search with the other settings they ask for.

    With ``auto`` each has a budget of its own, as in ``presto bench``.
    """
    base = without_method(explore.config)
    others = {v.title: Lane(v.method, v.config(base), explore.auto) for v in variants().values()}
    return {OF_EXPLORE: explore} | others


@lru_cache(maxsize=16)
def recorded_lanes(path: Path) -> tuple[Value, str]:
    """The lanes of a recorded run, for the page, and its prompt."""
    recording = load_recording(path)
    return recorded_value(recording), recording.traces[0].prompt


def lane_controls() -> list[gr.Dropdown]:
    """A dropdown per lane."""
    offered = [NO_LANE, *lanes_on_offer(Lane("presto", DecodeConfig()))]
    return [
        gr.Dropdown(offered, value=name, label=f"Lane {i + 1}", min_width=150)
        for i, name in enumerate(FIRST)
    ]


def try_setting(folder: Path, event: gr.EventData) -> list[Any]:
    """What the page needs to decode a run's prompt under the settings that its panel "What if"
    tries, in one lane.
    """
    try:
        run, config = asked(find_run(event.key, folder), event.settings)
    except (AttributeError, ValueError) as error:  # what arrives can be anything
        raise gr.Error(escape(sentence(error), quote=False), print_exception=False) from None
    return [gr.Tabs(selected=COMPARE), run.prompt, *ONE_LANE, run.system, *values_of(config)]


def check_lanes(
    ticket: object, prompt: object, a: str, b: str, c: str, d: str, system: str, *settings: Any
) -> list[Any]:
    """Refuse a comparison that cannot run, with one sentence under the prompt, before it is
    queued.
    """
    state, text, pair, *rest = check(ticket, prompt, system, *settings)
    if text["is_valid"]:
        lanes = lanes_of((a, b, c, d), lane_of(settings))
        text = _refusal(prompt, system, list(lanes.values()))
    return [state, text, *([pair] * 4), pair, *rest]


def _refusal(prompt: object, system: str, lanes: list[Lane]) -> Any:
    if not lanes:
        return gr.validate(False, "Choose at least one lane.")
    try:
        check_request(prompt, system, lanes)
    except ValueError as error:
        return gr.validate(False, sentence(error))
    return gr.validate(True, "")


def lanes_of(names: tuple[str, ...], explore: Lane) -> dict[str, Lane]:
    """The lanes to run by title, each once, in order."""
    offered = lanes_on_offer(explore)
    return {name: offered[name] for name in names if name in offered}


def run_lanes(
    ticket: RunTicket,
    number: int,
    prompt: str,
    a: str,
    b: str,
    c: str,
    d: str,
    system: str,
    *settings: Any,
) -> Iterator[Value]:
    """Decode the lanes one after another; one update per round, until the comparison is no longer
    wanted.
    """
    lanes = lanes_of((a, b, c, d), lane_of(settings))
    payload = ComparePayload("live", "Your prompt", list(lanes))
    request = Request(system, prompt, list(lanes.values()))
    yield from follow(ticket, number, request, payload)
