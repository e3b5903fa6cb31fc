"""The lesson: a visitor finishes every chapter by doing, by keyboard alone, in both languages, on a
desktop and on a phone; predictions, a tree by hand, links, the class view and the hand-out.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from presto.records import save
from tests.support import synthetic
from tests.support.browser import serious
from tests.support.replayable import REAL, hostile
from tests.support.server import SERVE, served
from ui.lesson import CHAPTERS, LESSONS, languages

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
STILL = {"reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TEXTS = {code: json.loads(path.read_text("utf-8")) for code, path in languages().items()}
KEY = "1.json.gz"
SOON = 1.0  # seconds until the first chapter is on screen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run that can be replayed, one with hostile tokens, one that cannot be replayed."""
    folder = tmp_path_factory.mktemp("lesson")
    save(REAL, folder / KEY)
    save(hostile(), folder / "2.json.gz")
    save(synthetic.recording("Usual", rounds=3), folder / "3.json.gz")
    return folder


@pytest.fixture(scope="module")
def here(folder: Any) -> Iterator[str]:
    """The app over these runs."""
    with served(SERVE, folder / "log", PRESTO_RUNS=str(folder)) as url:
        yield url


def shown(page: Page) -> Locator:
    return page.locator("#lesson .lesson-page h3").wait_for() or page.locator("#lesson")


def opened(visit: Visit, here: str, query: str, **settings: Any) -> Page:
    """The page at an address that opens the lesson."""
    return visit(url=f"{here}/?{query}", wait=shown, **STILL | settings)


def told(folder: Any, chapter: str, key: str = KEY) -> dict[str, Any]:
    return LESSONS["lesson"](folder, {"key": key, "chapter": chapter})


def press(control: Locator, key: str = "Enter") -> None:
    """Focus and press, as who has a keyboard alone does."""
    control.focus()
    control.press(key)


def question(page: Page, number: int) -> Locator:
    return page.locator("#lesson .lesson-question").nth(number)


def settle(page: Page, number: int, answer: str) -> None:
    """Type the answer to a question."""
    field = question(page, number).locator("input").first
    field.focus()
    page.keyboard.type(answer)
    page.keyboard.press("Enter")
    expect(question(page, number).locator(".verdict.settled")).to_be_visible()


def step(page: Page, times: int) -> None:
    button = page.locator("#lesson .lesson-picture button").first
    for _ in range(times):
        press(button)


def candidates(page: Page, count: int) -> None:
    for position in range(count):
        press(page.locator(".lesson-columns > div").nth(position).locator("button").first)


def slide(page: Page, key: str, times: int = 1) -> None:
    slider = page.locator("#lesson .lesson-knob input").first
    slider.focus()
    for _ in range(times):
        slider.press(key)


def choose_node(page: Page, lesson: dict[str, Any]) -> None:
    """Walk the unlabelled tree to the node where the accepted path ends, and choose it."""
    cursor = page.locator("#lesson .cursor")
    expect(page.locator("#lesson .cursor .textpoint").first).to_be_attached()
    cursor.focus()
    said = page.locator("#lesson .lesson-picture .remark").first
    cursor.press("ArrowRight")
    for token in (f"{one[0].strip('‘’')}" for one in lesson["why"] if one[2] == "accepted"):
        cursor.press("ArrowRight")
        for _ in range(40):
            if said.inner_text().endswith(token):
                break
            cursor.press("ArrowDown")
        if not said.inner_text().endswith(token):
            for _ in range(40):
                cursor.press("ArrowUp")
                if said.inner_text().endswith(token):
                    break
    cursor.press("Enter")


def finish(page: Page, chapter: str, lesson: dict[str, Any]) -> None:
    """Do what the chapter asks for, and answer its questions."""
    asked = lesson["questions"]
    if chapter == "pass":
        step(page, int(lesson["values"]["goal"]))
    elif chapter == "draft":
        step(page, len(lesson["picture"]["steps"]))
    elif chapter in ("marginals", "nonsense"):
        count = "goal" if chapter == "marginals" else "picked"
        candidates(page, int(lesson["values"][count]))
    elif chapter in ("tree", "score"):
        expect(page.locator("#lesson .lesson-picture .remark").first).not_to_be_empty()
        slide(page, "Home")
    elif chapter == "search":
        press(page.locator("#lesson .film-bar button").last)
    elif chapter == "mask":
        press(page.locator("#lesson .film-mask"), "Home")
        press(page.locator("#lesson .film-mask"))
    elif chapter == "verdict":
        choose_node(page, lesson)
        step(page, 3)
    for number, one in enumerate(asked):
        if one["kind"] == "choice":
            place = list(one["options"]).index(one["answer"])
            press(question(page, number).locator(".lesson-row button").nth(place))
        elif one["kind"] == "number":
            settle(page, number, str(one["answer"]))
        elif one["kind"] == "lam":
            press(question(page, number).get_by_role("button").nth(1)) if not one[
                "answer"
            ] else settle(page, number, str(one["answer"][0]))
        elif one["kind"] == "slower":
            question(page, number).locator("input").first.press("End")
            press(question(page, number).locator(".lesson-row > button"))
        expect(question(page, number).locator(".verdict.settled")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_visitor_finishes_every_chapter_by_keyboard(
    visit: Visit, here: str, folder: Any, language: str, settings: dict[str, Any]
) -> None:
    page = opened(visit, here, f"learn=1&lang={language}", **settings)
    texts = TEXTS[language]
    for place, chapter in enumerate(CHAPTERS, start=1):
        title = texts["chapters"][place - 1]["title"]
        expect(page.locator("#lesson h3").first).to_have_text(f"{place}. {title}")
        finish(page, chapter, told(folder, chapter))
        expect(page.locator("#lesson .task")).to_have_class(re.compile("complete"))
        assert "{" not in page.locator("#lesson .lesson-page").inner_text()
        assert serious(page, "#lesson") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
        if place < len(CHAPTERS):
            press(page.locator("#lesson .lesson-turn button").last)
    done = page.locator("#lesson .lesson-nav li", has_text="✓")
    expect(done).to_have_count(len(CHAPTERS))
    page.reload()  # the score is the device's
    shown(page)
    expect(page.locator("#lesson .lesson-nav li", has_text="✓")).to_have_count(len(CHAPTERS))


def test_the_first_chapter_is_there_as_soon_as_the_tab_is_opened(visit: Visit, here: str) -> None:
    page = visit(url=here, locale="en-GB", **STILL)
    began = time.monotonic()
    page.get_by_role("tab", name="Learn").click()
    page.locator("#lesson .lesson-question").first.wait_for()
    assert time.monotonic() - began < SOON


def test_a_wrong_prediction_hints_counts_and_may_be_shown(visit: Visit, here: str) -> None:
    page = opened(visit, here, "learn=1&lang=en")
    box = question(page, 0)
    box.locator("input").fill("1")
    box.locator("input").press("Enter")
    expect(box.locator(".verdict")).to_contain_text("Hint")
    expect(page.locator('#lesson [data-part="score"]')).to_have_text(
        "Right at the first try: 0 of 1"
    )
    box.get_by_role("button", name="Show the answer").click()
    expect(box.locator(".verdict.settled")).to_contain_text("One pass per token")
    page.get_by_role("button", name="Forget my answers").click()
    expect(page.locator('#lesson [data-part="score"]')).to_have_text(
        "Right at the first try: 0 of 0"
    )


def test_a_word_explains_itself_on_focus(visit: Visit, here: str) -> None:
    page = opened(visit, here, "learn=1&lang=en")
    page.locator("#lesson button.explained", has_text="target").first.focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("target (p) · target model: The model whose text is wanted.")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_tree_grown_by_hand_is_judged(visit: Visit, here: str, folder: Any) -> None:
    page = opened(visit, here, "learn=build&lang=en", **PHONE)
    for _ in range(2):
        press(page.locator("#lesson .lesson-offer button:not(:disabled)").first)
    press(page.locator("#lesson .lesson-grown button").nth(1))
    press(page.locator("#lesson .lesson-offer button:not(:disabled)").first)
    budget = LESSONS["lesson_build"](folder, {"key": KEY})["budget"]
    expect(page.locator("#lesson .remark").first).to_have_text(
        f"Budget left: {budget - 3} of {budget} nodes"
    )
    press(page.get_by_role("button", name="Ask the target"))
    ask = {"key": KEY, "paths": [[0], [1], [0, 0]], "verify": True}
    verdict = LESSONS["lesson_build"](folder, ask)["verdict"]
    expect(page.locator("#lesson .verdict b").first).to_have_text(
        f"With 3 nodes: yours commits {verdict['you']}, the blind tree {verdict['blind']}, PRESTO "
        f"{verdict['presto']}, the oracle {verdict['oracle']} tokens."
    )
    assert serious(page, "#lesson") == []


def test_challenges_about_the_run_are_checked(visit: Visit, here: str, folder: Any) -> None:
    page = opened(visit, here, "learn=challenges&lang=en")
    answers = LESSONS["lesson_run"](folder, {"key": KEY})["answers"]
    form = page.locator("#lesson form").nth(1)
    form.locator("input").fill("0")
    form.locator("input").press("Enter")
    expect(form).to_contain_text("Not yet.")
    form.locator("input").fill(str(answers["longest"]))
    form.locator("input").press("Enter")
    expect(form).to_contain_text("Right.")


def test_a_link_opens_chapter_run_and_round_alone(visit: Visit, here: str, folder: Any) -> None:
    page = opened(visit, here, "embed=1&learn=5&run=Hostile&round=6&lang=en")
    expect(page.locator("#lesson h3").first).to_have_text("5. A tree instead of a path")
    expect(page.locator("#head")).to_be_hidden()
    expect(page.get_by_role("tab", name="Explore")).to_be_hidden()
    lesson = LESSONS["lesson"](folder, {"key": "2.json.gz", "chapter": "tree", "round": 6})
    expect(page.locator("#lesson .lesson-page")).to_contain_text(
        f"Here {lesson['values']['budget']} nodes make {lesson['values']['leaves']} paths"
    )


def test_hostile_tokens_stay_characters_in_the_dark(visit: Visit, here: str) -> None:
    page = opened(visit, here, "learn=1&lang=en&run=Hostile&__theme=dark")
    for place in range(1, len(CHAPTERS) + 1):
        page.locator("#lesson .lesson-nav button").nth(place - 1).click()
        expect(page.locator("#lesson h3").first).to_contain_text(f"{place}. ")
        expect(page.locator("#lesson .lesson-picture > *").first).to_be_attached()
        page.wait_for_timeout(300)
        assert serious(page, "#lesson") == []


def test_a_run_that_cannot_tell_says_so(visit: Visit, here: str) -> None:
    page = opened(visit, here, "learn=3&lang=en&run=Usual")
    expect(page.locator('#lesson [data-part="message"]')).to_contain_text("no replay")


def test_the_handout_prints_on_two_pages(visit: Visit, here: str) -> None:
    page = opened(visit, here, "learn=1&lang=en")
    page.evaluate("window.print = () => { window.printed = true; }")
    page.get_by_role("button", name="Print the hand-out").click()
    page.wait_for_function("window.printed")
    page.evaluate("document.body.classList.add('printing-handout')")
    page.emulate_media(media="print")
    expect(page.locator(".handout section")).to_have_count(len(CHAPTERS))
    expect(page.locator(".handout img")).to_have_count(2)
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 2


def test_explore_leads_to_the_lesson(visit: Visit, here: str) -> None:
    page = visit(url=here, locale="ko-KR", **STILL)
    page.locator("#player .learn-open").click()
    expect(page.locator("#lesson h3").first).to_have_text("1. 한 번에 한 토큰")
