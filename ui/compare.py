"""The page "Compare": up to four lanes decoded one after another on one prompt and seed, or those
of a recorded run; or what other settings would have built at the states of the run on the page.
"""

from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from presto.records import load_recording
from presto.runs.variants import PLAIN
from ui.compare_payload import ComparePayload, recorded_value
from ui.controls import lane_of, values_of
from ui.error_messages import sentence
from ui.kept_runs import keep
from ui.lane_forms import NO_LANE, OF_EXPLORE, VALUES, lanes_of, values_of_lanes
from ui.limits import check_request
from ui.live import Request, check, follow
from ui.payload import Value
from ui.questions import asked, find_run
from ui.replayed_lanes import replayed_value
from ui.run_ticket import RunTicket
from viz.alternatives import why_not

SETTINGS = (
    "Pair and settings are those of Explore, unless a lane has its own. With “Auto budget” every "
    "lane that drafts has the budget and draft length that are fastest for it on this device. "
    "“Replay lanes” decodes nothing: it builds the trees that the lanes’ settings would have had "
    "at the states of the run on this page."
)
COMPARE = "compare"  # the tab
ONE_LANE = (OF_EXPLORE, NO_LANE, NO_LANE, NO_LANE)


@lru_cache(maxsize=16)
def recorded_lanes(path: Path) -> tuple[Value, str]:
    """The lanes of a recorded run, for the page, and its prompt."""
    recording = load_recording(path)
    return recorded_value(recording), recording.traces[0].prompt


def try_setting(folder: Path, event: gr.EventData) -> list[Any]:
    """What the page needs to decode a run's prompt under the settings that its panel "What if"
    tries, in one lane.
    """
    try:
        run, config = asked(find_run(event.key, folder), event.settings)
    except (AttributeError, ValueError) as error:  # what arrives can be anything
        raise refusal(error) from None
    lanes = values_of_lanes(ONE_LANE)
    return [gr.Tabs(selected=COMPARE), run.prompt, *lanes, run.system, *values_of(config)]


def refusal(error: Exception) -> gr.Error:
    """A message over the page; what is foreign in it stays characters."""
    return gr.Error(escape(sentence(error), quote=False), print_exception=False)


def check_lanes(ticket: object, prompt: object, *values: Any) -> list[Any]:
    """Refuse a comparison that cannot run, with one sentence under the prompt, before it is queued.
    ``values``: of the lanes' forms, the pair and the settings.
    """
    forms, (system, *settings) = values[:VALUES], values[VALUES:]
    state, text, pair, *rest = check(ticket, prompt, system, *settings)
    if text["is_valid"]:
        text = _check_lanes(prompt, system, forms, settings)
    return [state, text, *([pair] * VALUES), pair, *rest]


def _check_lanes(prompt: object, system: str, forms: Any, settings: Any) -> Any:
    try:
        lanes = lanes_of(forms, lane_of(settings))
        if not lanes:
            return gr.validate(False, "Choose at least one lane.")
        check_request(prompt, system, list(lanes.values()))
    except ValueError as error:
        return gr.validate(False, sentence(error))
    return gr.validate(True, "")


def run_lanes(ticket: RunTicket, number: int, prompt: str, *values: Any) -> Iterator[Value]:
    """Decode the lanes one after another; one update per round, until the comparison is no longer
    wanted.
    """
    forms, (system, *settings) = values[:VALUES], values[VALUES:]
    lanes = lanes_of(forms, lane_of(settings))
    payload = ComparePayload("live", "Your prompt", list(lanes))
    yield from follow(ticket, number, Request(system, prompt, list(lanes.values())), payload)
    _keep(payload, ticket)


def _keep(payload: ComparePayload, ticket: RunTicket) -> None:
    """Remember the first lane that drafted, if it can be replayed."""
    whole = [lane.whole for lane in payload.lanes.values() if lane.whole]
    drafted = next((trace for trace in whole if trace.method != PLAIN), None)
    if drafted and drafted.rounds and not why_not(drafted):
        keep(payload.key, drafted)
        ticket.shown = payload.key


def replay_lanes(folder: Path, ticket: RunTicket, *values: Any) -> Value:
    """The run on the page, and the lanes' trees at its states; ``values`` as in ``check_lanes``."""
    forms, (_, *settings) = values[:VALUES], values[VALUES:]
    try:
        run = find_run(ticket.shown, folder)
        return replayed_value(run, lanes_of(forms, lane_of(settings)))
    except ValueError as error:
        raise refusal(error) from None
