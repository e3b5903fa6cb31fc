"""What surrounds the tree: views of the scores, ranks by either score, the formula, links and files
to take away.
"""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from presto.records import recording_from_json, save
from tests.support import synthetic
from viz.stopping import stopping_figure, stopping_sentence

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
USUAL = synthetic.recording("Usual", rounds=6).traces[0]


def test_every_view_of_the_scores_can_be_chosen_by_mouse_and_keys(visit: Visit) -> None:
    page = visit()
    chart = page.locator('#player [data-part="scores"]')
    page.get_by_role("tab", name="Prediction").click()
    remark = page.locator('[data-part="remark"]').inner_text()
    expect(chart).to_have_attribute(
        "aria-label", re.compile(f"^Path score of every node.*{re.escape(remark)}$")
    )
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Marginals")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-part="remark"]')).to_have_text(stopping_sentence(USUAL, 0))
    (bars,) = [trace for trace in stopping_figure(USUAL, 0).data if trace.type == "bar"]
    expect(page.locator('[data-part="scores"] .trace.bars .point')).to_have_count(len(bars.x))
    assert page.locator('#player [data-part="where"]').inner_text() == "round 1 / 6"
    page.keyboard.press("ArrowRight")
    # A synthetic run has no n-gram table to replay with.
    expect(chart).to_contain_text("The n-gram table of this pair is not here")


def test_why_a_budget_was_chosen_is_reached_by_keyboard(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    page.locator("#settings").get_by_role("button", name="Settings").focus()
    page.keyboard.press("Enter")
    auto = page.get_by_label("Auto budget")
    budget = page.get_by_role("slider", name=re.compile("Budget"))
    expect(auto).to_be_checked()
    expect(budget).to_have_count(0)
    auto.focus()
    page.keyboard.press("Space")
    expect(auto).not_to_be_checked()
    expect(budget).to_be_visible()
    page.keyboard.press("Space")
    expect(budget).to_have_count(0)
    page.get_by_label("Prompt", exact=True).focus()
    page.keyboard.press("Enter")
    place = page.locator('#player [data-part="place"]')
    expect(place).to_contain_text("the token cap was reached")
    expect(place).to_contain_text("budget 32, 12 drafted (auto)")
    page.get_by_role("tab", name="Ranks").focus()
    page.keyboard.press("ArrowLeft")  # around the end, to the last
    tab = page.get_by_role("tab", name="Why this budget")
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.locator('#player [data-part="scores"]')).to_have_attribute(
        "aria-label", re.compile("^Expected tokens per second.*Chosen: 32 nodes, 12 drafted")
    )
    page.locator(".chart-table summary").focus()
    page.keyboard.press("Enter")
    rows = page.locator('[data-part="chart-rows"] tr')
    expect(rows).to_have_text([re.compile(f"^{start}") for start in ("budget", "16", "32", "64")])
    page.get_by_role("button", name="As CSV").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "budget.csv")
    saved = list(csv.reader((tmp_path / "budget.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert saved[0] == ["budget", "tokens/s, 4 drafted", "tokens/s, 12 drafted"]
    assert saved[2] == ["32", "71.4", "100.0"]


def test_a_recorded_run_and_a_link_with_numbers_turn_auto_off(visit: Visit, address: str) -> None:
    page = visit(url=f"{address}/?prompt=hello&budget=64", wait=lambda page: None)
    budget = page.get_by_role("slider", name=re.compile("Budget"))
    page.locator("#settings").get_by_text("Settings", exact=True).click()
    expect(page.get_by_label("Auto budget")).not_to_be_checked()
    expect(budget).to_have_value("64")
    page.goto(f"{address}/?prompt=hello")
    page.locator("#settings").get_by_text("Settings", exact=True).click()
    expect(page.get_by_label("Auto budget")).to_be_checked()
    page.get_by_label("Recorded run").click()
    page.get_by_role("option", name="Usual").click()
    expect(page.get_by_label("Auto budget")).not_to_be_checked()
    expect(budget).to_have_value("32")


def test_ranks_by_the_other_score_resize_marks_in_place(visit: Visit) -> None:
    page = visit()
    read = """() => JSON.stringify(document.querySelector('[data-part="tree"]').data
        .filter((trace) => trace.ids).map(({ x, y, marker }) => [x, y, marker.size]))"""
    before = page.evaluate(read)
    page.click('[data-do="by-blind"]')
    expect(page.locator('[data-do="by-blind"]')).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(f"(before) => ({read})() !== before", arg=before)
    after = page.evaluate(read)
    assert [part[:2] for part in json.loads(before)] == [part[:2] for part in json.loads(after)]
    assert [part[2] for part in json.loads(before)] != [part[2] for part in json.loads(after)]


def test_the_phases_of_a_round_build_up_what_is_known(visit: Visit) -> None:
    page = visit()
    tree, pressed = USUAL.rounds[0].tree, page.locator('[data-phase][aria-pressed="true"]')
    read = """() => document.querySelector('[data-part="tree"]').data
        .filter((trace) => trace.ids).flatMap(({ ids, marker }) => ids.map(() => marker.symbol))"""

    def marks(phase: str) -> list[str]:
        page.click(f'[data-phase="{phase}"]')
        expect(pressed).to_contain_text(phase)
        expect(page.locator('[data-part="preview"]')).to_be_hidden()
        return list(page.evaluate(read))

    expect(pressed).to_have_text("commit 1 ms")  # as tests/support/synthetic.py says of every round
    assert marks("draft") == ["square"]
    expect(page.get_by_role("tab", name="Marginals")).to_have_attribute("aria-selected", "true")
    expect(page.locator('[data-part="text"]')).to_have_class(re.compile("ahead"))
    for phase in ("score", "build"):
        found = marks(phase)
        assert len(found) == len(tree.tokens)
        assert set(found) == {"square", "circle-open"}  # no verdict yet, nor a bonus
    assert {"circle", "star"} <= set(marks("verify"))
    expect(page.get_by_role("tab", name="Why it stopped")).to_have_attribute(
        "aria-selected", "true"
    )
    page.keyboard.press("ArrowRight")
    expect(pressed).to_contain_text("commit")


def test_the_pinned_node_shows_its_formula(visit: Visit) -> None:
    page = visit()
    page.locator("#player tr[data-node='5'] button").click()
    page.get_by_text("The score, with these numbers").click()
    expect(page.locator(".formula p").first).to_contain_text("log q")
    expect(page.locator(".formula p").last).to_contain_text("Sum over the path: prefix-blind")


def test_a_link_brings_back_run_round_and_node(visit: Visit, address: str) -> None:
    page = visit(url=f"{address}/?run=Hostile&round=3&node=2")
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 3 / 8")
    expect(page.locator("#player .node-title")).to_be_visible()
    expect(page.locator("#player tr[data-node='2']")).to_have_attribute("aria-selected", "true")


def test_the_copied_link_names_what_is_on_screen(visit: Visit) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.click('[data-do="next"]')
    page.get_by_text("Share, save, open").click()
    page.click('[data-do="link"]')
    expect(page.locator('#player [data-part="message"]')).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/?run=Usual&round=2")


def test_a_shared_prompt_fills_the_page_and_waits_for_run(
    visit: Visit, address: str, browser: object
) -> None:
    page = visit()
    page.goto(f"{address}/?prompt=hello+there&system=smollm2-gated&budget=64")
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("hello there")
    expect(page.locator('#player [data-part="message"]')).to_contain_text("press Run")


def test_run_table_and_pictures_can_be_taken_away(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    page.get_by_text("Share, save, open").click()

    def take(name: str) -> Path:
        with page.expect_download() as download:
            page.click(f'[data-do="{name}"]')
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    rows = list(csv.DictReader(take("table").read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == len(USUAL.rounds[0].tree.tokens) + 1  # and the bonus
    assert {"token", "verdict", "blind rank", "aligned rank"} <= rows[0].keys()
    assert take("svg").read_text().startswith("<svg")
    assert take("png").read_bytes().startswith(b"\x89PNG")
    assert take("run").name == "1.json.gz"


def test_a_live_run_can_be_saved_when_it_is_over(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator('#player [data-part="badge"]')).to_have_text("live")
    expect(page.locator('#player [data-part="place"]')).to_contain_text("the token cap was reached")
    page.get_by_text("Share, save, open").click()
    with page.expect_download() as download:
        page.click('[data-do="run"]')
    download.value.save_as(tmp_path / "run.json")
    text = (tmp_path / "run.json").read_text()
    assert json.loads(text)["title"] == "Your prompt"
    assert {trace.method for trace in recording_from_json(text).traces} == {"presto", "linear"}


def test_a_saved_run_is_opened_and_a_broken_file_refused(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    good, packed, broken = tmp_path / "run.json", tmp_path / "run.json.gz", tmp_path / "broken.json"
    save(synthetic.recording("Mine", seed=4, rounds=5, prompt="a prompt of mine"), good)
    save(synthetic.recording("Packed", seed=6, rounds=7).traces[1], packed)
    broken.write_text('{"traces": 7}')
    files = page.locator('[data-part="file"]')
    files.set_input_files(good)
    expect(page.locator('#player [data-part="badge"]')).to_have_text("opened")
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 1 / 5")
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("a prompt of mine")
    files.set_input_files(packed)
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 1 / 14")
    files.set_input_files(broken)
    expect(page.get_by_text("Not a valid recording")).to_be_visible()
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 1 / 14")
    (tmp_path / "bad.json.gz").write_bytes(b"nothing compressed")
    files.set_input_files(tmp_path / "bad.json.gz")
    expect(page.locator('#player [data-part="message"]')).to_contain_text(
        "bad.json.gz cannot be read"
    )


def test_embedded_the_player_stands_alone(visit: Visit, address: str) -> None:
    page = visit(url=f"{address}/?run=Usual&embed=1")
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#head")).to_be_hidden()
    expect(page.locator('#player [data-part="tree"]')).to_be_visible()
