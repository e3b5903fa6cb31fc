"""Lanes with settings of their own, and lanes that are replayed without decoding."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import serious

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
PHONE = {"viewport": {"width": 390, "height": 844}}
MARK = "replayed at lane 1’s states"


def compare(visit: Visit, address: str, settings: dict[str, object]) -> Page:
    page = visit(url=address, **settings)
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#compare .lane").first).to_contain_text("round")
    return page


def choose(page: Page, lane: int, title: str) -> None:
    """Choose by the keyboard alone what a lane runs."""
    box = page.get_by_role("combobox", name=f"Lane {lane}", exact=True)
    box.fill(title)
    expect(page.get_by_role("option", name=title, exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(box).to_have_value(title)


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, PHONE])
def test_lanes_are_replayed_at_the_states_of_the_run_on_the_page(
    visit: Visit, real_address: str, settings: dict[str, object]
) -> None:
    page = compare(visit, real_address, settings)
    slider = page.locator('#compare [data-part="slider"]')
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    place = page.locator('#compare [data-part="where"]').inner_text()
    choose(page, 4, "PRESTO")
    fold = page.get_by_role("button", name="Lane 4, settings of its own")
    fold.press("Enter")
    page.get_by_label("λ, lane 4").fill("0.2")
    page.get_by_label("Budget, lane 4").fill("64")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Replay lanes").press("Enter")
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("replayed")
    lanes = page.locator("#compare .lane")
    expect(lanes).to_have_count(4)  # the run, linear, blind tree, PRESTO
    last = lanes.nth(3)
    expect(last).to_contain_text("PRESTO, λ 0.2, budget 64")
    expect(last).to_contain_text(MARK)
    expect(last).to_contain_text("would commit")
    expect(lanes.first).not_to_contain_text(MARK)
    expect(page.locator('#compare [data-part="where"]')).to_have_text(place)
    assert serious(page, "#compare") == []
    assert serious(page, "#settings-of-lanes") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_lane_with_settings_of_its_own_is_decoded_with_them(visit: Visit, address: str) -> None:
    page = compare(visit, address, {"expected": "status of 422"})
    page.get_by_role("button", name="Lane 3, settings of its own").click()
    page.get_by_label("Budget, lane 3").fill("9")
    page.get_by_role("button", name="Run lanes").click()
    expect(page.locator("#compare .lane h3").nth(2)).to_contain_text("blind tree, budget 9")
    expect(page.get_by_role("button", name="Run lanes")).to_be_enabled()
    page.get_by_label("Budget, lane 3").fill("")
    page.get_by_role("button", name="Lane 2, settings of its own").click()
    page.get_by_label("Budget, lane 2").fill("9")
    page.get_by_role("button", name="Run lanes").click()
    words = "Linear has no use for a setting 'Budget' of its own"
    expect(page.get_by_text(words).first).to_be_visible()
