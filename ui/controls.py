"""The settings: one control per field of ``DecodeConfig`` that a visitor may change, and the choice
of the pair.
"""

from collections.abc import Sequence
from typing import Any, get_args

import gradio as gr

from presto.models.catalogue import PAIRS, find
from presto.records import DecodeConfig, Scorer, Search
from presto.runs.requests import make_config
from ui.limits import obstacle

FIELDS = (  # of DecodeConfig, in the order of the handlers' arguments
    *(
        "scorer",
        "normalised",
        "search",
        "lam",
        "order",
        "top_k",
        "beam_width",
        "budget",
        "draft_length",
    ),
    *("correct_first", "static_ngram", "online_ngram", "sampled_draft"),
    *("temperature", "top_p", "sample_top_k", "seed", "max_new_tokens"),
)


def config_of(settings: Sequence[Any]) -> DecodeConfig:
    """The controls' values as a config; ``ValueError`` names the first that is out of range."""
    return make_config(**dict(zip(FIELDS, settings, strict=True)))


def pair_facts(name: str) -> str:
    """What a pair needs, whether it runs here and how it is prompted, in one line."""
    spec = find(name)
    problem = obstacle(spec)
    here = f"cannot run here: {problem}" if problem else "runs here"
    memory = f"weights {spec.gigabytes:g} GB in bfloat16"
    return (
        f"{here} · {spec.licence} · {memory} · prompt: {spec.template_name} · usual budget "
        f"{spec.budget}"
    )


def pair_control() -> gr.Dropdown:
    """Every known pair by its title, those marked that cannot run here."""
    titles = [
        (spec.title + " (not on this machine)" * bool(obstacle(spec)), name)
        for name, spec in PAIRS.items()
    ]
    first = titles[0][1]
    return gr.Dropdown(
        titles, value=first, label="Pair of target and drafter", info=pair_facts(first)
    )


def choose_pair(name: str) -> tuple[Any, Any]:
    """Another pair: its facts, and its usual budget."""
    return gr.Dropdown(info=pair_facts(name)), gr.Slider(value=find(name).budget)


def settings_controls() -> list[gr.components.Component]:
    """One control per field of ``FIELDS``, with the ranges and defaults of ``DecodeConfig``."""
    default = DecodeConfig()
    made: dict[str, gr.components.Component] = {}

    def slider(name: str, low: float, high: float, step: float, label: str, info: str = "") -> None:
        made[name] = gr.Slider(
            low, high, getattr(default, name), step=step, label=label, info=info or None
        )

    def switch(name: str, label: str, info: str) -> None:
        made[name] = gr.Checkbox(getattr(default, name), label=label, info=info, min_width=150)

    with gr.Row():
        made["scorer"] = gr.Dropdown(list(get_args(Scorer)), value=default.scorer, label="Scorer")
        made["search"] = gr.Dropdown(list(get_args(Search)), value=default.search, label="Search")
        slider("lam", 0, 4, 0.05, "λ", "weight of the correction")
        slider("order", 2, 3, 1, "n-gram order")
    with gr.Row():
        switch("normalised", "Normalised", "children keep their mass")
        switch("correct_first", "Correct level 1", "the first drafted token too")
        switch("static_ngram", "Static n-gram", "text the target wrote before")
        switch("online_ngram", "Online n-gram", "prompt and output of this run")
        switch("sampled_draft", "Sampled draft", "linear search at T > 0")
    with gr.Row():
        slider("budget", 1, 1024, 1, "Budget", "nodes of the tree")
        slider("draft_length", 1, 31, 1, "Draft length", "positions")
        slider("top_k", 1, 64, 1, "Top-K", "candidates per position")
        slider("beam_width", 1, 1024, 1, "Beam width", "beam search only")
    with gr.Row():
        slider("temperature", 0, 4, 0.05, "Temperature", "0: greedy")
        slider("top_p", 0.05, 1, 0.05, "Top-p", "nucleus of the sampling")
        slider("sample_top_k", 0, 100, 1, "Sampling top-k", "0: all tokens")
        made["seed"] = gr.Number(default.seed, precision=0, minimum=0, maximum=2**53, label="Seed")
        slider("max_new_tokens", 1, 1024, 1, "Max new tokens")
    return [made[name] for name in FIELDS]
