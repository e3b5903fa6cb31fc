"""The settings: one control per field of ``DecodeConfig`` that a visitor may change, the method and
the pair.

Names, ranges and descriptions are those of the fields; scorers and searches are those that are
registered.
"""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from presto.models.catalogue import PAIRS, find
from presto.records import DecodeConfig, Method, Setting, Trace, settings
from presto.registry import Registry
from presto.runs.requests import AUTO, make_config, method_of, own_settings, own_text
from presto.runs.variants import PLAIN, TITLES
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from ui.lanes import Lane
from ui.limits import why_unavailable

SHOWN = tuple(name for name, setting in settings().items() if not name.endswith("_settings"))
OWN = "own"  # the control for settings that only the chosen scorer or search has
METHOD = "method"  # the control that sets all by which methods differ
# In the order of the handlers' values. AUTO: whether CHOSEN are chosen for the device.
FIELDS = (*(name for name in SHOWN if name != "stop"), OWN, AUTO, METHOD)
CHOSEN = ("budget", "draft_length")
SLIDER_MOST, STEP = 10_000, 0.05  # larger ranges are typed; step of a slider of fractions
METHOD_FACTS = "Sets scorer, search and lookup; everything else is yours."
REGISTRIES: dict[str, Registry[Any]] = {"scorer": SCORERS, "search": SEARCHES}


def config_of(values: Sequence[Any]) -> DecodeConfig:
    """The controls' values as a config; ``ValueError`` names the first that is out of range."""
    given = dict(zip(FIELDS, values, strict=True))
    del given[AUTO], given[METHOD]
    texts = [part.strip() for part in str(given.pop(OWN) or "").split(",") if part.strip()]
    return make_config(**given, **own_settings(texts, given["scorer"], given["search"]))


def lane_of(values: Sequence[Any]) -> Lane:
    """What the controls ask for; ``ValueError`` as in ``config_of``.

    Which method drafts follows from the settings alone; that nothing is drafted, from ``METHOD``.
    """
    config, named = config_of(values), dict(zip(FIELDS, values, strict=True))
    method: Method = PLAIN if named[METHOD] == PLAIN else method_of(config)
    return Lane(method, config, bool(named[AUTO]))


def values_of(config: DecodeConfig, auto: bool = False, method: Method | None = None) -> list[Any]:
    """A config as the controls' values, in the order of ``FIELDS``; ``method``: unless it is the
    config's own.
    """
    told = {OWN: own_text(config), AUTO: auto, METHOD: method or method_of(config)}
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


def control(setting: Setting) -> gr.components.Component:
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
    bounds = {"minimum": low, "maximum": setting.high, "step": step}
    return gr.Slider(value=setting.default, **bounds, visible=seen, min_width=220, **about)


def method_control() -> gr.Radio:
    """The ways to decode that have a name."""
    offered = [(title, name) for name, title in TITLES.items()]
    return gr.Radio(offered, value="presto", label="Method", info=METHOD_FACTS, min_width=420)
