"""The player on recorded runs: first sight, stepping, pinning, hostile text, phones, dark mode,
size.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from presto.records import Trace
from presto.records.tree import verdicts
from tests.support import synthetic
from tests.support.browser import first_tree, rest
from viz.view import round_sentence, view_of

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
USUAL: Trace = synthetic.recording("Usual", rounds=6).traces[0]


def where(page: Page) -> str:
    return page.locator('[data-part="where"]').inner_text()


def pick(page: Page, title: str) -> None:
    page.get_by_label("Recorded run").click()
    page.get_by_role("option", name=title).click()


def click_node(page: Page, node: int) -> None:
    """Click the mark of a node where Plotly drew it."""
    rest(page)
    x, y = page.evaluate(
        """(node) => {
            const box = document.querySelector('[data-part="tree"]');
            const frame = box.getBoundingClientRect();
            for (const trace of box.data) {
                const i = (trace.ids ?? []).indexOf(String(node));
                if (i < 0) continue;
                const { xaxis, yaxis } = box._fullLayout;
                const at = (axis, value) => axis._offset + axis.d2p(value);
                return [frame.x + at(xaxis, trace.x[i]), frame.y + at(yaxis, trace.y[i])];
            }
        }""",
        node,
    )
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def test_a_recorded_tree_is_on_screen_with_its_badge_and_numbers(visit: Visit) -> None:
    page = visit()
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")
    expect(page.locator('[data-part="sentence"]')).to_have_text(round_sentence(view_of(USUAL, 0)))
    numbers = page.locator('[data-part="numbers"]')
    for name in ("τ", "tokens/s", "vs linear", "vs autoregressive", "overhead"):
        expect(numbers.get_by_text(name, exact=True)).to_be_visible()
    expect(page.locator('[data-part="place"]')).to_contain_text("cpu · float32 · template: chat")
    for part in ("tree", "scores", "speedup"):
        expect(page.locator(f'[data-part="{part}"]')).to_have_attribute(
            "aria-label", re.compile(".{20,}")
        )
        assert page.locator(f'[data-part="{part}"]').bounding_box()["y"] < 768  # type: ignore[index]


def test_buttons_keys_and_slider_step(visit: Visit) -> None:
    page = visit()
    assert where(page) == "round 1 / 6"
    page.click('[data-do="next"]')
    assert where(page) == "round 2 / 6"
    page.keyboard.press("ArrowRight")
    assert where(page) == "round 3 / 6"
    page.keyboard.press("ArrowLeft")
    assert where(page) == "round 2 / 6"
    page.keyboard.press("End")
    assert where(page) == "round 6 / 6"
    page.keyboard.press("ArrowRight")
    assert where(page) == "round 6 / 6"
    page.keyboard.press("Home")
    assert where(page) == "round 1 / 6"
    page.locator('[data-part="slider"]').fill("4")
    assert where(page) == "round 4 / 6"
    expect(page.locator('[data-part="sentence"]')).to_have_text(round_sentence(view_of(USUAL, 3)))
    expect(page.locator('[data-part="live"]')).to_contain_text("Round 4.")


def test_keys_typed_into_the_prompt_stay_there(visit: Visit) -> None:
    page = visit()
    page.get_by_label("Prompt", exact=True).click()
    page.keyboard.press("ArrowRight")
    assert where(page) == "round 1 / 6"


def test_play_runs_to_the_end_and_stops(visit: Visit) -> None:
    page = visit()
    page.locator('[data-part="speed"]').select_option("4")
    page.locator("body").press("Space")
    expect(page.locator('[data-do="play"]')).to_have_text("Pause")
    expect(page.locator('[data-part="where"]')).to_have_text("round 6 / 6")
    expect(page.locator('[data-do="play"]')).to_have_text("Play")


def test_a_click_after_stepping_pins_the_node_of_the_round_on_screen(visit: Visit) -> None:
    page = visit()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tree = USUAL.rounds[2].tree
    node = verdicts(USUAL.rounds[2]).index("rejected")
    click_node(page, node)
    details = page.locator('[data-part="details"]')
    expect(details).to_contain_text("rejected: the target chose another token here")
    facts = {
        f.locator("dt").inner_text(): f.locator("dd").inner_text()
        for f in details.locator(".fact").all()
    }
    assert facts["token id"] == str(tree.tokens[node])
    assert facts["log q"] == f"{tree.log_q[node]:.2f}".replace("-", "−")
    assert facts["path score, aligned"].startswith(f"{tree.aligned[node]:.2f}".replace("-", "−"))
    expect(page.locator(f'tr[data-node="{node}"]')).to_have_attribute("aria-selected", "true")
    expect(page.locator(".text .ghost")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(details).to_contain_text("Select a node")
    expect(page.locator(".text .ghost")).to_have_count(0)


def test_the_tree_has_a_keyboard_cursor_and_a_table(visit: Visit) -> None:
    page = visit()
    page.locator('[data-part="cursor"]').focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert where(page) == "round 1 / 6"
    expect(page.locator('[data-part="live"]')).to_contain_text("depth 1")
    page.keyboard.press("Escape")
    expect(page.locator('[data-part="details"]')).to_contain_text("Select a node")
    rows = page.locator(".player tbody tr")
    expect(rows).to_have_count(len(USUAL.rounds[0].tree.tokens) + 1)
    rows.nth(2).locator("button").press("Enter")
    expect(rows.nth(2)).to_have_attribute("aria-selected", "true")


def test_a_chip_of_the_text_leads_to_its_round_and_node(visit: Visit) -> None:
    page = visit()
    page.keyboard.press("End")
    page.locator('.text .chip.bonus[data-round="1"]').click()
    assert where(page) == "round 2 / 6"
    expect(page.locator('[data-part="details"] .verdict')).to_have_text(
        "bonus: the target's own token"
    )


def test_hostile_tokens_show_their_characters_and_run_nothing(visit: Visit) -> None:
    page = visit()
    pick(page, "Hostile")
    expect(page.locator('[data-part="where"]')).to_have_text("round 1 / 8")
    table = ""
    for number in range(1, 9):
        expect(page.locator("#player caption")).to_have_text(f"Nodes of round {number}")
        table += page.locator("#player .scroll[aria-label='Table of nodes']").inner_text()
        click_node(page, 1)
        page.keyboard.press("ArrowRight")
    text = page.locator('[data-part="text"]').inner_text()
    for shown in ("<b>", "%{x}", "<extra></extra>", "$x$"):
        assert shown in table + text
    assert '<img src=x onerror="window.__xss=1">' in text
    assert "\ufffd" not in text + table
    assert page.locator(".player img, .player script").count() == 0
    labels = page.locator('[data-part="tree"] .textpoint').all_text_contents()
    assert any("<" in label for label in labels)
    assert not any("&" in label and "&lt;" not in label for label in labels)


@pytest.mark.parametrize(
    "view", ["Ranks", "Prediction", "Marginals", "Why it stopped", "Other scorers"]
)
def test_hostile_tokens_stay_text_in_every_view_of_the_scores(
    visit: Visit, address: str, view: str
) -> None:
    page = visit(url=f"{address}/?run=Hostile&round=1")
    page.get_by_role("tab", name=view).click()
    chart = page.locator('#player [data-part="scores"]')
    seen = ""
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        rest(page)
        x, y, width, height = (chart.bounding_box() or {}).values()
        page.mouse.move(x + width / 3, y + height / 2)
        seen += " ".join(chart.locator("text").all_text_contents())
    if view in ("Marginals", "Why it stopped"):
        assert "<b>" in seen
        assert "%{x}" in seen
    assert chart.locator("img, script, a").count() == 0


def test_the_formula_and_the_table_to_take_away_keep_hostile_tokens_as_text(
    visit: Visit, address: str
) -> None:
    page = visit(url=f"{address}/?run=Hostile&round=1")
    page.get_by_text("Share, save, open").click()
    with page.expect_download() as download:
        page.click('[data-do="table"]')
    assert "<" in Path(download.value.path()).read_text(encoding="utf-8-sig")
    for node in range(1, 13):
        page.locator(f"#player tr[data-node='{node}'] button").click()
        page.get_by_text("The score, with these numbers").click()
    assert page.locator("#player .details img, #player .details script").count() == 0


def test_hover_shows_a_hostile_token_in_full(visit: Visit) -> None:
    page = visit()
    pick(page, "Hostile")
    expect(page.locator('[data-part="where"]')).to_have_text("round 1 / 8")
    click_node(page, 0)
    hover = page.locator('[data-part="tree"] .hovertext')
    expect(hover).to_contain_text("depth 0")
    expect(hover).not_to_contain_text("customdata")


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_needs_no_horizontal_scroll(visit: Visit, width: int) -> None:
    page = visit(viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ranges = page.evaluate("(({ xaxis, yaxis }) => [xaxis.range, yaxis.range])"
                           "(document.querySelector('[data-part=\"tree\"]').layout)")  # fmt: skip
    assert ranges[1][0] < 0  # the root is on top, the depth runs down
    expect(page.locator(".player tbody tr")).to_have_count(len(USUAL.rounds[0].tree.tokens) + 1)
    assert (
        page.locator(".player .scroll[aria-label='Table of nodes']").evaluate(
            "(e) => e.offsetHeight"
        )
        > 300
    )  # though it is far out of sight


def test_dark_mode_swaps_every_colour(visit: Visit) -> None:
    page = visit(color_scheme="dark")
    label = page.locator('[data-part="tree"] .textpoint text').first
    fill = label.evaluate("(e) => getComputedStyle(e).fill")
    assert max(map(int, re.findall(r"\d+", fill)[:3])) > 130
    panel = page.locator(".player .panel").first.evaluate(
        "(e) => getComputedStyle(e).backgroundColor"
    )
    assert max(map(int, re.findall(r"\d+", panel)[:3])) < 60


def test_the_page_turns_dark_and_large_by_its_own_buttons(visit: Visit) -> None:
    page = visit()
    label = page.locator('[data-part="tree"] .textpoint text').first
    look = "(e) => [getComputedStyle(e).fill, parseFloat(getComputedStyle(e).fontSize)]"
    light, small = label.evaluate(look)
    page.get_by_role("button", name="Dark").click()
    page.get_by_role("button", name="Projector").click()
    expect(page.get_by_role("button", name="Projector")).to_have_attribute("aria-pressed", "true")
    rest(page)
    dark, large = label.evaluate(look)
    assert dark != light
    assert large > 1.3 * small
    tick = page.locator('[data-part="speedup"] .ytick text').first
    assert float(tick.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)")) > 13
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366


def still_loading(visit: Visit) -> tuple[Page, Callable[[], None]]:
    """The page with the rounds it carries itself, and what lets the others come."""
    asked: list[Route] = []
    page = visit(
        prepare=lambda page: page.route("**/queue/join*", lambda route: asked.append(route)),
        wait=first_tree,
    )

    def load() -> None:
        for route in asked:
            route.continue_()

    return page, load


def test_a_round_that_is_still_loading_is_shown_as_soon_as_it_is_here(visit: Visit) -> None:
    page, load = still_loading(visit)
    assert where(page) == "round 1 / 6"
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-part="where"]')).to_have_text(
        "round 2 / 6"
    )  # the page itself carries two
    page.keyboard.press("End")
    assert where(page) == "round 2 / 6"
    load()
    expect(page.locator('[data-part="where"]')).to_have_text("round 6 / 6")
    expect(page.locator("#player caption")).to_have_text("Nodes of round 6")


def test_who_turns_back_is_not_taken_to_a_round_that_was_still_loading(visit: Visit) -> None:
    page, load = still_loading(visit)
    page.keyboard.press("End")
    page.keyboard.press("Home")
    load()
    rest(page)
    assert where(page) == "round 1 / 6"
    page.keyboard.press("End")
    assert where(page) == "round 6 / 6"  # so they are all here


def test_512_nodes_stay_usable(visit: Visit) -> None:
    page = visit()
    pick(page, "Large")
    expect(page.locator('[data-part="where"]')).to_have_text("round 1 / 3")
    expect(page.locator('[data-part="more"]')).to_contain_text("more as marks only")
    expect(page.locator(".player tbody tr")).to_have_count(514)
    page.keyboard.press("ArrowRight")
    click_node(page, 1)
    expect(page.locator('[data-part="details"]')).to_contain_text("token id")


def test_a_step_shows_the_new_tree_at_once_and_alive_soon_after(visit: Visit) -> None:
    page = visit()
    shown = page.evaluate(
        """() => {
            const preview = document.querySelector('[data-part="preview"]'), words = [];
            let marks = 0;
            const { fillText, stroke } = CanvasRenderingContext2D.prototype;
            Object.assign(CanvasRenderingContext2D.prototype, {
                fillText(text, ...at) {
                    words.push(text.trim());
                    fillText.call(this, text, ...at);
                },
                stroke(...outline) { // lines have no outline
                    marks += outline.length;
                    stroke.apply(this, outline);
                },
            });
            const right = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
            document.body.dispatchEvent(right);
            const { width, height } = preview;
            const inked =
                preview.getContext("2d").getImageData(0, 0, width, height).data.some(Boolean);
            return [!preview.hidden && inked, marks, words];
        }"""
    )
    assert shown[0]
    assert shown[1] == len(USUAL.rounds[1].tree.tokens) + 1  # and the bonus
    rest(page)
    drawn = page.locator('[data-part="tree"] .textpoint').all_text_contents()
    assert {word.strip() for word in drawn} <= set(shown[2])


def test_held_down_the_arrow_key_leaves_the_last_round_drawn(visit: Visit) -> None:
    page = visit()
    for _ in range(4):
        page.keyboard.press("ArrowRight", delay=0)
    rest(page)
    expect(page.locator("#player caption")).to_have_text("Nodes of round 5")
    label = page.locator('[data-part="tree"]').get_attribute("aria-label")
    assert label == f"Draft tree of round 5. {round_sentence(view_of(USUAL, 4))}"
    ids = page.evaluate(
        """() => {
            const { data } = document.querySelector('[data-part="tree"]');
            return data.flatMap((trace) => trace.ids ?? []).length;
        }"""
    )
    assert ids == len(USUAL.rounds[4].tree.tokens) + 1
