"""The settings: one control per field of ``DecodeConfig`` that a visitor may change, and the pair.

Names, ranges and descriptions are those of the fields; scorers and searches are those that are
registered.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import gradio as gr

from presto.models.catalogue import PAIRS, find, names
from presto.records import DecodeConfig, Setting, Trace, settings
from presto.registry import Record, Registry
from presto.runs.budget import curves_of
from presto.runs.requests import AUTO, make_config, own_settings, own_text
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from ui.limits import why_unavailable

SHOWN = tuple(name for name, setting in settings().items() if not name.endswith("_settings"))
OWN = "own"  # the control for settings that only the chosen scorer or search has
# In the order of the handlers' values. AUTO: whether CHOSEN are chosen for the device.
FIELDS = (*(name for name in SHOWN if name != "stop"), OWN, AUTO)
CHOSEN = ("budget", "draft_length")
SLIDER_MOST, STEP = 10_000, 0.05  # larger ranges are typed; step of a slider of fractions
REGISTRIES: dict[str, Registry[Any]] = {"scorer": SCORERS, "search": SEARCHES}


def config_of(values: Sequence[Any]) -> DecodeConfig:
    """The controls' values as a config; ``ValueError`` names the first that is out of range."""
    given = dict(zip(FIELDS, values, strict=True))
    del given[AUTO]
    texts = [part.strip() for part in str(given.pop(OWN) or "").split(",") if part.strip()]
    return make_config(**given, **own_settings(texts, given["scorer"], given["search"]))


def is_auto(values: Sequence[Any]) -> bool:
    """Whether by the controls' values budget and draft length are chosen for the device."""
    return bool(values[FIELDS.index(AUTO)])


def values_of(config: DecodeConfig, auto: bool = False) -> list[Any]:
    """A config as the controls' values, in the order of ``FIELDS``."""
    told = {OWN: own_text(config), AUTO: auto}
    return [told[name] if name in told else getattr(config, name) for name in FIELDS]


def chosen_in(trace: Trace) -> dict[str, Any]:
    """What the controls of ``AUTO`` and ``CHOSEN`` are when a run is shown: its numbers, unless
    they were chosen for the device.
    """
    if trace.tuning:
        return {AUTO: True} | dict.fromkeys(CHOSEN, gr.skip())
    return {AUTO: False} | {name: getattr(trace.config, name) for name in CHOSEN}


def usual(system: str) -> dict[str, int]:
    """Budget and draft length of a pair for which none can be chosen."""
    return find(system).usual


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


def choose_pair(name: str) -> tuple[Any, ...]:
    """Another pair: its facts, its usual budget and draft length, and whether others can be chosen
    for it.
    """
    sliders = [gr.Slider(value=value) for value in usual(name).values()]
    return gr.Dropdown(info=pair_facts(name)), *sliders, gr.Checkbox(info=auto_facts(name))


def choose_auto(auto: bool, name: str) -> tuple[Any, ...]:
    """Budget and draft length: out of sight while they are chosen, which falls back on the pair's
    usual ones.
    """
    if auto:
        return tuple(gr.Slider(value=value, visible=False) for value in usual(name).values())
    return tuple(gr.Slider(visible=True) for _ in CHOSEN)


def auto_facts(name: str) -> str:
    """What choosing a budget for a pair does."""
    if curves_of(name):
        return (
            "Budget and draft length are chosen for this device: what is fastest here, measured "
            "once in a second or two."
        )
    own = usual(name)
    return (
        f"This pair has no acceptance curve to choose by: {own['budget']} nodes and "
        f"{own['draft_length']} positions, as usual."
    )


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
    low, seen = setting.low + step * setting.open_low, setting.name not in CHOSEN
    return gr.Slider(low, setting.high, setting.default, step=step, visible=seen, **about)


def settings_controls() -> list[gr.components.Component]:
    """One control per field of ``FIELDS``, a row per group of ``DecodeConfig``'s fields."""
    made: dict[str, gr.components.Component] = {}
    chosen = sorted(
        (setting for name, setting in settings().items() if name in FIELDS),
        key=lambda setting: GROUPS.index(setting.group),
    )
    for _, group in groupby(chosen, key=lambda setting: setting.group):
        with gr.Row():
            for setting in group:
                made[setting.name] = _control(setting)
                if setting.name == "budget":
                    facts = auto_facts(names()[0])
                    made[AUTO] = gr.Checkbox(True, label="Auto budget", info=facts, min_width=150)
    made[OWN] = gr.Textbox(
        "", label="Own settings", placeholder="name=1.5, other=2", visible=False, max_lines=1
    )
    return [made[name] for name in FIELDS]


GROUPS = ("score", "search", "drafting", "sampling", "output")
