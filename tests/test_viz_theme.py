"""Colours: readable on the page in both themes, and the style sheet has the figures' own."""

import re

import pytest

from ui.player import PLAYER, STYLES
from viz.theme import DARK, LIGHT, Palette

CSS = STYLES[0].read_text(encoding="utf-8")
NAMES = ("ink", "muted", "accepted", "bonus", "rejected", "beyond", "exact")


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1) of ``#rrggbb``."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_text_in_every_colour_is_readable(palette: Palette, name: str) -> None:
    light, dark = sorted(
        (luminance(getattr(palette, name)), luminance(palette.paper)), reverse=True
    )
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("palette", "block"), [(LIGHT, ":root"), (DARK, ".dark")], ids=["light", "dark"]
)
def test_the_style_sheet_has_the_same_colours(palette: Palette, block: str) -> None:
    rules = CSS[CSS.index(f"{block} {{") :]
    found = dict(re.findall(r"--(\w+): (#\w{6});", rules[: rules.index("}")]))
    assert {name: found[name] for name in NAMES} == {name: getattr(palette, name) for name in NAMES}


def test_every_style_sheet_is_on_the_page() -> None:
    assert sorted(STYLES) == sorted(PLAYER.rglob("*.css"))
