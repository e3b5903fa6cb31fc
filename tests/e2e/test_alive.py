"""What makes the page feel alive: the veil while a run loads, explained numbers, examples."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import run, serious

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
STYLES = [{}, {"color_scheme": "dark"}, PHONE]


def where(page: Page, text: str) -> None:
    expect(page.locator('#player [data-part="where"]')).to_have_text(text)


@pytest.mark.parametrize("settings", STYLES)
def test_while_a_run_loads_the_last_tree_stays_under_a_veil(
    visit: Visit, loaded: Callable[[], None], settings: dict[str, object]
) -> None:
    page = visit(**settings)
    veil = page.locator('#player [data-part="veil"]')
    expect(veil).to_be_hidden()
    run(page, "hello")
    expect(veil).to_be_visible()
    expect(veil).to_contain_text("Loading SmolLM2")
    expect(veil.locator("b")).to_have_text(re.compile(r"[1-9] s"))
    expect(page.locator('#player [data-part="message"]')).to_contain_text("Loading SmolLM2")
    expect(page.locator('#player [data-part="badge"]')).to_have_text("recorded")
    page.click('#player [data-do="next"]')  # what is there can still be read
    where(page, "round 2 / 6")
    assert page.locator('[data-part="tree"] .textpoint').count() > 1
    assert serious(page, "#player") == []
    loaded()
    expect(page.locator('#player [data-part="badge"]')).to_have_text("live")
    expect(veil).to_be_hidden()
    where(page, "round 8 / 8")


def test_a_recorded_run_chosen_while_another_loads_stays(
    visit: Visit, loaded: Callable[[], None]
) -> None:
    page = visit()
    run(page, "hello")
    veil = page.locator('#player [data-part="veil"]')
    expect(veil).to_be_visible()
    page.locator("#examples button").first.click()
    expect(veil).to_be_hidden()
    loaded()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    expect(page.locator('#player [data-part="badge"]')).to_have_text("recorded")


def test_while_lanes_load_the_last_ones_stay(visit: Visit, loaded: Callable[[], None]) -> None:
    page = visit()
    page.get_by_role("tab", name="Compare").click()
    lane = page.locator("#compare .lane").first
    expect(lane).to_contain_text("round")
    page.get_by_role("button", name="Run lanes").click()
    expect(page.locator('#compare [data-part="veil"]')).to_contain_text("Loading SmolLM2")
    expect(lane).to_contain_text("round")
    assert serious(page, "#compare") == []
    loaded()
    expect(page.locator('#compare [data-part="veil"]')).to_be_hidden()
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("live")


@pytest.mark.parametrize("settings", STYLES)
def test_a_number_explains_itself_on_hover_focus_and_tap(
    visit: Visit, settings: dict[str, object]
) -> None:
    page = visit(**settings)
    words = page.locator('#player [data-part="numbers"] button')
    note = page.get_by_role("tooltip")
    words.first.focus()
    expect(note).to_contain_text("acceptance length")
    expect(words.first).to_have_accessible_description(re.compile("acceptance length"))
    page.keyboard.press("Tab")
    expect(note).to_contain_text("no prefill")
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    last = words.last
    last.tap() if "has_touch" in settings else last.hover()
    expect(note).to_contain_text("share of time")
    box = note.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]  # type: ignore[index]
    assert serious(page, "#player") == []


@pytest.mark.parametrize("settings", [{}, PHONE])
def test_an_example_opens_its_run_at_its_round_as_often_as_it_is_asked_for(
    visit: Visit, real_address: str, settings: dict[str, object]
) -> None:
    page = visit(url=real_address, **settings)
    message = page.locator('#player [data-part="message"]')
    for label, words in (
        ("A tree that does not pay", "the speed of linear drafting"),
        ("Another script", "not Latin"),
        ("A long accept", "drafted tokens accepted at once"),
    ):
        page.get_by_role("button", name=label).press("Enter")
        expect(message).to_contain_text(words)
    where(page, "round 2 / 41")
    page.click('#player [data-do="last"]')
    where(page, "round 41 / 41")
    page.get_by_role("button", name="A long accept").click()
    where(page, "round 2 / 41")
    expect(message).to_contain_text("accepted at once")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]  # type: ignore[index]
