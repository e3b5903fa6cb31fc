"""Field cases that need a browser and that no other test has: see docs/hardening.md."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from presto.records import Trace, save
from tests.support import synthetic
from tests.support.browser import rest

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
BOTH_WAYS = ["שלום", " world", " مرحبا", " 123", "\u202e", " and"]
CHIPS = """() => {
    const box = document.querySelector('#player [data-part="text"]');
    const { direction } = getComputedStyle(box);
    return [...box.querySelectorAll(".chip")].map((chip) => {
        const { left, right, top } = chip.getBoundingClientRect();
        const isolated = getComputedStyle(chip).unicodeBidi === "isolate";
        return [chip.textContent, isolated, top, direction === "rtl" ? -right : left];
    });
}"""


def spelled(trace: Trace) -> list[str]:
    """The output's tokens as the page writes them."""
    tokens = (token for round_ in trace.rounds for token in round_.committed)
    return [str(trace.pieces[token]).replace("\u202e", "<RLO>") for token in tokens]


def test_text_of_both_directions_stands_in_the_order_it_was_written(
    visit: Visit, tmp_path: Path
) -> None:
    trace = synthetic.trace(seed=3, rounds=6, budget=6, width=4, pieces=BOTH_WAYS)
    save(trace, tmp_path / "both.json")
    page = visit()
    page.locator('[data-part="file"]').set_input_files(tmp_path / "both.json")
    expect(page.locator('#player [data-part="badge"]')).to_have_text("opened")
    page.click('#player [data-do="last"]')
    rest(page)
    chips = page.evaluate(CHIPS)
    assert [text for text, *_ in chips] == spelled(trace)
    assert {"שלום", " مرحبا", "<RLO>"} <= {text for text, *_ in chips}
    assert all(isolated for _, isolated, *_ in chips)
    for (_, _, line, place), (_, _, next_line, next_place) in pairwise(chips):
        assert next_line > line + 2 or next_place > place


def test_a_page_whose_script_does_not_load_says_so(visit: Visit) -> None:
    page = visit(
        expected="Failed to load resource",
        prepare=lambda page: page.route("**/player/player.js", lambda route: route.abort()),
        wait=lambda page: page.wait_for_selector('#player [data-part="message"]'),
    )
    message = page.locator('#player [data-part="message"]')
    expect(message).to_contain_text("its script did not load. Reload to try again.")


def test_replays_pile_up_neither_styles_nor_charts(visit: Visit) -> None:
    page = visit()
    count = """() => [document.styleSheets.length, document.querySelectorAll(
        "#player canvas, #player .main-svg").length]"""
    seen = []
    for _ in range(4):
        page.keyboard.press("Home")
        for _ in range(6):
            rest(page)
            page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(count))
    assert seen[1:] == [seen[1]] * 3
    for part in ("tree", "scores"):
        expect(page.locator(f'#player [data-part="{part}"] .main-svg').first).to_be_visible()


def test_inside_an_iframe_the_page_scrolls(visit: Visit, address: str) -> None:
    page = visit()
    page.set_content(f'<iframe src="{address}" width="900" height="500"></iframe>')
    frame = page.frame_locator("iframe")
    expect(frame.locator('#player [data-part="tree"] .textpoint').first).to_be_attached()
    page.mouse.move(400, 80)
    page.mouse.wheel(0, 3000)
    expect(frame.locator("#player .bar")).not_to_be_in_viewport()
