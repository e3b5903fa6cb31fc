"""The page "Compare": up to four lanes decoded one after another on one prompt and seed, or those of a recorded run."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import gradio as gr

from presto.compare import RIVALS
from presto.records import DecodeConfig, Method, Trace, load_recording
from ui.controls import config_of
from ui.live import check, reason
from viz.lanes import SideBySide, side_by_side
from viz.visit import Visit

NO_LANE = "–"
LANES: dict[str, tuple[Method, dict[str, Any]]] = {
    "autoregressive": ("ar", {}),
    "linear": ("linear", {}),
    "blind tree": ("blind", {}),
    "PRESTO, settings of Explore": ("presto", {}),
    **{f"PRESTO, {name}": ("presto", RIVALS[name]) for name in ("product", "pmi", "mixture", "dart")},
}
FIRST = ("autoregressive", "linear", "blind tree", "PRESTO, settings of Explore")


@lru_cache(maxsize=16)
def recorded_lanes(path: Path) -> dict[str, Any]:
    """The lanes of a recorded run, for the page."""
    return side_by_side(load_recording(path))


def lane_controls() -> list[gr.Dropdown]:
    """A dropdown per lane."""
    choices = [NO_LANE, *LANES]
    return [gr.Dropdown(choices, value=name, label=f"Lane {i + 1}", min_width=150) for i, name in enumerate(FIRST)]


def check_lanes(
    visit: object, prompt: object, a: str, b: str, c: str, d: str, system: str, *settings: Any
) -> list[Any]:
    """Refuse a comparison that cannot run, with one sentence under the prompt, before it is queued."""
    state, text, pair, *rest = check(visit, prompt, system, *settings)
    if text["is_valid"] and not chosen_lanes((a, b, c, d)):
        text = gr.validate(False, "Choose at least one lane.")
    return [state, text, *([pair] * 4), pair, *rest]


def chosen_lanes(names: tuple[str, ...]) -> list[str]:
    """The lanes to run, each once, in order."""
    return [name for name in dict.fromkeys(names) if name in LANES]


def run_lanes(
    visit: Visit, number: int, prompt: str, a: str, b: str, c: str, d: str, system: str, *settings: Any
) -> Iterator[dict[str, Any]]:
    """Decode the lanes one after another; one update per round, until the comparison is no longer wanted."""
    config, show = config_of(settings), SideBySide("live", "Your prompt")
    yield show.value("running", "Loading the model and reading the prompt…")
    end = ""
    try:
        for message in _decode(show, visit, number, chosen_lanes((a, b, c, d)), system, prompt, config):
            yield show.value("running", message)
    except Exception as error:
        end = reason(error)
    if number in (visit.wanted, visit.stopped):
        yield show.value("done", "Stopped." if visit.stopped == number else end)
    visit.end(number)


def _decode(
    show: SideBySide, visit: Visit, number: int, names: list[str], system: str, prompt: str, config: DecodeConfig
) -> Iterator[str]:
    from presto.runs import stream

    for name in names:
        method, changes = LANES[name]
        lane = stream(system, prompt, method, replace(config, **changes))
        with closing(cast("Generator[Trace, None, None]", lane)) as traces:
            for trace in traces:
                if visit.wanted != number:
                    return
                show.take(name, trace)
                yield f"Decoding: {name}…"
