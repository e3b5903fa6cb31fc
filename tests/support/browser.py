"""A headless Chromium that may talk to nobody but this machine, and waits for what it shows."""

import os
import shutil
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from gradio_client.utils import Status
from playwright.sync_api import Page

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
LOCAL = {"localhost", "127.0.0.1"}
DECODING = {Status.PROCESSING, Status.ITERATING}  # a client's run, before and after a round
PATIENCE = 60_000  # milliseconds a busy machine may need to do what is expected


def chromium() -> str:
    """The Chromium named by $PRESTO_CHROMIUM or on the PATH; ``RuntimeError`` without one."""
    found = os.environ.get("PRESTO_CHROMIUM") or shutil.which("chromium")
    if path := found or shutil.which("google-chrome"):
        return path
    raise RuntimeError("no Chromium found: set PRESTO_CHROMIUM to its path")


def watch(page: Page, trouble: list[str]) -> None:
    """Note warnings, errors, dialogs and requests that leave the machine."""

    def console(message: object) -> None:
        if message.type in {"warning", "error"}:  # type: ignore[attr-defined]
            trouble.append(f"{message.type}: {message.text}")  # type: ignore[attr-defined]

    def request(asked: object) -> None:
        parts = urlsplit(asked.url)  # type: ignore[attr-defined]
        if parts.scheme not in {"data", "blob"} and parts.hostname not in LOCAL:
            trouble.append(f"left the machine: {parts.geturl()}")

    def failed(asked: object) -> None:
        if "csp" in str(asked.failure).lower():  # type: ignore[attr-defined]
            trouble.remove(f"left the machine: {asked.url}")  # type: ignore[attr-defined]

    page.on("console", console)
    page.on("request", request)
    page.on("requestfailed", failed)  # what the page's own policy stops never left
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


def run(page: Page, prompt: str) -> None:
    """Ask for a live run of ``prompt`` as a visitor does."""
    page.get_by_label("Prompt", exact=True).fill(prompt)
    page.get_by_role("button", name="Run", exact=True).click()


def serious(page: Page, part: str) -> list[str]:
    """Serious and critical findings in ``part`` of the page."""
    found = Axe().run(page, context={"include": [[part]]}).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
