"""Colours, symbols and the bare layout shared by all figures.

Hues are Okabe and Ito's, which stay apart for colour-blind readers; every class also has its own
symbol, line and word. Figures are drawn in ``LIGHT``; a dark page swaps each colour for its partner
in ``DARK`` (see ``dark_of_light``).
"""

from typing import Any, Literal, NamedTuple

Status = Literal["root", "accepted", "bonus", "rejected", "beyond"]
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONO = "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', 'Noto Sans Mono', Consolas, monospace"


class Palette(NamedTuple):
    """One colour per meaning. Text on the page's background keeps a contrast of 4.5 or more."""

    ink: str
    muted: str
    grid: str
    paper: str
    accepted: str
    bonus: str
    rejected: str
    beyond: str
    exact: str


LIGHT = Palette(
    "#1d2433",
    "#5b6475",
    "#e3e6ec",
    "#ffffff",
    "#0072b2",
    "#a36200",
    "#c44e00",
    "#6b7382",
    "#00795a",
)
DARK = Palette(
    "#e7eaf1",
    "#a3acbd",
    "#333a48",
    "#161a22",
    "#56b4e9",
    "#f0b232",
    "#ff9257",
    "#8b94a6",
    "#35c99f",
)
# A legend in one row over the figure.
LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 11}}
# opacity of a heat map's strongest shade: ink on it keeps a contrast of 4.5 or more in both themes
DARKEST = 0.6
SYMBOLS: dict[Status, str] = {
    "root": "square",
    "accepted": "circle",
    "bonus": "star",
    "rejected": "x-thin",
    "beyond": "circle-open",
}
STATUS_NAMES: dict[Status, str] = {
    "root": "root",
    "accepted": "accepted",
    "bonus": "bonus token",
    "rejected": "rejected by the target",
    "beyond": "beyond: never asked",
}


def colour(palette: Palette, status: Status) -> str:
    """The colour of a node or line of this status."""
    return palette.exact if status == "root" else str(getattr(palette, status))


def shades_of(palette: Palette) -> tuple[str, str]:
    """The faintest and the strongest shade of a heat map; text on either stays legible."""
    red, green, blue = (int(palette.muted[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.03)", f"rgba({red},{green},{blue},{DARKEST})"


def dark_of_light() -> dict[str, str]:
    """The dark partner of every light colour, for a page that recolours a drawn figure."""
    return dict(zip((*LIGHT, *shades_of(LIGHT)), (*DARK, *shades_of(DARK)), strict=True))


def base_layout(palette: Palette) -> dict[str, Any]:
    """Layout every figure starts from: transparent, the theme's ink."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": palette.ink},
        "hoverlabel": {
            "bgcolor": palette.paper,
            "bordercolor": palette.muted,
            "align": "left",
            "font": {"family": FONT, "size": 12, "color": palette.ink},
        },
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "hovermode": "closest",
    }


def axis(palette: Palette, **settings: Any) -> dict[str, Any]:
    """A quiet axis: thin grid, small muted ticks, no zero line."""
    quiet = {
        "zeroline": False,
        "gridcolor": palette.grid,
        "linecolor": palette.grid,
        "tickfont": {"size": 11, "color": palette.muted},
    }
    return quiet | settings


def axis_title(palette: Palette, text: str) -> dict[str, Any]:
    """The title of an axis, small and close to its numbers."""
    return {"text": text, "font": {"size": 11, "color": palette.muted}, "standoff": 4}


def note(palette: Palette, text: str) -> dict[str, Any]:
    """A sentence in the middle of an otherwise empty figure."""
    return {
        "text": text,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "font": {"size": 13, "color": palette.muted},
    }


def corner(palette: Palette, text: str) -> dict[str, Any]:
    """A remark in the lower right corner of a figure."""
    return note(palette, text) | {"x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"}
