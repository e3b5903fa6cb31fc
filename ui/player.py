"""The player: one custom component that shows a run and steps through it in the page."""

from pathlib import Path
from typing import Any

import gradio as gr
import plotly

ASSETS = Path(__file__).resolve().parents[1] / "assets"
PLAYER = ASSETS / "player"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def player_component(value: dict[str, Any] | None, runs: Path) -> gr.HTML:
    """The player: fixed template, stepped by ``assets/player/player.js`` in the page."""
    gr.set_static_paths([PLOTLY, PLAYER, runs])
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
