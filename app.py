"""PRESTO explorer: speculative decoding with draft trees, live or recorded, in the browser.

``build()`` wires the page, the handlers are plain functions, the figures come from ``viz``, the decoding from
``presto``. Importing this module loads no model.
"""

import json
import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast, get_args

import gradio as gr
import plotly

from presto.records import DecodeConfig, Scorer, Search, Trace, to_json
from presto.requests import check_method, check_prompt, make_config
from viz.payload import Show
from viz.shelf import recorded, shelf
from viz.visit import Visit

ASSETS = Path(__file__).parent / "assets"
PLAYER = ASSETS / "player"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
MODEL = "model"  # everything that decodes waits in one line: there is one device
QUEUE = 16
BUSY, READY = gr.Button(interactive=False), gr.Button(interactive=True)
STOPPABLE, UNSTOPPABLE = gr.Button(interactive=True), gr.Button(interactive=False)
FAILED = "The run failed on our side; the log has the details. Run again, or choose a recorded run."
NO_RUNS = "No recorded run here yet: write a prompt and press Run."
FONTS = ("system-ui", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONO_FONTS = ("ui-monospace", "DejaVu Sans Mono", "Noto Sans Mono", "Consolas", "monospace")

HEAD, HOW = ((ASSETS / name).read_text(encoding="utf-8") for name in ("head.html", "how.md"))
PRESETS: dict[str, str] = json.loads((ASSETS / "presets.json").read_text(encoding="utf-8"))
FIELDS = (  # of DecodeConfig, in the order of the handlers' arguments
    *("scorer", "normalised", "search", "lam", "order", "top_k", "beam_width", "budget", "draft_length"),
    *("temperature", "seed", "max_new_tokens"),
)
LANES = (("presto", "Decoding with PRESTO…"), ("linear", "Decoding the same prompt with linear drafting, to compare…"))


def runs_folder() -> Path:
    """Where the recordings lie."""
    return Path(os.environ.get("PRESTO_RUNS", ASSETS / "runs"))


def open_recorded(title: str, visit: Visit) -> tuple[dict[str, Any], str]:
    """The player's value and the prompt of a recorded run; a live run ends."""
    visit.leave()
    run = recorded(shelf(runs_folder())[title])
    return run.value, run.prompt


def check(visit: object, prompt: object, system: str, *settings: Any) -> list[dict[str, Any]]:
    """Refuse a request that cannot run, with one sentence under the prompt, before it is queued."""
    message = ""
    try:
        check_prompt(prompt)
        config_of(settings)
    except ValueError as error:
        message = sentence(error)
    fine = gr.validate(True, "")
    return [fine, gr.validate(not message, message), fine, *([fine] * len(settings))]


def begin(visit: Visit, *request: Any) -> tuple[int, None, Any, Any]:
    """A checked request gets its number; no recorded run is chosen any more, Run waits, Stop works."""
    return visit.begin(), None, BUSY, STOPPABLE


def run_live(visit: Visit, number: int, prompt: str, system: str, *settings: Any) -> Iterator[dict[str, Any]]:
    """Decode the prompt, PRESTO first, then linear drafting; one update per round, until it is no longer wanted."""
    show = Show("live", "Your prompt")
    yield show.value("running", "Loading the model and reading the prompt…")
    try:
        for message in decode_lanes(show, system, prompt, config_of(settings), lambda: visit.wanted == number):
            yield show.value("running", message)
        end = ""
    except Exception as error:
        end = reason(error)
    if number in (visit.wanted, visit.stopped):
        yield show.value("done", "Stopped." if visit.stopped == number else end)
    visit.end(number)


def decode_lanes(
    show: Show, system: str, prompt: str, config: DecodeConfig, wanted: Callable[[], bool]
) -> Iterator[str]:
    """Feed ``show`` round by round while ``wanted``; yields what is being done. Closing it frees the model at once."""
    from presto.runs import stream

    for method, message in LANES:
        with closing(cast("Generator[Trace, None, None]", stream(system, prompt, method, config))) as traces:
            for trace in traces:
                if not wanted():
                    return
                show.take(trace)
                yield message


def halt(visit: Visit) -> tuple[Any, Any]:
    """Stop: the run ends at its next round, what it has stays on the page."""
    visit.stop()
    return READY, UNSTOPPABLE


def rest(visit: Visit) -> tuple[Any, Any]:
    """After a run, however it ended: Run works again, unless another one has begun."""
    return (READY, UNSTOPPABLE) if visit.wanted is None else (gr.skip(), gr.skip())


def decode(prompt: str, method: str = "presto", system: str = "", settings: dict[str, Any] | None = None) -> Any:
    """Decode a prompt and return the whole trace: tokens, draft trees, scores, verdicts and seconds of every round.

    Args:
        prompt: what to say to the model; its chat template is applied.
        method: "presto", "blind" (the tree without correction), "linear" (one path) or "ar" (no drafting).
        system: name of the pair; empty for the default.
        settings: fields of DecodeConfig to change, such as {"budget": 64, "temperature": 0.8}.
    """
    from presto.runs import stream

    try:
        config = make_config(**(settings or {}))
        *_, trace = stream(system or systems()[0], check_prompt(prompt), check_method(method), config)
    except ValueError as error:
        raise gr.Error(sentence(error), print_exception=False) from None
    return json.loads(to_json(trace))


def systems() -> tuple[str, ...]:
    """Names of the pairs, the default first."""
    from presto.models.registry import names

    return names()


def config_of(settings: Sequence[Any]) -> DecodeConfig:
    """The controls' values as a config; ``ValueError`` names the first that is out of range."""
    return make_config(**dict(zip(FIELDS, settings, strict=True)))


def reason(error: Exception) -> str:
    """Why a run failed, for the visitor: their part in words, ours in the log."""
    if isinstance(error, ValueError):
        return sentence(error)
    logging.getLogger(__name__).error("a live run failed", exc_info=error)
    return FAILED


def sentence(error: ValueError) -> str:
    """An error as a sentence of its own."""
    text = str(error)
    return text[:1].upper() + text[1:]


def settings_controls() -> list[gr.components.Component]:
    """One control per field of ``FIELDS``, with the ranges and defaults of ``DecodeConfig``."""
    default = DecodeConfig()
    made: dict[str, gr.components.Component] = {}
    with gr.Row():
        made["scorer"] = gr.Dropdown(list(get_args(Scorer)), value=default.scorer, label="Scorer")
        made["search"] = gr.Dropdown(list(get_args(Search)), value=default.search, label="Search")
        made["lam"] = gr.Slider(0, 4, default.lam, step=0.05, label="λ", info="weight of the correction")
        made["order"] = gr.Slider(2, 3, default.order, step=1, label="n-gram order")
    with gr.Row():
        made["budget"] = gr.Slider(1, 1024, default.budget, step=1, label="Budget", info="nodes of the tree")
        made["draft_length"] = gr.Slider(1, 31, default.draft_length, step=1, label="Draft length", info="positions")
        made["top_k"] = gr.Slider(1, 64, default.top_k, step=1, label="Top-K", info="candidates per position")
        made["beam_width"] = gr.Slider(1, 1024, default.beam_width, step=1, label="Beam width", info="beam search only")
    with gr.Row():
        made["temperature"] = gr.Slider(0, 4, default.temperature, step=0.05, label="Temperature", info="0: greedy")
        made["seed"] = gr.Number(default.seed, precision=0, minimum=0, maximum=2**53, label="Seed")
        made["max_new_tokens"] = gr.Slider(1, 1024, default.max_new_tokens, step=1, label="Max new tokens")
        made["normalised"] = gr.Checkbox(default.normalised, label="Normalised", info="children keep their mass")
    return [made[name] for name in FIELDS]


def player_component(value: dict[str, Any] | None) -> gr.HTML:
    """The player: fixed template, stepped by ``assets/player/player.js`` in the page."""
    gr.set_static_paths([PLOTLY, PLAYER])
    template, boot = ((PLAYER / name).read_text(encoding="utf-8") for name in ("player.html", "boot.js"))
    for name, path in {"PLAYER_PATH": PLAYER / "player.js", "PLOTLY_PATH": PLOTLY}.items():
        boot = boot.replace(name, path.as_posix())
    return gr.HTML(
        value=value,
        html_template=template,
        js_on_load=boot,
        apply_default_css=False,
        elem_id="player",
    )


def early_scripts() -> str:
    """Tags for the page's head: the player's scripts start loading beside Gradio's own."""
    modules = (path for path in PLAYER.glob("*.js") if path.name != "boot.js")
    parts = (f'<link rel="modulepreload" href="gradio_api/file={path.as_posix()}">' for path in modules)
    script = f'<script async data-plotly src="gradio_api/file={PLOTLY.as_posix()}" onerror="this.remove()"></script>'
    return script + "".join(parts)


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
            system = gr.Dropdown(list(systems()), value=systems()[0], label="Pair of target and drafter")
            controls = settings_controls()
        player = player_component(value)
        gr.Markdown(HOW, elem_id="how-it-works", elem_classes="presto-page")
        wire(picker, preset, prompt, run, stop, [system, *controls], player)
        gr.api(decode, api_name="decode", concurrency_id=MODEL, concurrency_limit=1)
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
