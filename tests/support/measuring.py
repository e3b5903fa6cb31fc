"""Timing what a page paints, for the modules that print how fast it is."""

import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.support.browser import FLAGS

PAINTED = """window.painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel(); // its message comes right after the frame
    port1.onmessage = done;
    port2.postMessage(0);
}));"""


@contextmanager
def opened(url: str) -> Iterator[Page]:
    """A fresh visitor's page, as large as a laptop's."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ["PRESTO_CHROMIUM"], args=FLAGS
        )
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.add_init_script(PAINTED)
        page.goto(url, wait_until="commit")
        yield page
        browser.close()


def report(names: tuple[str, ...], rows: list[tuple[float, ...]]) -> None:
    """Print median, 95th percentile and most of each timing."""
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        high = statistics.quantiles(values, n=20, method="inclusive")[-1]
        middle = statistics.median(values)
        print(
            f"{name:28} median {middle:6.0f} ms   p95 {high:6.0f} ms   most {max(values):6.0f} ms"
        )
