"""The panel of settings: first the method, pair, budget and temperature, one fold deeper the rest,
and what of it is not as usual.
"""

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import gradio as gr

from presto.models.catalogue import names
from presto.records import DecodeConfig, Setting, settings
from presto.registry import Record
from presto.runs.budget import curves_of
from presto.runs.requests import AUTO, METHODS, make_config, method_of
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from ui.controls import (
    CHOSEN,
    FIELDS,
    METHOD,
    OWN,
    control,
    method_control,
    pair_control,
    pair_facts,
    usual,
    values_of,
)

FIRST = (AUTO, *CHOSEN, "temperature")  # beside method and pair; the rest lies one fold deeper
GROUPS = {
    "score": "Score",
    "search": "Search",
    "drafting": "Drafting",
    "sampling": "Sampling",
    "output": "Output",
}
# The settings by which methods differ.
OF_METHODS = tuple(sorted({name for changes in METHODS.values() for name in changes}))
AS_USUAL = "All settings are the method’s own."


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


def choose_method(method: str) -> tuple[Any, ...]:
    """Another method: what it sets of ``OF_METHODS``, the rest of them as usual."""
    default = DecodeConfig()
    return tuple(METHODS[method].get(n, getattr(default, n)) for n in OF_METHODS)


def name_method(*values: Any) -> str:
    """What decoding by these values of ``OF_METHODS`` is called."""
    return method_of(make_config(**dict(zip(OF_METHODS, values, strict=True))))


def as_usual(system: str) -> list[Any]:
    """Every control's value for a pair, as the page opens with it."""
    return values_of(make_config(**usual(system)), auto=True)


def changes(system: str, *values: Any) -> dict[str, tuple[str, str]]:
    """Title of every setting that is neither as usual nor set by the method → its value and the
    usual one.
    """
    named = dict(zip(FIELDS, values, strict=True))
    before = dict(zip(FIELDS, as_usual(system), strict=True)) | METHODS[named.pop(METHOD)]
    if named.pop(AUTO):
        named |= {name: before[name] for name in CHOSEN}
    titles = {name: setting.title for name, setting in settings().items()} | {OWN: "Own settings"}
    return {
        titles[name]: (_shown(value), _shown(before[name]))
        for name, value in named.items()
        if value != before[name]
    }


def _shown(value: Any) -> str:
    """A setting's value in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.10g}" if isinstance(value, int | float) else str(value) or "none"


def show_changes(system: str, *values: Any) -> tuple[str, Any]:
    """The changes in a sentence, and whether there are any to take back."""
    found = changes(system, *values)
    if not found:
        return f"<p>{AS_USUAL}</p>", gr.Button(interactive=False)
    told = ", ".join(
        f"<b>{escape(title)} {escape(value)}</b> (usually {escape(before)})"
        for title, (value, before) in found.items()
    )
    return f"<p>Changed: {told}.</p>", gr.Button(interactive=True)


def settings_panel(served: dict[str, Any]) -> list[Any]:
    """The controls of pair and settings, in the order of ``FIELDS``, and what they do to each
    other. ``served``: how Gradio serves their events.
    """
    described, made = settings(), dict[str, Any]()
    with gr.Row():
        made[METHOD] = method_control()
        pair = pair_control()
    with gr.Row():
        facts = auto_facts(names()[0])
        made[AUTO] = gr.Checkbox(True, label="Auto budget", info=facts, min_width=220)
        for name in FIRST[1:]:
            made[name] = control(described[name])
    with gr.Row(equal_height=True, elem_id="changed"):
        told = gr.HTML(f"<p>{AS_USUAL}</p>", js_on_load=None, elem_classes="presto-page")
        back = gr.Button("Reset", interactive=False, size="sm", scale=0, min_width=90)
    with gr.Accordion("Score, search, drafting, sampling, output", open=False, elem_id="more"):
        for group, title in GROUPS.items():
            gr.HTML(f"<h4>{title}</h4>", js_on_load=None, elem_classes="presto-page")
            with gr.Row():
                made |= {one.name: control(one) for one in _deeper(group)}
        made[OWN] = gr.Textbox(
            "", label="Own settings", placeholder="name=1.5, other=2", visible=False, max_lines=1
        )
    panel = [pair, *(made[name] for name in FIELDS)]
    _wire(pair, made, served)
    newest: dict[str, Any] = {"trigger_mode": "always_last"}
    gr.on([one.change for one in panel], show_changes, panel, [told, back], **served, **newest)
    back.click(as_usual, pair, panel[1:], **served)
    return panel


def _deeper(group: str) -> list[Setting]:
    """The settings of a group that lie one fold deeper."""
    own = (one for one in settings().values() if one.group == group)
    return [one for one in own if one.name in FIELDS and one.name not in FIRST]


def _wire(pair: gr.Dropdown, made: dict[str, Any], served: dict[str, Any]) -> None:
    """What a change of one control does to others."""
    auto, method, own = made[AUTO], made[METHOD], made[OWN]
    chosen = [made[name] for name in CHOSEN]
    pair.input(choose_pair, pair, [pair, *chosen, auto], **served)
    auto.change(choose_auto, [auto, pair], chosen, **served)
    records, of_methods = [made["scorer"], made["search"]], [made[name] for name in OF_METHODS]
    picked = method.input(choose_method, method, of_methods, **served)
    gr.on([one.input for one in of_methods], name_method, of_methods, method, **served)
    for on in (partial(gr.on, [one.input for one in records]), picked.then):
        on(choose_records, records, [*records, own], **served)
