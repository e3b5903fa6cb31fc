"""The search as a film: by keyboard alone, on a phone, in the dark, with hostile tokens, played,
scrubbed and stepped; its mask lights what a node sees.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from presto.models.tables import table_of
from presto.records import Recording, save
from presto.runs.states import States
from tests.support import synthetic
from tests.support.browser import rest, serious
from tests.support.replayable import BEAM, REAL, hostile, under
from tests.support.server import SERVE, served
from ui.explore_payload import shown_first
from viz.film import FilmInfo, _get_film_info

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
STILL = {"reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LARGE = under("Large", budget=512)
READ = "willReadFrequently"  # what the browser advises those who look at a canvas
INK = """(canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0;
    for (let i = 3; i < data.length; i += 4) sum += data[i] > 0;
    return sum;
}"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over runs with other searches, a large one, and one that cannot be replayed."""
    folder = tmp_path_factory.mktemp("film")
    save(REAL, folder / "1.json.gz")
    save(hostile(), folder / "2.json.gz")
    save(synthetic.recording("Usual", rounds=3), folder / "3.json.gz")
    save(under("Beam", **BEAM), folder / "4.json.gz")
    save(LARGE, folder / "5.json.gz")
    with served(SERVE, folder / "log", PRESTO_RUNS=str(folder)) as url:
        yield url


def info_of(recording: Recording = REAL, index: int = 0) -> FilmInfo:
    trace = shown_first(recording)
    info = _get_film_info(States(trace, table_of(trace.system)), index, trace.config)
    assert info is not None
    return info


def part(page: Page, name: str) -> Locator:
    return page.locator(f'#player [data-part="{name}"]')


def sentence(page: Page) -> Locator:
    return page.locator(".film-sentence")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Step of the search")


def opened(visit: Visit, here: str, run: str, number: int = 1, **settings: Any) -> Page:
    """The film of a round, at its end: nothing moves."""
    page = visit(url=f"{here}/?run={run}&round={number}", **STILL | settings)
    page.locator('[data-phase="build"]').press("Enter")
    expect(sentence(page)).not_to_be_empty()
    return page


def said(page: Page, info: FilmInfo, step: int) -> None:
    """All that is shown is of this step."""
    told = info.steps[step]
    expect(sentence(page)).to_have_text(told.sentence, use_inner_text=False)
    expect(slider(page)).to_have_value(str(step))
    expect(page.locator(".film-where")).to_have_text(f"budget: {told.taken} of {info.budget} nodes")
    rows = page.locator(".film-queue tbody tr")
    expected = [*([] if told.row is None else [told.row]), *told.queue]
    expect(rows).to_have_count(len(expected))
    for row, number in zip(rows.all(), expected, strict=True):
        found = info.rows[number]
        cells = row.locator("th, td").all_text_contents()
        assert cells == [found.token, f"+{found.depth}", *found.parts, found.above or "–"]


def test_by_keyboard_alone(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Fibonacci%3A+code"), info_of()
    last = len(info.steps) - 1
    expect(page.locator('[data-phase="build"]')).to_be_focused()
    said(page, info, last)
    for _ in range(3):  # verify, commit, the tree
        page.keyboard.press("Tab")
    expect(page.get_by_role("group", name="Tree of the search")).to_be_focused()
    for key, step in ((",", last - 1), (",", last - 2), (".", last - 1), ("Home", 0), (".", 1)):
        page.keyboard.press(key)
        said(page, info, step)
    for _ in range(6):  # five buttons, the slider
        page.keyboard.press("Tab")
    expect(slider(page)).to_be_focused()
    page.keyboard.press("ArrowRight")
    said(page, info, 2)
    expect(slider(page)).to_have_attribute(
        "aria-valuetext", f"step 2 of {last}: {info.steps[2].sentence}"
    )
    page.keyboard.press("End")
    said(page, info, last)
    assert part(page, "where").inner_text() == "round 1 / 23"  # its keys are not the page's
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    said(page, info, last - 1)
    page.keyboard.press("Enter")  # on the button "Next step"
    said(page, info, last)
    page.locator('[data-phase="build"]').focus()
    page.keyboard.press("ArrowRight")
    expect(part(page, "where")).to_have_text("round 2 / 23")
    expect(part(page, "film")).to_be_hidden()


def test_the_mask_lights_what_a_node_sees(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Fibonacci%3A+code", 5), info_of(index=4)
    last, seen = len(info.steps) - 1, page.locator(".film-seen")
    expect(seen).to_have_text(info.seen[last])
    mask = page.get_by_role("group", name="Tree-attention mask")
    mask.focus()
    page.keyboard.press("ArrowUp")
    expect(seen).to_have_text(info.seen[last - 1])
    expect(page.locator(".film [aria-live]")).to_have_text(info.seen[last - 1])
    page.keyboard.press("Escape")
    expect(seen).to_have_text(info.seen[last])
    tree = page.get_by_role("group", name="Tree of the search")
    tree.focus()
    parent = info.sees[last][-2]
    page.keyboard.press("ArrowLeft")
    expect(seen).to_have_text(info.seen[parent])
    page.keyboard.press("Enter")
    expect(part(page, "details")).to_contain_text(info.view.nodes[parent].full)
    page.keyboard.press("Escape")
    box = mask.locator("canvas").bounding_box() or {}
    for row in (3, 11):
        y = box["y"] + box["height"] * (row + 0.5) / (last + 1)
        page.mouse.move(box["x"] + 5, y)
        expect(seen).to_have_text(info.seen[row])
    page.mouse.move(0, 0)
    expect(seen).to_have_text(info.seen[last])


def test_the_mask_has_a_filled_cell_where_a_row_sees_a_column(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Fibonacci%3A+code", 5, expected=READ), info_of(index=4)
    count = len(info.sees)
    dark = """(canvas, count) => {
        const context = canvas.getContext("2d"), cell = canvas.width / count, cells = [];
        for (let row = 0; row < count - 1; row++) // the last is lit
            for (let column = 0; column < count; column++) {
                const [x, y] = [(column + 0.45) * cell, (row + 0.45) * cell];
                if (context.getImageData(x, y, 1, 1).data[3] > 0) cells.push([row, column]);
            }
        return cells;
    }"""
    cells = page.locator(".film-mask canvas").evaluate(dark, count)
    expected = [[row, column] for row in range(count - 1) for column in sorted(info.sees[row])]
    assert cells == expected


def reached(page: Page, step: int) -> None:
    """Wait until it has played so far."""
    slider(page).evaluate(
        """(slider, step) => new Promise((done) => {
            const look = () => (slider.value >= step ? done() : setTimeout(look, 20));
            look();
        })""",
        step,
    )


def test_it_plays_and_pauses(visit: Visit, here: str) -> None:
    page, info = visit(url=here), info_of()
    page.locator('[data-phase="build"]').press("Enter")
    expect(sentence(page)).not_to_be_empty()
    reached(page, 2)
    page.get_by_role("button", name="Pause the search").press("Enter")
    play = page.get_by_role("button", name="Play the search")
    expect(play).to_have_attribute("aria-pressed", "false")
    step = int(slider(page).input_value())
    page.wait_for_timeout(1200)
    said(page, info, step)
    page.keyboard.press("Home")
    said(page, info, 0)
    page.keyboard.press("Space")
    reached(page, 2)
    slider(page).fill("30")
    said(page, info, 30)
    play.click()
    said(page, info, len(info.steps) - 1)
    expect(play).to_be_visible()  # it has stopped at the end


def test_the_tree_grows_with_the_steps(visit: Visit, here: str) -> None:
    page = opened(visit, here, "Fibonacci%3A+code", expected=READ)
    ink = []
    for step in (0, 8, 16, 31):
        slider(page).fill(str(step))
        ink.append(page.locator(".film-tree canvas").evaluate(INK))
    assert ink == sorted(set(ink))


def test_a_beam_shows_its_frontier_by_depth(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Beam"), info_of(under("Beam", **BEAM))
    for step in range(len(info.levels)):
        slider(page).fill(str(step))
        said(page, info, step)
        levels = page.locator(".film-levels .level")
        expect(levels).to_have_count(step + 1)
        for line, level in zip(levels.all(), info.levels, strict=False):
            tokens = line.locator(".candidate").all_text_contents()
            assert tokens == [info.rows[row].token for row in level.rows]
    slider(page).fill(str(len(info.levels) + 4))
    said(page, info, len(info.levels) + 4)
    taken = page.locator(".film-levels .is-taken")
    held = [row for level in info.levels for row in level.rows if info.rows[row].node]
    expect(taken).to_have_count(sum((info.rows[row].node or 0) <= 5 for row in held))


def test_other_phases_and_trees_take_its_place(visit: Visit, here: str) -> None:
    page = opened(visit, here, "Fibonacci%3A+code", 3)
    film, chart = part(page, "film"), page.locator('#player [data-part="cursor"]')
    expect(film).to_be_visible()
    expect(chart).to_be_hidden()
    page.locator('[data-phase="verify"]').click()
    expect(film).to_be_hidden()
    expect(chart).to_be_visible()
    page.locator('[data-phase="build"]').click()
    expect(film).to_be_visible()
    page.locator('[data-do="tree-both"]').click()
    expect(film).to_be_hidden()
    expect(page.locator('[data-phase="commit"]')).to_have_attribute("aria-pressed", "true")
    rest(page)
    size = part(page, "tree").bounding_box() or {}
    assert size["width"] > 400


def test_it_stays_while_the_theme_changes(visit: Visit, here: str) -> None:
    page = opened(visit, here, "Fibonacci%3A+code", 3)
    slider(page).fill("7")
    page.get_by_role("button", name="Dark").click()
    expect(part(page, "film")).to_be_visible()
    expect(slider(page)).to_have_value("7")
    expect(page.locator('[data-phase="build"]')).to_have_attribute("aria-pressed", "true")


def test_it_is_asked_for_and_loaded_only_when_it_is_to_be_seen(visit: Visit, here: str) -> None:
    asked: list[str] = []

    def watch(page: Page) -> None:
        page.on("request", lambda request: asked.append(request.url))

    page = visit(url=here, prepare=watch, **STILL)
    own = (
        *("player/film.js", "/film_tree.js", "/film_table.js", "/mask.js", "logic/film.js"),
        "what-if/film",
    )
    assert not [url for url in asked if url.endswith(own)]
    page.locator('[data-phase="build"]').click()
    expect(sentence(page)).not_to_be_empty()
    assert len([url for url in asked if url.endswith(own)]) == len(own)
    page.locator('[data-phase="draft"]').click()
    page.locator('[data-phase="build"]').click()
    expect(sentence(page)).not_to_be_empty()
    assert len([url for url in asked if url.endswith("what-if/film")]) == 1  # it is kept


def test_a_run_without_a_replay_says_why_there_is_no_film(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Usual&round=1")
    page.locator('[data-phase="build"]').click()
    expect(part(page, "filmAbsent")).to_have_text(
        "No film of the search: The n-gram table of this pair is not here: no replay."
    )
    expect(part(page, "film")).to_be_hidden()
    page.locator('[data-phase="verify"]').click()
    expect(part(page, "filmAbsent")).to_be_hidden()


def test_a_server_that_is_away_can_be_asked_again(visit: Visit, here: str) -> None:
    page = visit(url=here, expected="ERR_FAILED", **STILL)
    away = lambda route: route.abort()  # noqa: E731
    page.route("**/what-if/film", away)
    page.locator('[data-phase="build"]').click()
    expect(part(page, "filmAbsent")).to_contain_text("The server cannot be reached")
    page.unroute("**/what-if/film", away)
    page.locator('[data-phase="draft"]').click()
    page.locator('[data-phase="build"]').click()
    said(page, info_of(), len(info_of().steps) - 1)


def test_hostile_tokens_stay_characters(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Hostile", 6), info_of(hostile(), 5)
    for step in range(0, len(info.steps), 5):
        slider(page).fill(str(step))
        said(page, info, step)
        assert page.locator(".film img, .film script, .film br").count() == 0
    assert "<" in page.locator(".film").inner_text()
    assert page.evaluate("window.__xss") is None


def test_512_nodes_can_be_scrubbed(visit: Visit, here: str) -> None:
    page, info = opened(visit, here, "Large"), info_of(LARGE)
    assert len(info.steps) == 513
    for step in (0, 256, 512):
        slider(page).fill(str(step))
        said(page, info, step)


@pytest.mark.parametrize("run", ["Fibonacci%3A+code", "Beam"])
@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, PHONE])
def test_it_has_no_serious_finding_and_fits(
    visit: Visit, here: str, settings: dict[str, Any], run: str
) -> None:
    page = opened(visit, here, run, **settings)
    slider(page).fill("6")
    expect(page.locator("#player .player")).not_to_have_class(re.compile("drawing"))
    assert serious(page, "#player") == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]  # type: ignore[index]
    if settings is PHONE:
        boxes = [button.bounding_box() for button in page.locator(".film-bar button").all()]
        assert all(box and min(box["width"], box["height"]) >= 36 for box in boxes)
