"""Many tabs of one browser: ``python -m tests.tabs [--tabs 8]``; prints the figures as JSON.

A browser opens six connections to a host over HTTP/1.1 and shares them among all its tabs. In every
tab but the last a run is asked for, so that one decodes and the others wait in the line; then the
last tab is opened, and Stop is pressed in the tab that decodes and in one that waits. ``null`` is
what did not come within a minute. A double stands for the model: its run waits in the middle.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.support.browser import FLAGS, chromium, first_tree, run
from tests.support.server import SERVE, served

LONGEST_MS = 60_000  # that an answer is waited for


def timed(act: Callable[[], object]) -> float | None:
    """Seconds that ``act`` takes; ``None`` if it had to be given up."""
    began = time.perf_counter()
    try:
        act()
    except (Error, AssertionError) as error:
        print(f"given up after {time.perf_counter() - began:.0f} s: {error}", file=sys.stderr)
        return None
    return round(time.perf_counter() - began, 2)


def opened(page: Page, url: str) -> float | None:
    """Open the page; seconds to its first tree."""

    def act() -> None:
        page.goto(url, wait_until="commit")
        first_tree(page)

    return timed(act)


def asked(page: Page, number: int) -> float | None:
    """Ask for a run; seconds until the server has taken the request."""

    def act() -> None:
        run(page, f"tab {number} asks")
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()

    return timed(act)


def stopped(page: Page) -> float | None:
    """Press Stop; seconds until the tab offers Run again."""

    def act() -> None:
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()

    return timed(act)


def measured(browser: Browser, url: str, tabs: int) -> dict[str, Any]:
    """The figures of so many tabs of one browser."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_timeout(LONGEST_MS)
    pages = [context.new_page() for _ in range(tabs)]
    trees, asks = [], []
    for number, page in enumerate(pages):
        trees.append(opened(page, url))
        if number < tabs - 1:
            asks.append(asked(page, number))
    stops = {"decoding": stopped(pages[0]), "waiting": stopped(pages[-2])}
    context.close()
    return {
        "tabs": tabs,
        "first_tree_seconds": trees,
        "run_accepted_seconds": asks,
        "first_tree_of_the_last_tab_seconds": trees[-1],
        "stop_answered_seconds": stops,
    }


@contextmanager
def held(folder: Path, tabs: int, **more: str) -> Iterator[str]:
    """Address of an app with a line for every tab, whose runs wait after their fourth round."""
    hold = folder / "hold"
    hold.touch()
    settings = {"HOLD": str(hold), "PRESTO_QUEUE": str(tabs)} | more
    with served(SERVE, folder / "log", **settings) as url:
        yield url
        hold.unlink()


def main() -> None:
    """Serve the app and open its tabs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabs", type=int, default=8)
    tabs = parser.parse_args().tabs
    expect.set_options(timeout=LONGEST_MS)
    with (
        TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        held(Path(folder), tabs) as url,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        print(json.dumps(measured(browser, url, tabs), indent=1))


if __name__ == "__main__":
    main()
