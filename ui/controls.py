"""The settings: one control per field of ``DecodeConfig`` that a visitor may change, and the pair.

Names, ranges and descriptions are those of the fields; scorers and searches are those that are
registered.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import gradio as gr

from presto.models.catalogue import PAIRS, find
from presto.records import DecodeConfig, Setting, settings
from presto.registry import Record, Registry
from presto.runs.requests import make_config, own_settings, own_text
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from ui.limits import why_unavailable

SHOWN = tuple(name for name, setting in settings().items() if not name.endswith("_settings"))
OWN = "own"  # the control for settings that only the chosen scorer or search has
FIELDS = (*(name for name in SHOWN if name != "stop"), OWN)  # in the order of the handlers' values
SLIDER_MOST, STEP = 10_000, 0.05  # larger ranges are typed; step of a slider of fractions
REGISTRIES: dict[str, Registry[Any]] = {"scorer": SCORERS, "search": SEARCHES}


def config_of(values: Sequence[Any]) -> DecodeConfig:
    """The controls' values as a config; ``ValueError`` names the first that is out of range."""
    given = dict(zip(FIELDS, values, strict=True))
    texts = [part.strip() for part in str(given.pop(OWN) or "").split(",") if part.strip()]
    return make_config(**given, **own_settings(texts, given["scorer"], given["search"]))


def values_of(config: DecodeConfig) -> list[Any]:
    """A config as the controls' values, in the order of ``FIELDS``."""
    return [own_text(config) if name == OWN else getattr(config, name) for name in FIELDS]


def pair_facts(name: str) -> str:
    """What a pair needs, whether it runs here and how it is prompted, in one line."""
    spec = find(name)
    problem = why_unavailable(spec)
    here = f"cannot run here: {problem}" if problem else "runs here"
    memory = f"weights {spec.gigabytes:g} GB in bfloat16"
    prompt = f"prompt: {spec.template_name} · usual budget {spec.budget}"
    return f"{here} · {spec.licence} · {memory} · {prompt}"


def pair_control() -> gr.Dropdown:
    """Every known pair by its title, those marked that cannot run here."""
    titles = [
        (spec.title + " (not on this machine)" * bool(why_unavailable(spec)), name)
        for name, spec in PAIRS.items()
    ]
    first = titles[0][1]
    return gr.Dropdown(
        titles, value=first, label="Pair of target and drafter", info=pair_facts(first)
    )


def choose_pair(name: str) -> tuple[Any, Any]:
    """Another pair: its facts, and its usual budget."""
    return gr.Dropdown(info=pair_facts(name)), gr.Slider(value=find(name).budget)


def choose_records(scorer: str, search: str) -> tuple[Any, Any, Any]:
    """Another scorer or search: what each does, and the settings that only they have."""
    records = SCORERS.find(scorer), SEARCHES.find(search)
    facts, has_own = own_facts(records), any(record.settings for record in records)
    summaries = [gr.Dropdown(info=record.summary) for record in records]
    return *summaries, gr.Textbox(value="", info=facts, visible=has_own)


def own_facts(records: Sequence[Record]) -> str:
    """The own settings of scorer and search, with their ranges, in one line."""
    return " · ".join(
        f"{own.name} {own.range.low:g} to {own.range.high:g}, else {own.default:g}"
        + f": {own.range.description}" * bool(own.range.description)
        for record in records
        for own in record.settings
    )


def _control(setting: Setting) -> gr.components.Component:
    """The control of one field."""
    about = {"label": setting.title, "info": setting.description}
    if setting.name in REGISTRIES:
        registry = REGISTRIES[setting.name]
        about["info"] = registry[setting.default].summary
        return gr.Dropdown(list(registry), value=setting.default, **about)
    if setting.type is bool:
        return gr.Checkbox(setting.default, min_width=150, **about)
    assert setting.low is not None
    assert setting.high is not None
    whole = setting.type is int
    if setting.high > SLIDER_MOST:
        bounds = {"minimum": setting.low, "maximum": setting.high}
        return gr.Number(setting.default, precision=0, **bounds, **about)
    step = 1 if whole else STEP
    low = setting.low + step * setting.open_low
    return gr.Slider(low, setting.high, setting.default, step=step, **about)


def settings_controls() -> list[gr.components.Component]:
    """One control per field of ``FIELDS``, a row per group of ``DecodeConfig``'s fields."""
    made: dict[str, gr.components.Component] = {}
    chosen = sorted(
        (setting for name, setting in settings().items() if name in FIELDS),
        key=lambda setting: GROUPS.index(setting.group),
    )
    for _, group in groupby(chosen, key=lambda setting: setting.group):
        with gr.Row():
            made |= {setting.name: _control(setting) for setting in group}
    made[OWN] = gr.Textbox(
        "", label="Own settings", placeholder="name=1.5, other=2", visible=False, max_lines=1
    )
    return [made[name] for name in FIELDS]


GROUPS = ("score", "search", "drafting", "sampling", "output")
