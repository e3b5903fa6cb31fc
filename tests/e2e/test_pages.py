"""The pages beside Explore: lanes side by side, and benchmark results."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support import synthetic
from tests.support.browser import serious
from tests.support.results import RESULT

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]


def open_page(visit: Visit, name: str) -> Page:
    page = visit()
    page.get_by_role("tab", name=name).click()
    return page


def test_recorded_lanes_are_locked_by_position(visit: Visit) -> None:
    page = open_page(visit, "Compare")
    lanes = page.locator("#compare .lane")
    expect(lanes).to_have_count(4)
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("recorded")
    page.locator('#compare [data-part="slider"]').fill("5")
    expect(page.locator('#compare [data-part="where"]')).to_have_text(re.compile("token 5 / "))
    expect(lanes.first).to_contain_text("round 5 of")  # plain decoding: a token per round
    page.click('#compare [data-do="later"]')
    expect(page.locator('#compare [data-part="where"]')).not_to_have_text(re.compile("token 5 / "))
    expect(page.locator('#compare [data-part="clock"] .scatterlayer .trace')).to_have_count(4)


def test_each_round_of_a_real_lane_says_what_other_scorers_would_have_committed(
    visit: Visit, real_address: str
) -> None:
    page = visit(url=real_address)
    page.get_by_role("tab", name="Compare").click()
    lanes = page.locator("#compare .lane .alternatives")
    expect(lanes.last).to_contain_text(re.compile(r"At this very state: .*linear \d+ · blind \d+"))
    expect(lanes.last.locator("b")).to_have_count(1)  # the lane's own scorer
    before = lanes.last.inner_text()
    for _ in range(6):
        page.click('#compare [data-do="later"]')
    assert lanes.last.inner_text() != before


@pytest.mark.parametrize(
    "settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}]
)
def test_every_lane_shows_its_tree_and_a_node_is_found_in_all_of_them(
    visit: Visit, real_address: str, settings: dict[str, object]
) -> None:
    page = visit(url=real_address, **settings)
    page.get_by_role("tab", name="Compare").click()
    trees, remarks = page.locator("#compare .small-tree"), page.locator("#compare .lane > .remark")
    expect(trees).to_have_count(4)
    said = trees.last.locator("xpath=following-sibling::p[1]")
    expect(said).to_contain_text("drafted nodes accepted, then the target’s own")
    trees.last.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("’: root")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("’: ")
    found = remarks.filter(has_text=said.inner_text().split("’:")[0])
    expect(found).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(said).to_contain_text("drafted nodes accepted")
    assert page.locator('#player [data-part="where"]').inner_text().startswith("round 1 /")
    assert serious(page, "#compare") == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]  # type: ignore[index]


def test_a_node_that_is_pointed_at_is_ringed_in_every_lane_that_has_it(
    visit: Visit, real_address: str
) -> None:
    page = visit(url=real_address)
    page.get_by_role("tab", name="Compare").click()
    trees = page.locator("#compare .small-tree")
    expect(trees).to_have_count(4)
    rows = page.locator("#compare .lane .small-tree + .remark")
    before = rows.all_inner_texts()
    x, y, width, height = (trees.last.bounding_box() or {}).values()
    for step in range(60):  # along the middle of the tree, where its root is at the latest
        page.mouse.move(x + width * step / 60, y + height / 2)
        if rows.all_inner_texts() != before:
            break
    assert any("’: " in text for text in rows.all_inner_texts())
    page.mouse.move(x + width / 2, y - 40)
    assert rows.all_inner_texts() == before


def test_hostile_tokens_stay_characters_under_the_lanes(visit: Visit) -> None:
    page = open_page(visit, "Compare")
    ask = page.locator("#ask-lanes")
    ask.get_by_label("Recorded run").click()
    page.get_by_role("option", name="Hostile").click()
    expect(page.locator("#compare .small-tree")).to_have_count(4)
    tree = page.locator("#compare .small-tree").last
    said, seen = tree.locator("xpath=following-sibling::p[1]"), ""
    tree.focus()
    for key in ("ArrowRight", "ArrowRight", *["ArrowDown"] * 6):
        page.keyboard.press(key)
        seen += said.inner_text()
    assert "‘" in seen
    assert page.locator("#compare .lane img, #compare .lane script").count() == 0


def test_lanes_are_really_run_one_after_another(visit: Visit) -> None:
    page = open_page(visit, "Compare")
    page.get_by_label("Lane 1").click()
    page.get_by_role("option", name="–").click()
    page.get_by_role("button", name="Run lanes").click()
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("live")
    expect(page.locator("#compare .lane")).to_have_count(3)
    expect(page.locator('#compare [data-part="message"]')).to_be_hidden()
    expect(page.locator("#compare .lane").last).to_contain_text("over the first lane")


def test_choosing_a_recorded_run_ends_the_comparison(
    visit: Visit, release: Callable[[], None]
) -> None:
    page = open_page(visit, "Compare")
    ask = page.locator("#ask-lanes")
    prompt = ask.get_by_label("Prompt", exact=True)
    expect(prompt).to_have_value(synthetic.recording().traces[0].prompt)
    prompt.fill("hello")
    page.get_by_role("button", name="Run lanes").click()
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("live")
    expect(page.locator("#compare .lane")).to_have_count(1)  # held in its fourth round
    ask.get_by_label("Recorded run").click()
    page.get_by_role("option", name="Usual").click()
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("recorded")
    expect(prompt).to_have_value(synthetic.recording().traces[0].prompt)
    release()
    expect(page.get_by_role("button", name="Run lanes")).to_be_enabled()
    page.wait_for_timeout(1000)
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("recorded")
    expect(page.locator("#compare .lane")).to_have_count(4)


def test_a_pasted_result_is_drawn_and_a_broken_one_refused(visit: Visit) -> None:
    page = open_page(visit, "Bench")
    page.get_by_text("Paste a result file").click()
    page.get_by_label("Result file").fill(json.dumps(RESULT))
    page.get_by_role("button", name="Show").click()
    expect(page.locator('#bench [data-part="badge"]')).to_have_text("pasted")
    for name in ("tau", "speed", "histogram", "ends", "overhead"):
        expect(page.locator(f'#bench [data-part="{name}"] .main-svg').first).to_be_visible()
    beyond = page.locator("#bench .chart").evaluate_all(
        """(boxes) => boxes.map((box) =>
            box.querySelector(".main-svg").clientWidth - box.clientWidth)"""
    )
    assert beyond == [0, 0, 0, 0, 0]  # every figure fills its panel
    paints = page.locator('#bench [data-part="tau"] .trace.bars .point > path').evaluate_all(
        """(bars) => bars.map(({ style }) => {
            const hatching = style.fill.match(/#([^"]+)"/);
            if (!hatching) return style.fill;
            const ground = document.getElementById(hatching[1]).querySelector("rect");
            return ground && getComputedStyle(ground).fill;
        })"""
    )
    assert None not in paints  # a hatched bar has a ground to be hatched
    assert len(set(paints)) == len(RESULT["methods"])
    page.get_by_label("Result file").fill('{"where": 7}')
    page.get_by_role("button", name="Show").click()
    expect(page.locator('#bench [data-part="message"]')).to_contain_text(
        "Not a valid benchmark result"
    )
