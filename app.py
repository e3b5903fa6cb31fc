"""PRESTO explorer: speculative decoding with draft trees, live or recorded, in the browser.

This file wires the page. Its parts and handlers are in ``ui``, the figures in ``viz``, the decoding
in ``presto``. Importing this module loads no model.
"""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from markdown_it import MarkdownIt
from starlette.middleware import Middleware

from presto import plugins
from presto.paths import ASSETS
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import AUTO
from ui import remote, zero
from ui.api import compare, decode, recorded_runs
from ui.bench import open_result, results, show_result
from ui.compare import (
    COMPARE,
    SETTINGS,
    check_lanes,
    recorded_lanes,
    replay_lanes,
    run_lanes,
    try_setting,
)
from ui.compare_payload import ComparePayload
from ui.compressed import CompressedOnce
from ui.controls import CHOSEN, FIELDS, values_of
from ui.environment import limit
from ui.examples import example_buttons
from ui.explore_payload import ExplorePayload, opening
from ui.files import open_file
from ui.gate import Gate
from ui.lane_forms import lane_controls
from ui.lesson import LESSON, asked_tab, lesson_value
from ui.limits import SESSIONS
from ui.links import from_query, to_query
from ui.listeners import Listeners
from ui.live import begin, check, halt, ready_again, run_live
from ui.payload import Value
from ui.player import STYLES, component, early_scripts, serve_files, unchanging
from ui.preload import chosen
from ui.queue import MODEL, bound_queue
from ui.recordings import recorded, recordings_in
from ui.replay_api import replays
from ui.run_ticket import RunTicket
from ui.serving import at_once, load_ahead
from ui.settings_panel import settings_panel
from ui.streams import StreamsOverSockets
from ui.what_if import WhatIf

SHARED = "A shared prompt: press Run, and the same seed writes the same text."
NO_RUNS = "No recorded run here yet: write a prompt and press Run."
FONTS = ("system-ui", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONO_FONTS = ("ui-monospace", "DejaVu Sans Mono", "Noto Sans Mono", "Consolas", "monospace")

HEAD, HOW = ((ASSETS / name).read_text(encoding="utf-8") for name in ("head.html", "how.md"))
PRESETS: dict[str, str] = json.loads((ASSETS / "presets.json").read_text(encoding="utf-8"))


def runs_folder() -> Path:
    """Where the recordings lie."""
    return Path(os.environ.get("PRESTO_RUNS", ASSETS / "runs"))


def open_recorded(title: str, ticket: RunTicket) -> tuple[Any, ...]:
    """The player's value, the prompt and the controls of the budget for a recorded run; a live run
    ends.
    """
    ticket.leave()
    run = recorded(recordings_in(runs_folder())[title])
    return run.value, run.prompt, *run.chosen.values()


def open_lanes(title: str, ticket: RunTicket) -> tuple[Value, str]:
    """The lanes and the prompt of a recorded run; a live comparison ends."""
    ticket.leave()
    path = recordings_in(runs_folder())[title]
    ticket.shown = path.name
    return recorded_lanes(path)


def replayed(ticket: RunTicket, *values: Any) -> Value:
    """The lanes' trees at the states of the run on the page "Compare"."""
    ticket.leave()
    return replay_lanes(runs_folder(), ticket, *values)


def open_lane(event: gr.EventData) -> list[Any]:
    """A lane for the settings that the panel "What if" tries."""
    return try_setting(runs_folder(), event)


def restore(request: gr.Request) -> list[Any]:
    """The rest of the first recorded run, or what a shared address asks for: another, or a prompt
    and settings.
    """
    asked = from_query(dict(request.query_params))
    if asked.prompt:
        link = to_query(asked.prompt, asked.system, asked.lane)
        value = ExplorePayload("live", "Shared prompt", link=link).value(
            "done", asked.problem or SHARED
        )
        return [
            None,
            asked.prompt,
            value,
            asked.system,
            *values_of(asked.lane.config, asked.lane.auto, asked.lane.method),
        ]
    titles, unchanged = list(recordings_in(runs_folder())), dict.fromkeys(FIELDS, gr.skip())
    if asked.run in titles:
        value, text, *chosen = open_recorded(asked.run, RunTicket())
        settings = unchanged | dict(zip((AUTO, *CHOSEN), chosen, strict=True))
        return [asked.run, text, value, gr.skip(), *settings.values()]
    return [
        gr.skip(),
        gr.skip(),
        open_recorded(titles[0], RunTicket())[0] if titles else gr.skip(),
        gr.skip(),
        *unchanged.values(),
    ]


# How Gradio serves an event of the page: at once, one file at a time, or as devices are free. A run
# may be asked for while an earlier one of the page, given up, still waits in the line or ends its
# round: by itself Gradio would drop it ("once").
AT_ONCE: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_limit": None,
    "show_progress": "hidden",
}
ONE_FILE: dict[str, Any] = AT_ONCE | {"concurrency_limit": 1, "show_progress": "minimal"}
EVERY_TIME: dict[str, Any] = {"trigger_mode": "multiple"}


def in_line() -> dict[str, Any]:
    """How what decodes is served: all in one line for the devices there are."""
    return {"concurrency_limit": at_once(), "concurrency_id": MODEL}


def a_run() -> dict[str, Any]:
    """How a run of the page is served."""
    return EVERY_TIME | {"api_visibility": "private"} | in_line()


def build() -> gr.Blocks:
    """The page."""
    plugins.load_named()
    serve_files(runs_folder())
    with gr.Blocks(title="PRESTO explorer", analytics_enabled=False, fill_width=True) as page:
        gr.HTML(HEAD, js_on_load=None, elem_id="head")
        with gr.Tabs(elem_id="pages") as pages:
            with gr.Tab("Explore"):
                settings, player = explore_page(page)
            with gr.Tab("Compare", id=COMPARE):
                compare_page(settings, player, pages)
            with gr.Tab("Bench"):
                bench_page()
            with gr.Tab("Learn", id=LESSON):
                component("lesson", lesson_value(runs_folder()))
        page.load(asked_tab, None, pages, **AT_ONCE)
        how = MarkdownIt().render(HOW)  # here: in the page it would delay the first tree
        gr.HTML(how, js_on_load=None, elem_id="how-it-works", elem_classes="presto-page")
        for function in (decode, compare):
            gr.api(
                function,
                api_name=function.__name__,
                concurrency_id=MODEL,
                concurrency_limit=at_once(),
            )
        gr.api(recorded_runs(runs_folder()), api_name="trace", concurrency_limit=None)
        gr.api(replays(runs_folder()), api_name="replay", concurrency_limit=2)
    return page


def explore_page(page: gr.Blocks) -> tuple[list[Any], gr.HTML]:
    """One run, round by round; returns the controls of pair and settings, and the player."""
    titles = list(recordings_in(runs_folder()))
    nothing = ExplorePayload("recorded", "").value("done", NO_RUNS)
    value, text = (
        open_recorded(titles[0], RunTicket())[:2]
        if titles
        else (nothing, next(iter(PRESETS.values())))
    )
    with gr.Row(equal_height=True, elem_id="ask"):
        picker = gr.Dropdown(
            titles, value=next(iter(titles), None), label="Recorded run", scale=3, min_width=240
        )
        preset = gr.Dropdown(list(PRESETS), value=None, label="Preset prompt", scale=2)
        prompt = gr.Textbox(text, label="Prompt", lines=1, max_lines=4, scale=6, min_width=320)
        run = gr.Button("Run", variant="primary", scale=1, min_width=90)
        stop = gr.Button("Stop", interactive=False, scale=1, min_width=90)
    examples_row = gr.Row(elem_id="examples")
    with gr.Accordion("Settings", open=False, elem_id="settings"):
        settings = settings_panel(AT_ONCE)
    player = component("player", opening(value) if titles else value)
    ticket, number, buttons = gr.State(RunTicket()), gr.Number(visible=False), [run, stop]
    named = dict(zip(FIELDS, settings[1:], strict=True))
    auto, chosen = named[AUTO], [named[name] for name in CHOSEN]
    picker.input(open_recorded, [picker, ticket], [player, prompt, auto, *chosen], **AT_ONCE)
    opened = [picker, prompt, player, auto, *chosen]
    with examples_row:
        shown = [picker, player, prompt, auto, *chosen]
        example_buttons(runs_folder(), open_recorded, ticket, shown, AT_ONCE)
    player.upload(open_file, ticket, opened, show_progress_on=prompt, **ONE_FILE)
    preset.input(PRESETS.get, preset, prompt, **AT_ONCE)
    request = [prompt, *settings]
    asked = [run.click, prompt.submit]
    begun = gr.on(
        asked, begin, [ticket, *request], [number, picker, *buttons], validator=check, **AT_ONCE
    )
    over = begun.success(
        run_live, [ticket, number, *request], player, show_progress_on=prompt, **a_run()
    )
    over.then(ready_again, ticket, buttons, **AT_ONCE, **EVERY_TIME)
    stop.click(halt, ticket, buttons, **AT_ONCE)
    page.load(restore, None, [picker, prompt, player, *settings], **AT_ONCE)
    return settings, player


def compare_page(settings: list[Any], player: gr.HTML, pages: gr.Tabs) -> None:
    """Up to four lanes side by side, with the pair and settings of the page "Explore", whose
    ``player`` may ask for one.
    """
    titles, first = list(recordings_in(runs_folder())), RunTicket()
    nothing = ComparePayload("recorded", "").value()
    value, text = (
        open_lanes(titles[0], first) if titles else (nothing, next(iter(PRESETS.values())))
    )
    with gr.Row(equal_height=True, elem_id="ask-lanes"):
        picker = gr.Dropdown(
            titles, value=next(iter(titles), None), label="Recorded run", scale=3, min_width=240
        )
        prompt = gr.Textbox(text, label="Prompt", lines=1, max_lines=4, scale=6, min_width=320)
        run = gr.Button("Run lanes", variant="primary", scale=1, min_width=90)
        stop = gr.Button("Stop", interactive=False, scale=1, min_width=90)
    with gr.Row():
        lanes = lane_controls()
    with gr.Row(equal_height=True, elem_id="settings-of-lanes"):
        gr.HTML(f"<p>{SETTINGS}</p>", js_on_load=None)
        again = gr.Button("Replay lanes", size="sm", scale=0, min_width=120)
    side = component("compare", value)
    ticket, number, buttons = gr.State(first), gr.Number(visible=False), [run, stop]
    picker.input(open_lanes, [picker, ticket], [side, prompt], **AT_ONCE)
    request = [prompt, *lanes, *settings]
    tried = player.submit(open_lane, None, [pages, prompt, *lanes, *settings], **AT_ONCE)
    for on in (partial(gr.on, [run.click, prompt.submit]), tried.success):
        begun = on(
            begin,
            [ticket, *request],
            [number, picker, *buttons],
            validator=check_lanes,
            **AT_ONCE,
        )
        over = begun.success(
            run_lanes, [ticket, number, *request], side, show_progress_on=prompt, **a_run()
        )
        over.then(ready_again, ticket, buttons, **AT_ONCE, **EVERY_TIME)
    again.click(replayed, [ticket, *lanes, *settings], side, **ONE_FILE)
    stop.click(halt, ticket, buttons, **AT_ONCE)


def bench_page() -> None:
    """Result files of ``presto bench``."""
    titles = list(results())
    first = next(iter(titles), "")
    picker = gr.Dropdown(titles, value=first or None, label="Recorded result")
    with gr.Accordion("Paste a result file of presto bench", open=False):
        pasted = gr.Textbox(label="Result file", lines=4, max_lines=8)
        show = gr.Button("Show")
    figures = component("bench", open_result(first))
    picker.input(open_result, picker, figures, **AT_ONCE)
    show.click(show_result, pasted, figures, **AT_ONCE)


def around() -> list[Middleware]:
    """What stands before Gradio's own routes."""
    return [
        Middleware(Gate),
        Middleware(WhatIf, folder=runs_folder()),
        Middleware(StreamsOverSockets),
        Middleware(Listeners),
        Middleware(CompressedOnce, prefixes=unchanging()),
    ]


def main() -> None:
    """Serve the page on port 7860, or on PORT or GRADIO_SERVER_PORT."""
    port = int(os.environ.get("PORT") or os.environ.get("GRADIO_SERVER_PORT") or 7860)
    with in_one_sentence():
        pairs = chosen()
        zero.preload()
        with remote.backend():
            serve(port, pairs)


def serve(port: int, ahead: tuple[str, ...]) -> None:
    """Serve the page until it is ended; the pairs ``ahead`` are loaded meanwhile."""
    page = bound_queue(build())
    page.launch(
        server_name=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        server_port=port,
        theme=gr.themes.Base(font=FONTS, font_mono=MONO_FONTS),
        css_paths=STYLES,
        head=early_scripts(),
        footer_links=["api"],
        run_history=False,  # nobody's prompts are kept
        enable_monitoring=False,
        app_kwargs={"middleware": around()},
        state_session_capacity=limit("PRESTO_SESSIONS", SESSIONS),
        mcp_server=os.environ.get("PRESTO_MCP") == "1",  # needs the package gradio[mcp]
        prevent_thread_lock=True,
    )
    load_ahead(ahead)
    page.block_thread()


if __name__ == "__main__":
    main()
