"""Foreign text in every place where the page shows it: characters, no markup, no request."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from presto.records import Recording, Trace, save, to_json
from tests.support import synthetic
from tests.support.browser import run
from tests.support.server import SERVE, served

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
ELSEWHERE = "http://elsewhere.example/"
# What a page would fetch, or run, if it took it for markup; as text it must be seen as it stands.
MARKUP = f'<img src="{ELSEWHERE}i" onerror="window.__xss=1"><style>@import "{ELSEWHERE}s"</style>'
MARKDOWN = f"![]({ELSEWHERE}m) [link]({ELSEWHERE}l)"
TEXT = f"{MARKUP} {MARKDOWN} " + "{{value}} ${window.__xss=1}"
NAMES = ("system", "mode", "device", "dtype", "template", "created")


def image(name: str) -> str:
    """Markup that asks for an address."""
    return f'<img src="{ELSEWHERE}{name}">'


def marked(trace: Trace) -> Trace:
    """The trace with foreign text in every field that has text."""
    pieces = {token: TEXT if token % 3 else f"{MARKUP}{token}" for token in trace.pieces}
    names = dict.fromkeys(NAMES, TEXT)
    about = {"models": {MARKUP: TEXT}, "versions": {MARKUP: TEXT}, "prompt": TEXT}
    return replace(trace, pieces=pieces, **names, **about)


def recording() -> Recording:
    made = synthetic.recording(rounds=3, budget=12, width=8)
    return Recording(TEXT, TEXT, tuple(map(marked, made.traces)))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over such a recording, with a scorer that has a setting of its own."""
    folder = tmp_path_factory.mktemp("hostile")
    save(recording(), folder / "<img src=x>.json.gz")
    settings = {
        "PRESTO_RUNS": str(folder),
        "PRESTO_PLUGINS": str(Path(synthetic.__file__).with_name("plugin_scorer.py")),
    }
    with served(SERVE, tmp_path_factory.mktemp("log") / "log", **settings) as url:
        yield url


def is_clean(page: Page) -> None:
    """Nothing on the page came from the text but characters."""
    foreign = [f'[{name}*="elsewhere.example"]' for name in ("src", "href", "style", "data")]
    expect(page.locator(", ".join(foreign))).to_have_count(0)
    styles = "() => [...document.styleSheets].map((s) => s.ownerNode.textContent).join()"
    assert ELSEWHERE not in page.evaluate(styles)


def test_a_recording_is_shown_as_it_is_spelled(visit: Visit, hostile: str) -> None:
    page = visit(url=hostile)
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(TEXT)
    expect(page.get_by_role("combobox", name="Recorded run")).to_have_value(TEXT)
    for part in ("place", "text"):
        expect(page.locator(f'#player [data-part="{part}"]')).to_contain_text("<img src=")
    for tab in page.locator("#player").get_by_role("tab").all():
        tab.click()
    page.click('#player [data-do="last"]')
    page.locator('#player [data-part="table"] tr[data-node]').first.click()
    is_clean(page)
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#compare")).to_contain_text("tokens/s")
    is_clean(page)


def test_a_refused_file_is_quoted_as_it_is_spelled(
    visit: Visit, hostile: str, tmp_path: Path
) -> None:
    page = visit(url=hostile)
    fields = json.loads(to_json(recording().traces[0]))
    name = image("f")
    (tmp_path / "run.json").write_text(json.dumps(fields | {name: 1}))
    page.locator('[data-part="file"]').set_input_files(tmp_path / "run.json")
    expect(page.get_by_test_id("toast-text")).to_contain_text(name)
    is_clean(page)
    odd = tmp_path / "<img src=x onerror=window.__xss=1>.json.gz"
    odd.write_bytes(b"nothing compressed")
    page.locator('[data-part="file"]').set_input_files(odd)
    expect(page.locator('#player [data-part="message"]')).to_contain_text(odd.name)
    is_clean(page)


def test_a_refused_request_is_quoted_as_it_is_spelled(visit: Visit, hostile: str) -> None:
    page = visit(url=hostile, expected="status of 422")
    page.get_by_role("button", name="Settings").click()
    page.locator("#more button").first.click()
    page.get_by_role("combobox", name="Scorer").click()
    page.get_by_role("option", name="no_repeat").click()
    own = image("o")
    page.get_by_label("Own settings").fill(own)
    run(page, TEXT)
    expect(page.get_by_text(f"{own}: neither no_repeat nor best_first").first).to_be_visible()
    is_clean(page)


def test_an_address_is_quoted_as_it_is_spelled(visit: Visit, hostile: str) -> None:
    page = visit(
        url=f"{hostile}/?{urlencode({'prompt': image('p'), 'lam': image('q')})}",
        wait=lambda page: page.wait_for_selector('#player [data-part="message"]'),
    )
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(image("p"))
    expect(page.locator('#player [data-part="message"]')).to_contain_text(image("q")[:40])
    is_clean(page)
