"""What programs may call: plain values in, plain JSON out. The docstrings are what the API page shows."""

import json
from pathlib import Path
from typing import Any

import gradio as gr

from presto.models.catalogue import WeightsError, names
from presto.records import load_recording, to_json
from presto.requests import check_method, check_prompt, make_config
from ui.live import sentence
from viz.shelf import shelf

MAX_LANES = 4


def _trace(prompt: str, method: str, system: str, settings: dict[str, Any] | None) -> dict[str, Any]:
    from presto.runs import stream

    config = make_config(**(settings or {}))
    *_, trace = stream(system or names()[0], check_prompt(prompt), check_method(method), config)
    return dict(json.loads(to_json(trace)))


def decode(prompt: str, method: str = "presto", system: str = "", settings: dict[str, Any] | None = None) -> Any:
    """Decode a prompt and return the whole trace: tokens, draft trees, scores, verdicts and seconds of every round.

    Args:
        prompt: what to say to the model; its chat template is applied.
        method: "presto", "blind" (the tree without correction), "linear" (one path) or "ar" (no drafting).
        system: name of the pair; empty for the default.
        settings: fields of DecodeConfig to change, such as {"budget": 64, "temperature": 0.8}.
    """
    try:
        return _trace(prompt, method, system, settings)
    except (ValueError, WeightsError) as error:
        raise gr.Error(sentence(error), print_exception=False) from None


def compare(prompt: str, lanes: list[dict[str, Any]] | None = None, system: str = "") -> Any:
    """Decode one prompt by several methods, one after another, and return their traces in that order.

    Args:
        prompt: what to say to the model; its chat template is applied.
        lanes: up to four, each {"method": "presto", "settings": {"scorer": "mixture"}}; default: the four methods.
        system: name of the pair; empty for the default.
    """
    chosen = lanes or [{"method": method} for method in ("ar", "linear", "blind", "presto")]
    try:
        if len(chosen) > MAX_LANES:
            raise ValueError(f"{len(chosen)} lanes were asked for, at most {MAX_LANES} are allowed")
        for lane in chosen:
            check_method(lane.get("method"))
            make_config(**(lane.get("settings") or {}))
        return [_trace(prompt, lane["method"], system, lane.get("settings")) for lane in chosen]
    except (ValueError, WeightsError) as error:
        raise gr.Error(sentence(error), print_exception=False) from None


def recorded_runs(folder: Path) -> Any:
    """The endpoint ``trace`` over the recordings in ``folder``."""

    def trace(run: str = "") -> Any:
        """Return a recorded run (all its lanes) as JSON; without a title, the titles there are.

        Args:
            run: title of a recorded run, as in the page's list.
        """
        titles = shelf(folder)
        if not run:
            return list(titles)
        if run not in titles:
            raise gr.Error(
                f"No recorded run is called {run[:60]!r}; there are: {', '.join(titles)}", print_exception=False
            )
        return json.loads(to_json(load_recording(titles[run])))

    return trace
