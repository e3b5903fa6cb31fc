"""The run at a glance: its timeline by keyboard, mouse and finger, where its rounds end, its text;
and the two trees of a state.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import presto
from presto.models.tables import table_of
from presto.records import Recording, save
from presto.runs.states import States
from tests.support import synthetic
from tests.support.browser import rest, serious
from tests.support.replayable import REAL, TRACE, hostile
from tests.support.server import SERVE, served
from ui.explore_payload import shown_first
from viz.ends import ends_sentence
from viz.two_trees import two_trees

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
LONG = 300
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
IDS = """() => document.querySelector('#player [data-part="tree"]').data
    .filter((trace) => trace.ids).flatMap(({ ids }) => ids)"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over runs that can be replayed, one that cannot, and a long one."""
    folder = tmp_path_factory.mktemp("glance")
    save(REAL, folder / "1.json.gz")
    save(hostile(), folder / "2.json.gz")
    save(synthetic.recording("Usual", rounds=6), folder / "3.json.gz")
    long = Recording("Long", "", (synthetic.trace(rounds=LONG, budget=8),))
    save(long, folder / "4.json.gz")
    with served(SERVE, folder / "log", PRESTO_RUNS=str(folder)) as url:
        yield url


def part(page: Page, name: str) -> Locator:
    return page.locator(f'#player [data-part="{name}"]')


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Round")


def parting() -> list[int]:
    """Rounds, from 1, where the blind tree would have committed another number of tokens."""
    blind = presto.replay(TRACE, scorer="blind")
    pairs = zip(TRACE.rounds, blind, strict=True)
    return [i for i, (r, b) in enumerate(pairs, 1) if b and b.committed != len(r.committed)]


def spoken(number: int) -> re.Pattern[str]:
    tokens = len(TRACE.rounds[number - 1].committed)
    count = f"{tokens} token{'' if tokens == 1 else 's'}"
    return re.compile(f"^round {number} of {len(TRACE.rounds)}: {count}: 1 exact.*; blind tree \\d")


def test_the_timeline_is_a_slider_to_keyboard_and_screen_reader(visit: Visit, here: str) -> None:
    page = visit(url=here)
    slider(page).focus()
    expect(slider(page)).to_have_attribute("aria-valuetext", spoken(1))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(part(page, "where")).to_have_text("round 3 / 23")
    expect(slider(page)).to_have_attribute("aria-valuetext", spoken(3))
    page.keyboard.press("Home")
    expect(part(page, "where")).to_have_text("round 1 / 23")
    page.keyboard.press("End")
    expect(part(page, "where")).to_have_text("round 23 / 23")


def test_the_next_disagreement_is_the_next_round_where_the_blind_tree_differs(
    visit: Visit, here: str
) -> None:
    page = visit(url=here)
    later = page.locator('#player [data-do="later"]')
    later.focus()
    expected = [number for number in parting() if number > 1]
    assert len(expected) > 3
    for number in expected:
        expect(later).to_have_attribute("aria-disabled", "false")
        page.keyboard.press("Enter")
        expect(part(page, "where")).to_have_text(f"round {number} / 23")
    expect(later).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    expect(part(page, "live")).to_have_text("No round after this one where the scores disagree.")
    page.locator('#player [data-do="earlier"]').press("Enter")
    expect(part(page, "where")).to_have_text(f"round {expected[-2]} / 23")


def test_a_click_and_a_drag_on_the_bars_lead_to_their_rounds(visit: Visit, here: str) -> None:
    page = visit(url=here)
    x, y, width, height = (slider(page).bounding_box() or {}).values()

    def middle(number: int) -> float:
        return x + width * (number - 0.5) / 23

    page.mouse.click(middle(9), y + height / 2)
    expect(part(page, "where")).to_have_text("round 9 / 23")
    page.mouse.move(middle(9), y + height / 2)
    page.mouse.down()
    page.mouse.move(middle(15), y + height / 2)
    page.mouse.up()
    expect(part(page, "where")).to_have_text("round 15 / 23")
    counts = part(page, "counts").inner_text()
    assert counts.startswith(f"{len(TRACE.rounds[14].committed)} tokens: ")


def test_every_bar_is_as_high_as_its_tokens(visit: Visit, here: str) -> None:
    page = visit(url=here)
    inked = """(box) => {
        const { width, height } = box, { data } = box.getContext("2d").getImageData(0, 0, width,
            height), rows = Array.from({ length: 23 }, () => height);
        for (let i = 0; i < 23; i++)
            for (let y = 0; y < height; y++)
                for (let x = Math.ceil((i + 0.3) * width / 23); x < (i + 0.7) * width / 23; x++)
                    if (data[4 * (y * width + x) + 3]) rows[i] = Math.min(rows[i], y);
        return rows;
    }"""
    tops = part(page, "bars").evaluate(inked)
    blind = [one.committed if one else 0 for one in presto.replay(TRACE, scorer="blind")]
    highest = [max(len(r.committed), b) for r, b in zip(TRACE.rounds, blind, strict=True)]
    order = sorted(range(23), key=lambda i: highest[i])
    for low, high in pairwise(order):
        if highest[low] < highest[high]:
            assert tops[low] > tops[high]


def test_300_rounds_stay_readable_on_a_phone(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Long&round=1", **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = slider(page).bounding_box() or {}
    assert box["width"] > 340
    assert box["height"] >= 44
    page.touchscreen.tap(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    expect(part(page, "where")).to_have_text(f"round {LONG} / {LONG}")
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(part(page, "where")).to_have_text(re.compile(r"^round 1[45]\d / 300$"))
    slider(page).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(part(page, "where")).to_have_text(f"round 2 / {LONG}")


def test_the_text_grows_to_a_third_of_the_window_with_the_newest_round_in_view(
    visit: Visit, here: str
) -> None:
    page = visit(url=f"{here}/?run=Long&round=1")
    text = part(page, "text")
    heights = [(text.bounding_box() or {})["height"]]
    for number in (10, 20, LONG):
        slider(page).fill(str(number))
        box = text.bounding_box() or {}
        heights.append(box["height"])
        newest = text.locator(".chip.now").last.bounding_box() or {}
        assert box["y"] <= newest["y"]
        assert newest["y"] + newest["height"] <= box["y"] + box["height"] + 1
    assert heights[0] < heights[1] < heights[2] <= heights[3]
    assert heights[3] == pytest.approx(768 * 0.33, abs=2)
    slider(page).fill("1")
    assert (text.bounding_box() or {})["height"] == heights[3]  # nothing below it moves


def test_where_rounds_end_is_a_chart_of_the_run(visit: Visit, here: str) -> None:
    page = visit(url=here)
    page.get_by_role("tab", name="Where rounds end").click()
    expect(part(page, "remark")).to_have_text(ends_sentence(TRACE))
    expect(part(page, "scores")).to_contain_text("not in the top-K")
    rows = part(page, "chart-rows").locator("tbody tr")
    assert rows.count() == len({end for end in presto.round_ends(TRACE) if end})


# ---- the two trees ------------------------------------------------------------------------------


def trees(index: int, recording: Recording = REAL) -> Any:
    states = States(shown_first(recording), table_of(TRACE.system))
    return two_trees(states, index)


def drawn(page: Page) -> list[int]:
    """The nodes that Plotly has drawn."""
    expect(part(page, "preview")).to_be_hidden()
    return sorted(map(int, page.evaluate(IDS)))


def nodes_of(view: Any) -> list[int]:
    return sorted(row.node for row in view.nodes)


def test_both_trees_by_keyboard_alone(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=3")
    found = trees(2)
    both = page.locator('[data-do="tree-both"]')
    both.focus()
    page.keyboard.press("Enter")
    expect(part(page, "trees")).to_have_text(found.sentence)
    expect(both).to_have_attribute("aria-pressed", "true")
    expect(part(page, "live")).to_have_text(f"Tree: both. {found.sentence}")
    assert drawn(page) == nodes_of(found.both)
    expect(part(page, "tree")).to_have_attribute(
        "aria-label", f"Draft tree of round 3. {found.sentence}"
    )
    part(page, "cursor").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(part(page, "live")).to_contain_text("only in the blind tree")
    expect(part(page, "details")).to_contain_text("only in the blind tree")
    page.locator('[data-do="tree-blind"]').press("Enter")
    expect(part(page, "trees")).to_have_text(found.sentence)
    many = len(found.blind.nodes)
    page.wait_for_function(f"(many) => ({IDS})().length === many", arg=many)
    assert drawn(page) == nodes_of(found.blind)
    page.locator('[data-do="tree-aligned"]').press("Enter")
    expect(part(page, "trees")).to_be_hidden()


def test_the_chosen_tree_stays_while_the_reader_steps(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=1", reduced_motion="reduce")
    page.click('[data-do="tree-both"]')
    for index in range(1, 5):
        page.locator("body").press("ArrowRight")
        expect(part(page, "trees")).to_have_text(trees(index).sentence)
        rest(page)
        assert drawn(page) == nodes_of(trees(index).both)
    page.locator('[data-phase="build"]').click()
    expect(page.locator('[data-do="tree-aligned"]')).to_have_attribute("aria-pressed", "true")
    expect(part(page, "trees")).to_be_hidden()


def test_a_run_without_a_replay_has_one_tree(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Usual&round=1")
    expect(page.locator('[data-do="tree-both"]')).to_be_hidden()
    expect(page.locator('#player [data-do="later"]')).to_have_attribute("aria-disabled", "true")


def test_hostile_tokens_stay_characters_in_both_trees(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Hostile&round=2")
    page.click('[data-do="tree-both"]')
    seen = ""
    for index in range(1, 6):
        expect(part(page, "trees")).to_have_text(
            trees(index, hostile()).sentence, use_inner_text=False
        )
        rest(page)
        drawn(page)
        seen += " ".join(part(page, "tree").locator("text").all_text_contents())
        page.locator("body").press("ArrowRight")
    assert "<" in seen
    assert page.locator("#player .tree-panel img, #player .tree-panel script").count() == 0


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, PHONE])
def test_it_has_no_serious_finding_and_fits(
    visit: Visit, here: str, settings: dict[str, Any]
) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=3", **settings)
    page.click('[data-do="tree-both"]')
    expect(part(page, "trees")).to_have_text(trees(2).sentence)
    page.get_by_role("tab", name="Where rounds end").click()
    rest(page)
    drawn(page)
    assert serious(page, "#player") == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]  # type: ignore[index]
