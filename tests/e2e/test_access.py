"""Accessibility: axe-core finds nothing serious in our own markup, light, dark and on a phone, on
every page.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.support.browser import serious

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]


@pytest.mark.parametrize(
    "settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}]
)
def test_explore_has_no_serious_finding(visit: Visit, settings: dict[str, object]) -> None:
    page = visit(**settings)
    page.locator("#player tr[data-node='3'] button").click()
    page.get_by_text("The score, with these numbers").click()
    page.locator(".share summary").click()
    for part in ("#player", "#head", "#how-it-works"):
        assert serious(page, part) == []


@pytest.mark.parametrize("name", ["Compare", "Bench"])
def test_the_other_pages_have_no_serious_finding(visit: Visit, name: str) -> None:
    page = visit()
    page.get_by_role("tab", name=name).click()
    page.wait_for_selector(f"#{name.lower()} .player")
    assert serious(page, f"#{name.lower()}") == []


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}])
def test_what_explains_a_setting_can_be_read(visit: Visit, settings: dict[str, object]) -> None:
    page = visit(**settings)
    page.locator("#settings").get_by_text("Settings", exact=True).click()
    page.locator("#more button").first.click()
    page.get_by_text("Weight of the correction.").wait_for()
    assert [finding for finding in serious(page, "#settings") if "contrast" in finding] == []
