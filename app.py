"""PRESTO explorer: speculative decoding with draft trees, live or recorded, in the browser.

This file wires the page. Its parts and handlers are in ``ui``, the figures in ``viz``, the decoding in ``presto``.
Importing this module loads no model.
"""

import json
import os
from pathlib import Path
from typing import Any

import gradio as gr

from ui.api import compare, decode, recorded_runs
from ui.controls import FIELDS, choose_pair, pair_control, settings_controls
from ui.links import from_query, to_query
from ui.live import begin, check, halt, rest, run_live
from ui.player import ASSETS, PLAYER, early_scripts, player_component
from viz.payload import Show
from viz.shelf import recorded, shelf
from viz.visit import Visit

MODEL = "model"  # everything that decodes waits in one line: there is one device
QUEUE = 16
SHARED = "A shared prompt: press Run, and the same seed writes the same text."
NO_RUNS = "No recorded run here yet: write a prompt and press Run."
FONTS = ("system-ui", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONO_FONTS = ("ui-monospace", "DejaVu Sans Mono", "Noto Sans Mono", "Consolas", "monospace")

HEAD, HOW = ((ASSETS / name).read_text(encoding="utf-8") for name in ("head.html", "how.md"))
PRESETS: dict[str, str] = json.loads((ASSETS / "presets.json").read_text(encoding="utf-8"))


def runs_folder() -> Path:
    """Where the recordings lie."""
    return Path(os.environ.get("PRESTO_RUNS", ASSETS / "runs"))


def open_recorded(title: str, visit: Visit) -> tuple[dict[str, Any], str]:
    """The player's value and the prompt of a recorded run; a live run ends."""
    visit.leave()
    run = recorded(shelf(runs_folder())[title])
    return run.value, run.prompt


def restore(request: gr.Request) -> list[Any]:
    """What a shared address asks for: a recorded run, or prompt and settings to run again."""
    asked = from_query(dict(request.query_params))
    if asked.prompt:
        show = Show("live", "Shared prompt", link=to_query(asked.prompt, asked.system, asked.config))
        value = show.value("done", asked.problem or SHARED)
        return [None, asked.prompt, value, asked.system, *(getattr(asked.config, name) for name in FIELDS)]
    unchanged = [gr.skip()] * (1 + len(FIELDS))
    if asked.run not in shelf(runs_folder()):
        return [gr.skip()] * 3 + unchanged
    value, text = open_recorded(asked.run, Visit())
    return [asked.run, text, value, *unchanged]


def build() -> gr.Blocks:
    """The page."""
    titles = list(shelf(runs_folder()))
    nothing = Show("recorded", "").value("done", NO_RUNS)
    value, text = open_recorded(titles[0], Visit()) if titles else (nothing, next(iter(PRESETS.values())))
    with gr.Blocks(title="PRESTO explorer", analytics_enabled=False, fill_width=True) as page:
        gr.HTML(HEAD, js_on_load=None, elem_id="head")
        with gr.Row(equal_height=True, elem_id="ask"):
            picker = gr.Dropdown(titles, value=next(iter(titles), None), label="Recorded run", scale=3, min_width=240)
            preset = gr.Dropdown(list(PRESETS), value=None, label="Preset prompt", scale=2)
            prompt = gr.Textbox(text, label="Prompt", lines=1, max_lines=4, scale=6, min_width=320)
            run = gr.Button("Run", variant="primary", scale=1, min_width=90)
            stop = gr.Button("Stop", interactive=False, scale=1, min_width=90)
        with gr.Accordion("Settings", open=False, elem_id="settings"):
            system = pair_control()
            controls = settings_controls()
        player = player_component(value, runs_folder())
        gr.Markdown(HOW, elem_id="how-it-works", elem_classes="presto-page")
        wire(picker, preset, prompt, run, stop, [system, *controls], player)
        shown = [picker, prompt, player, system, *controls]
        page.load(restore, None, shown, api_visibility="private", concurrency_limit=None, show_progress="hidden")
        for function in (decode, compare):
            gr.api(function, api_name=function.__name__, concurrency_id=MODEL, concurrency_limit=1)
        gr.api(recorded_runs(runs_folder()), api_name="trace", concurrency_limit=None)
    return page


def wire(picker: Any, preset: Any, prompt: Any, run: Any, stop: Any, settings: list[Any], player: Any) -> None:
    """Connect the controls to the handlers."""
    light: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": None, "show_progress": "hidden"}
    heavy: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": 1, "concurrency_id": MODEL}
    visit, number, buttons = gr.State(Visit()), gr.Number(visible=False), [run, stop]
    picker.input(open_recorded, [picker, visit], [player, prompt], **light)
    preset.input(PRESETS.get, preset, prompt, **light)
    request = [prompt, *settings]
    begun = gr.on(
        [run.click, prompt.submit], begin, [visit, *request], [number, picker, *buttons], validator=check, **light
    )
    over = begun.success(run_live, [visit, number, *request], player, show_progress_on=prompt, **heavy)
    over.then(rest, visit, buttons, **light)
    stop.click(halt, visit, buttons, **light)
    system, budget = settings[0], settings[1 + FIELDS.index("budget")]
    system.input(choose_pair, system, [system, budget], **light)


def main() -> None:
    """Serve the page on port 7860, or on PORT or GRADIO_SERVER_PORT."""
    port = int(os.environ.get("PORT") or os.environ.get("GRADIO_SERVER_PORT") or 7860)
    build().queue(max_size=QUEUE).launch(
        server_name=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        server_port=port,
        theme=gr.themes.Base(font=FONTS, font_mono=MONO_FONTS),
        css_paths=PLAYER / "player.css",
        head=early_scripts(),
        footer_links=["api"],
    )


if __name__ == "__main__":
    main()
