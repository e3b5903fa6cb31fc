"""Many tabs of one browser over HTTP/1.1, which gives them six connections together."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from tests.support.browser import PATIENCE, rest, run, until
from tests.tabs import held, measured

pytestmark = pytest.mark.browser
STREAMS = ("/heartbeat/", "/queue/data")
NO_SOCKETS = """window.WebSocket = class {
    constructor() { setTimeout(() => this.onclose({ code: 1006 })); }
};"""

LATE_MESSAGES = """window.WebSocket = class extends window.WebSocket {
    #handlers = {};
    #late(kind, handler) {
        this.#handlers[kind] = handler;
        super[`on${kind}`] = (event) => setTimeout(() => this.#handlers[kind]?.(event), 2000);
    }
    set onmessage(handler) { this.#late("message", handler); }
    set onclose(handler) { this.#late("close", handler); }
};"""


@pytest.fixture(scope="module")
def slow(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with a line for every tab and runs that do not end."""
    with held(tmp_path_factory.mktemp("tabs"), 8, PRESTO_RUNS=str(runs)) as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser's window."""
    made = browser.new_context()
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


def open_streams(page: Page) -> list[Request]:
    """The event streams the page asks for by HTTP, those that are over taken out."""
    streams: list[Request] = []
    page.on("request", lambda asked: streams.append(asked) if is_stream(asked) else None)
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda over: streams.remove(over) if over in streams else None)
    return streams


def is_stream(asked: Request) -> bool:
    return any(part in asked.url for part in STREAMS)


def test_a_tab_in_which_nothing_runs_holds_no_stream(context: BrowserContext, slow: str) -> None:
    page = context.new_page()
    streams = open_streams(page)
    page.goto(slow)
    rest(page)
    until(lambda: page.wait_for_timeout(100) or not streams)


def test_a_tab_whose_run_decodes_holds_a_socket_and_no_connection(
    context: BrowserContext, slow: str
) -> None:
    page = context.new_page()
    sockets, streams = [], open_streams(page)
    page.on("websocket", lambda socket: sockets.append(socket))
    page.goto(slow)
    rest(page)
    until(lambda: page.wait_for_timeout(100) or not streams)
    run(page, "hello")
    expect(page.locator('#player [data-part="where"]')).to_have_text("round 4 / 4")
    assert streams == []
    assert not all(socket.is_closed() for socket in sockets)
    page.close()  # and with it the run


def test_a_stream_that_no_socket_carries_is_asked_for_by_fetch(
    context: BrowserContext, slow: str
) -> None:
    page = context.new_page()
    page.add_init_script(NO_SOCKETS)
    page.goto(slow)
    rest(page)
    run(page, "hello")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()  # an answer came
    page.close()


def test_a_run_is_heard_that_is_asked_for_while_the_end_of_a_stream_is_on_its_way(
    context: BrowserContext, slow: str
) -> None:
    page = context.new_page()
    page.add_init_script(LATE_MESSAGES)
    page.goto(slow)
    rest(page)
    page.get_by_label("Preset prompt").click()
    with page.expect_websocket():  # its stream, which the server ends at once
        page.get_by_role("option", name="Whitespace").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()  # an answer came
    page.close()


def test_eight_tabs_of_which_seven_ask_for_runs(browser: Browser, slow: str) -> None:
    figures = measured(browser, slow, 8)
    stops = figures["stop_answered_seconds"].values()
    seconds = [*figures["first_tree_seconds"], *figures["run_accepted_seconds"], *stops]
    assert None not in seconds, json.dumps(figures)
    assert max(seconds) < 20, figures  # more than a minute while streams took the connections
