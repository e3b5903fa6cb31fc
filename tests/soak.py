"""A long use: ``python -m tests.soak [--runs 200] [--replays 50]``; prints the figures as JSON.

Two visitors in two browsers ask for short live runs of the embedded pairs and wait for their end,
press Stop or close their tab, as a fixed chance says. After every ten runs the server's memory,
threads and open files are read. Then recorded runs are replayed round by round in one tab, whose
heap is read after every replay. ``--double`` takes a double for the model.

In parts, each shorter, on one server: start ``PORT=7999 python app.py``, then give every part
``--server 7999 PID --log soak.json`` and the number of its ``--first`` run.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright

from tests.support.browser import FLAGS, chromium, rest
from tests.support.process import serving, usage

PAIRS = ("smollm2-gated", "smollm2-quadratic", "smollm2-dflash")
ENDS = ("wait", "wait", "stop", "close")
LONGEST_MS = 180_000  # a busy machine may take for what is expected
EVERY = 10  # runs between two readings
WHERE = '#player [data-part="where"]'

STOPPABLE = """[...document.querySelectorAll("#ask button:enabled")]
    .some((button) => button.textContent.trim() === "Stop")"""


class Visitor:
    """One browser with one tab."""

    def __init__(self, browser: Browser, url: str, number: int) -> None:
        self.browser, self.url, self.number = browser, url, number
        self.context = browser.new_context()
        self.page: Page | None = None

    def ask(self, run: int) -> None:
        """Ask for a run; in a new tab for one of the next pair."""
        if self.page is None:
            self.page = self.context.new_page()
            self.page.set_default_timeout(LONGEST_MS)
            query = {"system": PAIRS[run % len(PAIRS)], "max_new_tokens": "14", "budget": "12"}
            prompt = f"Visitor {self.number} asks for a line about {run}."
            self.page.goto(f"{self.url}/?{urlencode({'prompt': prompt} | query)}")
            asked = self.page.get_by_label("Prompt", exact=True)
            expect(asked).to_have_value(prompt, timeout=LONGEST_MS)
        self._button("Run").click()
        self.page.wait_for_function(STOPPABLE)  # looked for in every frame: a run may be short

    def end(self, how: str) -> None:
        """See the run to its end, or end it: a tab's first run when a round of it is shown, a later
        one at once, also while it waits in the line.
        """
        assert self.page is not None
        if how != "wait":
            first = self.page.locator(WHERE)
            expect(first).to_have_text(re.compile("round [1-9]"), timeout=LONGEST_MS)
        if how == "close":
            self.page.close()
            self.page = None
            return
        if how == "stop":
            with suppress(Error):  # it may just have ended by itself
                self._button("Stop").click(timeout=1000)
        expect(self._button("Run")).to_be_enabled(timeout=LONGEST_MS)

    def _button(self, name: str) -> Any:
        assert self.page is not None
        return self.page.get_by_role("button", name=name, exact=True)


def live_runs(
    browser: Browser, url: str, pid: int, runs: range, every: int = EVERY
) -> list[dict[str, Any]]:
    """Let two visitors ask for these runs; the readings."""
    visitors = [Visitor(browser, url, number) for number in range(2)]
    readings, ends = [], dict.fromkeys(ENDS, 0)
    for first in runs[:: len(visitors)]:
        for run, visitor in enumerate(visitors, start=first):
            visitor.ask(run)
        for run, visitor in enumerate(visitors, start=first):
            how = Random(run).choice(ENDS)
            ends[how] += 1
            visitor.end(how)
        if (first + len(visitors)) % every == 0:
            readings.append({"runs": first + len(visitors), **usage(pid)._asdict(), **ends})
    for visitor in visitors:
        visitor.context.close()
    return readings


def replays(browser: Browser, url: str, count: int) -> dict[str, list[float]]:
    """The tab's heap in megabytes after every replay of a recorded run, garbage collected."""
    page = browser.new_page()
    page.set_default_timeout(LONGEST_MS)
    page.goto(url)
    rest(page)
    session = page.context.new_cdp_session(page)
    heaps: dict[str, list[float]] = defaultdict(list)
    titles = recorded_runs(page).all_inner_texts()
    step_through(page)
    for number in range(count):
        title = titles[(number + 1) % len(titles)].strip("✓ \n")
        recorded_runs(page).filter(has_text=title).click()
        expect(page.locator(WHERE)).to_have_text(re.compile("^round 1 /"), timeout=LONGEST_MS)
        rest(page)
        step_through(page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")["usedSize"]
        heaps[title].append(round(used / 2**20, 2))
    page.close()
    return heaps


def recorded_runs(page: Page) -> Locator:
    """The list of recorded runs, opened: it opens when its field gets the focus."""
    picker = page.get_by_role("combobox", name="Recorded run")
    picker.blur()
    picker.click()
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_be_visible()
    return options


def step_through(page: Page) -> None:
    """Show every round of a run just picked, each as soon as the one before is drawn."""
    where = page.locator(WHERE)
    rounds = int(where.inner_text().split("/")[1])
    for number in range(1, rounds + 1):
        expect(where).to_have_text(f"round {number} / {rounds}", timeout=LONGEST_MS)
        rest(page)
        if number < rounds:
            page.click('#player [data-do="next"]')


def drift(values: Sequence[float]) -> float:
    """The largest deviation from the first value, as a share of it."""
    return round(max((abs(value / values[0] - 1) for value in values), default=0.0), 4)


def figures(readings: list[dict[str, Any]], heaps: dict[str, list[float]]) -> dict[str, Any]:
    """What is told: readings, heaps, and how far each went from its value after warming up."""
    half = readings[len(readings) // 4 :]  # the first quarter warms up
    names = ("megabytes", "threads", "files")
    return {
        "readings": readings,
        "drift": {name: drift([reading[name] for reading in half]) for name in names},
        "heap_megabytes": heaps,
        "heap_drift": max((drift(heap[1:]) for heap in heaps.values() if heap[1:]), default=0.0),
    }


def main() -> None:
    """Serve the app, use it for long, tell the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--server", type=int, nargs=2, metavar=("PORT", "PID"))
    parser.add_argument("--log", type=Path, help="file that keeps the readings of all parts")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        if chosen.server:
            url, pid = f"http://localhost:{chosen.server[0]}", chosen.server[1]
        else:
            url, pid = stack.enter_context(serving(not chosen.double, folder))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        before = json.loads(chosen.log.read_text()) if chosen.log and chosen.log.exists() else []
        runs = range(chosen.first, chosen.first + chosen.runs)
        readings = before + live_runs(browser, url, pid, runs)
        if chosen.log:
            chosen.log.write_text(json.dumps(readings))
        print(json.dumps(figures(readings, replays(browser, url, chosen.replays)), indent=1))


if __name__ == "__main__":
    main()
