"""The panel "What if" by keyboard alone, on a phone, in the dark, with hostile tokens, in a link,
beside a run that decodes, and as a run in Compare.
"""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from presto.models.tables import table_of
from presto.records import changed, save
from presto.runs.states import States
from presto.runs.sweep import sweep
from tests.support import synthetic
from tests.support.browser import rest, run, serious
from tests.support.replayable import REAL, TRACE, hostile
from tests.support.server import SERVE, served
from ui.explore_payload import shown_first
from viz.replayed import replayed_sentence
from viz.rounds import WHAT
from viz.sweep import grid_of, sweep_table

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over runs that can be replayed, and one that cannot."""
    folder = tmp_path_factory.mktemp("replayable")
    save(REAL, folder / "1.json.gz")
    save(hostile(), folder / "2.json.gz")
    save(synthetic.recording("Usual", rounds=6), folder / "3.json.gz")
    hold = folder / "hold"
    with served(SERVE, folder / "log", PRESTO_RUNS=str(folder), HOLD=str(hold)) as url:
        yield url
    hold.unlink(missing_ok=True)


def part(page: Page, name: str) -> Locator:
    return page.locator(f'#player [data-part="{name}"]')


def choice(page: Page, name: str) -> Locator:
    """A control of the panel with several names to choose from."""
    return part(page, "knobs").get_by_role("combobox", name=name)


def said(index: int = 0, **changes: Any) -> str:
    """What the panel says of a round."""
    states = States(TRACE, table_of(TRACE.system))
    config = changed(TRACE.config, changes)
    return replayed_sentence(states, index, states.replay(index, config), config)


def settled(page: Page) -> None:
    """The tree answers to the pointer and all rounds are drawn."""
    expect(part(page, "otherPreview")).to_be_hidden()
    expect(part(page, "allRemark")).to_contain_text(WHAT)


def test_by_keyboard_alone(visit: Visit, here: str) -> None:
    page = visit(url=here)
    outcome, own = part(page, "outcome"), said()
    part(page, "whatIf").locator("summary").focus()
    page.keyboard.press("Enter")
    expect(outcome).to_have_text(own)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider", name="λ")).to_be_focused()
    for _ in range(14):
        page.keyboard.press("ArrowLeft")
    expect(outcome).to_have_text(said(lam=0.0))
    assert said(lam=0.0) != own
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("0.4")
    page.keyboard.press("Tab")
    expect(outcome).to_have_text(said(lam=0.4))
    expect(page.get_by_role("checkbox", name="Normalised")).to_be_focused()
    page.keyboard.press("Space")
    expect(outcome).to_have_text(said(lam=0.4, normalised=False))
    settled(page)
    expect(part(page, "otherTree")).to_have_attribute(
        "aria-label", f"The tree under these settings. {said(lam=0.4, normalised=False)}"
    )
    expect(part(page, "allRemark")).to_contain_text("of 23 rounds")
    assert part(page, "where").inner_text() == "round 1 / 23"  # arrows moved the slider only
    page.get_by_role("button", name="Back to the run").press("Enter")
    expect(outcome).to_have_text(own)
    expect(page.get_by_role("button", name="Back to the run")).to_be_disabled()


def test_it_follows_the_round_on_screen(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=3&whatif=scorer:blind")
    expect(part(page, "outcome")).to_have_text(said(2, scorer="blind"))
    page.click('[data-do="next"]')
    expect(part(page, "outcome")).to_have_text(said(3, scorer="blind"))
    settled(page)


def test_the_link_brings_the_settings_back(visit: Visit, here: str) -> None:
    page = visit(url=here, permissions=["clipboard-read", "clipboard-write"])
    part(page, "whatIf").locator("summary").click()
    choice(page, "Search").select_option("beam")
    page.get_by_label("Beam width, typed").fill("2")
    page.keyboard.press("Enter")
    expect(part(page, "outcome")).to_have_text(said(search="beam", beam_width=2))
    page.get_by_text("Share, save, open").click()
    page.click('[data-do="link"]')
    expect(part(page, "message")).to_have_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    other = visit(url=link)
    expect(part(other, "outcome")).to_have_text(said(search="beam", beam_width=2))
    expect(other.get_by_label("Beam width, typed")).to_have_value("2")
    settled(other)


def test_a_sweep_can_be_taken_away(visit: Visit, here: str, tmp_path: Path) -> None:
    page = visit(url=here)
    part(page, "whatIf").locator("summary").click()
    page.get_by_role("button", name="Sweep λ × budget").click()
    csv_button = page.get_by_role("button", name="Sweep as CSV")
    expect(csv_button).to_be_enabled()
    expect(part(page, "sweepProgress")).to_be_hidden()
    with page.expect_download() as download:
        csv_button.click()
    download.value.save_as(tmp_path / "sweep.csv")
    rows = list(csv.reader((tmp_path / "sweep.csv").read_text("utf-8-sig").splitlines()))
    states = States(TRACE, table_of(TRACE.system))
    expected = sweep_table(list(sweep(states, TRACE.config, *grid_of(TRACE.config))))
    assert rows[0] == expected[0]
    assert [[float(cell) for cell in row] for row in rows[1:]] == expected[1:]
    expect(part(page, "sweepMap").locator(".point")).to_have_count(1)  # the run's own
    choice(page, "Scorer").select_option("blind")
    expect(part(page, "sweepBox")).to_be_hidden()  # it was of other settings
    settled(page)


def test_its_setting_runs_in_a_lane_of_compare(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=1&whatif=lam:0.4,budget:64")
    page.get_by_role("button", name="Run this setting").click()
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
    expect(page.locator('#compare [data-part="badge"]')).to_have_text("live")
    expect(page.locator("#ask-lanes textarea")).to_have_value(TRACE.prompt)
    expect(page.get_by_label("Lane 1")).to_have_value("settings of Explore")
    expect(page.get_by_role("button", name="Run lanes")).to_be_enabled()
    expect(page.locator("#compare")).to_contain_text("settings of Explore")
    page.get_by_role("tab", name="Explore").click()
    page.locator("#settings").get_by_text("Settings", exact=True).click()
    budget = page.locator("#settings").get_by_role("spinbutton", name=re.compile("Budget"))
    expect(budget).to_have_value("64")


def test_a_run_that_decodes_holds_nothing_up(visit: Visit, here: str, tmp_path: Path) -> None:
    other, page = visit(url=here), visit(url=here)
    part(page, "whatIf").locator("summary").click()
    settled(page)
    run(other, "hello")
    expect(part(other, "badge")).to_have_text("live")
    page.get_by_label("Budget, typed").fill("7")
    page.keyboard.press("Enter")
    expect(part(page, "outcome")).to_have_text(said(budget=7))
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_a_run_that_cannot_be_replayed_says_why(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Usual&round=1&whatif=lam:0.4")
    expect(part(page, "absent")).to_have_text(
        "The n-gram table of this pair is not here: no replay."
    )
    expect(part(page, "whatIfBody")).to_be_hidden()


def test_hostile_tokens_stay_characters(visit: Visit, here: str) -> None:
    page = visit(url=f"{here}/?run=Hostile&round=2&whatif=lam:0.1,budget:64")
    states = States(shown_first(hostile()), table_of(TRACE.system))
    config = changed(TRACE.config, {"lam": 0.1, "budget": 64})
    for index in range(1, 7):
        found = states.replay(index, config)
        expect(part(page, "outcome")).to_have_text(
            replayed_sentence(states, index, found, config), use_inner_text=False
        )
        page.click('[data-do="next"]')
    settled(page)
    assert page.locator("#player .what-if img, #player .what-if script").count() == 0


@pytest.mark.parametrize(
    "settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}]
)
def test_it_has_no_serious_finding_and_fits(
    visit: Visit, here: str, settings: dict[str, object]
) -> None:
    page = visit(url=f"{here}/?run=Fibonacci%3A+code&round=2&whatif=budget:256", **settings)
    settled(page)
    page.get_by_role("button", name="Sweep λ × budget").click()
    expect(page.get_by_role("button", name="Sweep as CSV")).to_be_enabled()
    rest(page)
    assert serious(page, "#player") == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]  # type: ignore[index]
