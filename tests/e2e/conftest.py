"""The browser tests' app, served once per session, and the pages they open."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from presto.records import save
from tests.support import synthetic
from tests.support.browser import FLAGS, PATIENCE, chromium, rest, watch
from tests.support.node import NODE
from tests.support.server import APP, SERVE, served


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings to pick from."""
    folder = tmp_path_factory.mktemp("runs")
    save(synthetic.recording("Usual", rounds=6), folder / "1.json.gz")
    hostile = synthetic.recording(
        "Hostile", seed=5, rounds=8, budget=24, pieces=synthetic.HOSTILE, width=12
    )
    save(hostile, folder / "2.json.gz")
    save(synthetic.recording("Large", seed=9, rounds=3, budget=512, depth=15), folder / "3.json.gz")
    return folder


@pytest.fixture(scope="session")
def closed_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the decoding double writes which runs were closed."""
    return tmp_path_factory.mktemp("server") / "closed"


@pytest.fixture
def release(closed_log: Path) -> Iterator[Callable[[], None]]:
    """Live runs wait after their fourth round until this is called."""
    hold = closed_log.with_name("hold")
    hold.touch()
    yield lambda: hold.unlink(missing_ok=True)
    hold.unlink(missing_ok=True)


@pytest.fixture
def loaded(closed_log: Path) -> Iterator[Callable[[], None]]:
    """Live runs wait for their pair until this is called."""
    hold = closed_log.with_name("loading")
    hold.touch()
    yield lambda: hold.unlink(missing_ok=True)
    hold.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def address(runs: Path, closed_log: Path) -> Iterator[str]:
    """The app over synthetic recordings, with a double for decoding."""
    settings = {
        "PRESTO_RUNS": str(runs),
        "CLOSED_LOG": str(closed_log),
        "HOLD": str(closed_log.with_name("hold")),
        "HOLD_LOADING": str(closed_log.with_name("loading")),
    }
    with served(SERVE, closed_log.with_name("log"), **settings) as url:
        yield url


@pytest.fixture(scope="session")
def rendered_address(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as Spaces serves it: a Node process renders the page first (SSR)."""
    settings = {"PRESTO_RUNS": str(runs), "GRADIO_SSR_MODE": "True", "GRADIO_NODE_PATH": str(NODE)}
    with served(SERVE, tmp_path_factory.mktemp("rendered") / "log", **settings) as url:
        yield url


@pytest.fixture(scope="session")
def real_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as it is: committed recordings and the embedded pair, loaded ahead."""
    log = tmp_path_factory.mktemp("real") / "log"
    with served(APP, log, PRESTO_PRELOAD="smollm2-gated") as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium named by $PRESTO_CHROMIUM or on the PATH; without one the browser tests fail, they
    never skip.
    """
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium(), args=FLAGS)


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open the page and wait for its rest; afterwards nothing may have warned, failed or left the
    machine.
    """
    contexts: list[BrowserContext] = []
    trouble: list[str] = []
    tolerated: list[str] = []  # parts of console messages that a test provokes

    def open_page(
        expected: str | None = None,
        url: str = address,
        prepare: Callable[[Page], None] = lambda _: None,
        wait: Callable[[Page], object] = rest,
        **settings: object,
    ) -> Page:
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1366, "height": 768}, **settings})
        )  # type: ignore[arg-type]
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        watch(page, trouble)
        if expected:
            tolerated.append(expected)
        prepare(page)
        page.goto(url)
        wait(page)
        return page

    yield open_page
    for context in contexts:
        assert not any(page.evaluate("window.__xss") for page in context.pages)
        context.close()
    assert [line for line in trouble if not any(part in line for part in tolerated)] == []
