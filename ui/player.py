"""The page's own components: fixed markup filled and stepped by scripts under ``assets/player``."""

from pathlib import Path
from typing import Any

import gradio as gr
import plotly

from presto.paths import ASSETS

PLAYER = ASSETS / "player"
LEARN = ASSETS / "learn"  # texts, one file per language
LATER = {
    "boot.js",
    "bench.js",
    "compare.js",
    "film.js",
    "film_table.js",
    "film_tree.js",
    "lesson.js",
    "lesson_build.js",
    "lesson_challenges.js",
    "lesson_chapter.js",
    "lesson_handout.js",
    "lesson_knob.js",
    "lesson_pictures.js",
    "lesson_questions.js",
    "lesson_steps.js",
    "lesson_tree.js",
    "lesson_words.js",
    "mask.js",
    "small_trees.js",
    "logic/film.js",
    "logic/answers.js",
    "logic/lanes.js",
    "logic/lesson.js",
    "logic/lesson_tree.js",
    "logic/small_trees.js",
}  # not for what the page shows first
AT_ONCE = ("streams.js", "theme.js")  # run by the page itself, not by its components
# In this order: where two rules weigh the same, the later one counts.
_SHEETS = (
    "colours",
    "page",
    "bar",
    "timeline",
    "panels",
    "notes",
    "text",
    "film",
    "what_if",
    "table",
    "lanes",
    "lesson",
    "lesson_more",
    "narrow",
    "projector",
)
STYLES = [PLAYER / "styles" / f"{name}.css" for name in _SHEETS]
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
OURS = (PLOTLY, PLAYER, LEARN)
GRADIOS = ("/assets/", "/static/", "/theme.css")


def _address(path: Path) -> str:
    return f"gradio_api/file={path.as_posix()}"


def serve_files(runs: Path) -> None:
    """Let the page load its scripts, Plotly's and the recorded runs from this server; nothing else
    is served.
    """
    gr.set_static_paths([*OURS, runs])


def unchanging() -> tuple[str, ...]:
    """How the addresses of scripts and styles begin, Gradio's and ours, which stay the same while
    the server runs.
    """
    return *GRADIOS, *(f"/{_address(path)}" for path in OURS)


def component(name: str, value: dict[str, Any] | None) -> gr.HTML:
    """The component ``assets/player/NAME.html``, run by ``NAME.js``; ``value`` is what the script
    shows first.
    """
    template, boot = (
        (PLAYER / file).read_text(encoding="utf-8") for file in (f"{name}.html", "boot.js")
    )
    for mark, path in {
        "SCRIPT_PATH": PLAYER / f"{name}.js",
        "PLOTLY_PATH": PLOTLY,
        "LEARN_PATH": LEARN,
    }.items():
        boot = boot.replace(mark, path.as_posix())
    return gr.HTML(
        value=value,
        html_template=template,
        js_on_load=boot,
        apply_default_css=False,
        elem_id=name,
    )


def early_scripts() -> str:
    """Tags for the page's head: our scripts load behind Gradio's, which mount first. Plotly's
    follows by itself.
    """
    scripts = {path.relative_to(PLAYER).as_posix(): _address(path) for path in PLAYER.rglob("*.js")}
    preload = '<link rel="modulepreload" fetchpriority="low" href="{}">'
    parts = [preload.format(href) for name, href in scripts.items() if name not in LATER]
    module = '<script type="module" src="{}"></script>'
    return "".join([*parts, *(module.format(scripts[name]) for name in AT_ONCE)])
