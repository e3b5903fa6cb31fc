"""Live runs with a double for decoding: streaming, Stop, refusals, two visitors, leaving."""

import re
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from gradio_client import Client
from playwright.sync_api import Page, expect

from tests.support.browser import DECODING, run, until

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
Release = Callable[[], None]
HELD = "round 4 / 4"  # what a live run shows while it waits (the recorded run has 6 rounds)


def settled(page: Page) -> None:
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_a_run_streams_follows_and_ends_with_the_speedup(visit: Visit) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="badge"]')).to_have_text("live")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    expect(page.locator('[data-part="where"]')).to_have_text(re.compile(r"round (\d) / \1"))
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(page)
    expect(page.locator('[data-part="numbers"]')).to_contain_text("vs linear")
    expect(page.locator('[data-part="message"]')).to_be_hidden()


def test_a_reader_who_steps_back_stays_there_while_rounds_arrive(
    visit: Visit, release: Release
) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    page.click('[data-do="first"]')
    release()
    expect(page.locator('[data-part="where"]')).to_have_text("round 1 / 8")
    settled(page)


def test_playback_waits_for_the_next_round(visit: Visit, release: Release) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    page.click('[data-do="first"]')
    page.locator('[data-part="speed"]').select_option("4")
    page.click('[data-do="play"]')
    expect(page.locator('[data-part="message"]')).to_have_text("Waiting for the next round…")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    release()
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(page)


def test_stop_ends_the_run_within_a_round_and_the_next_run_starts(
    visit: Visit, closed_log: Path, release: Release
) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    closed_log.unlink(missing_ok=True)
    stop = page.get_by_role("button", name="Stop", exact=True)
    stop.click()
    expect(stop).to_be_disabled()
    release()
    expect(page.locator('[data-part="message"]')).to_have_text("Stopped.")
    settled(page)
    until(closed_log.exists)
    method, rounds = closed_log.read_text().split()
    assert method == "presto"
    assert int(rounds) == 5
    run(page, "again")
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(page)


def test_a_run_asked_for_while_the_stopped_one_ends_its_round_is_decoded(
    visit: Visit, release: Release
) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    page.get_by_role("button", name="Stop", exact=True).click()
    settled(page)
    asked_again(page)
    release()
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(page)


def test_a_run_asked_for_while_the_stopped_one_waits_in_the_line_is_decoded(
    visit: Visit, release: Release
) -> None:
    first, second = visit(), visit()
    run(first, "hello")
    expect(first.locator('[data-part="where"]')).to_have_text(HELD)
    run(second, "hello")
    second.get_by_role("button", name="Stop", exact=True).click()
    settled(second)
    asked_again(second)
    release()
    expect(second.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(second)


def asked_again(page: Page) -> None:
    """Ask for a run and wait until the server has taken it."""
    run(page, "again")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()


@pytest.mark.parametrize("prompt", ["", "   "])
def test_blank_prompts_are_refused_in_words(visit: Visit, prompt: str) -> None:
    page = visit(expected="status of 422")  # how Gradio answers a refusal; browsers log it
    run(page, prompt)
    expect(page.get_by_text("The prompt is blank").first).to_be_visible()
    settled(page)
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [("context", "The prompt has 9,000 tokens"), ("crash", "The run failed")],
)
def test_a_failing_run_says_why_and_can_be_repeated(
    visit: Visit, prompt: str, sentence: str
) -> None:
    page = visit()
    run(page, prompt)
    expect(page.locator('[data-part="message"]')).to_contain_text(sentence)
    settled(page)
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")


def test_a_preset_fills_the_prompt(visit: Visit) -> None:
    page = visit()
    page.get_by_label("Preset prompt").click()
    page.get_by_role("option", name="Whitespace").click()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(
        "def f(x):\n\n    return x\t# explain this function"
    )


def test_a_hostile_live_run_executes_nothing(visit: Visit) -> None:
    page = visit()
    run(page, "hostile")
    expect(page.locator('[data-part="where"]')).to_have_text("round 8 / 8")
    settled(page)
    page.keyboard.press("Home")


def test_choosing_a_recorded_run_ends_the_live_one(visit: Visit, release: Release) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    page.get_by_label("Recorded run").click()
    page.get_by_role("option", name="Usual").click()  # the one that was on screen before the run
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")
    release()
    settled(page)
    page.wait_for_timeout(1000)
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")


@pytest.mark.parametrize("turn_away", ["Stop", "Large"])
def test_a_run_given_up_in_the_queue_never_starts(
    visit: Visit, address: str, release: Release, closed_log: Path, turn_away: str
) -> None:
    page = visit()
    other = Client(address, verbose=False).submit("hello", "presto", "", {}, api_name="/decode")
    until(lambda: other.status().code in DECODING)
    run(page, "hello")
    expect(page.get_by_text("queue: 1/1").first).to_be_visible()
    if turn_away == "Stop":
        page.get_by_role("button", name="Stop", exact=True).click()
    else:
        page.get_by_label("Recorded run").click()
        page.get_by_role("option", name=turn_away).click()
    closed_log.unlink(missing_ok=True)
    release()
    other.result()
    expect(page.get_by_text("queue:")).to_have_count(0)
    settled(page)
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")
    expect(page.locator('[data-part="where"]')).to_have_text(
        "round 1 / 6" if turn_away == "Stop" else "round 1 / 3"
    )
    assert closed_log.read_text() == "presto 8\n"  # the other visitor's run


def test_leaving_the_page_frees_the_worker(
    visit: Visit, closed_log: Path, release: Release
) -> None:
    page = visit()
    run(page, "hello")
    expect(page.locator('[data-part="where"]')).to_have_text(HELD)
    closed_log.unlink(missing_ok=True)
    page.close()
    time.sleep(4)  # the server notices
    release()
    until(closed_log.exists)
    assert closed_log.read_text().split()[:2] == ["presto", "5"]


def saved_run(page: Page, path: Path) -> str:
    """The text of the live run's file, once the run is over."""
    expect(page.locator('#player [data-part="badge"]')).to_have_text("live")
    expect(page.locator('#player [data-part="place"]')).to_contain_text("the token cap was reached")
    page.get_by_text("Share, save, open").click()
    with page.expect_download() as download:
        page.click('[data-do="run"]')
    download.value.save_as(path)
    return path.read_text()


def test_two_visitors_never_see_each_others_run(visit: Visit, tmp_path: Path) -> None:
    pages = {name: visit() for name in ("alpha", "beta")}
    for name, page in pages.items():
        page.get_by_label("Prompt", exact=True).fill(f"{name} {name} {name}")
        page.get_by_role("button", name="Run", exact=True).click()
    for name, page in pages.items():
        text = saved_run(page, tmp_path / f"{name}.json")
        other = "beta" if name == "alpha" else "alpha"
        assert f"{name} {name} {name}" in text
        assert other not in text
        assert other not in page.inner_text("body").replace("Prompt", "")


def test_inside_an_iframe_the_tree_is_drawn_and_steps(visit: Visit, address: str) -> None:
    page = visit()
    page.set_content(f'<iframe src="{address}" width="1200" height="700"></iframe>')
    frame = page.frame_locator("iframe")
    expect(frame.locator('#player [data-part="tree"] .textpoint').first).to_be_visible()
    frame.locator('[data-do="next"]').click()
    expect(frame.locator('#player [data-part="where"]')).to_have_text("round 2 / 6")


def test_rendered_on_the_server_the_page_works_all_the_same(
    visit: Visit, rendered_address: str, address: str
) -> None:
    def is_rendered(url: str) -> bool:
        with urllib.request.urlopen(url) as page:
            return b"__sveltekit" in page.read()

    assert is_rendered(rendered_address)
    assert not is_rendered(address)
    page = visit(url=rendered_address)
    page.click('#player [data-do="next"]')
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 2 / 6")
    run(page, "hello")
    expect(page.locator('#player [data-part="badge"]')).to_have_text("live")
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 8 / 8")
