"""How fast the panel "What if" is: ``python -m tests.e2e.what_if_timings`` drags its slider of λ on
this machine, with the server on the same cores, and prints medians and 95th percentiles from the
slider's event until the tree under it is painted; then how long a sweep takes.

A drag is 30 moves, one every 20 ms as a hand makes them (a tree per move is not expected: the
newest wins); its moves are timed until a tree that is as new as they are is painted. Single moves,
each after the tree before it, tell the plain way there and back.
"""

import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from presto.paths import ASSETS
from presto.records import load_recording, save
from tests.support.browser import PATIENCE, rest
from tests.support.measuring import opened, report
from tests.support.server import SERVE, served

BUDGETS, MOVES, DRAGS = (64, 256), 40, 4
WATCH = """() => {
    // Every painted tree, by the settings that its sentence names, with its time.
    window.trees = [];
    const seen = new MutationObserver(async () => {
        const text = document.querySelector('[data-part="outcome"]').textContent;
        await painted();
        window.trees.push([text, performance.now()]);
    });
    const target = document.querySelector('[data-part="otherTree"]');
    seen.observe(target, { attributes: true, attributeFilter: ["aria-label"] });
}"""
MOVE = """(value) => {
    const slider = document.querySelector('.knobs input[type="range"]');
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SINGLE = f"""async (value) => {{
    const began = performance.now();
    ({MOVE})(value);
    const isShown = ([text, time]) => time > began && text.startsWith(`λ ${{value}},`);
    while (!window.trees.some(isShown)) await painted();
    return window.trees.find(isShown)[1] - began;
}}"""
DRAG = f"""async (values) => {{
    const moved = [], before = window.trees.length;
    for (const value of values) {{
        moved.push([value, performance.now()]);
        ({MOVE})(value);
        await new Promise((done) => setTimeout(done, 20));
    }}
    const last = `λ ${{values.at(-1)}},`;
    while (!window.trees.slice(before).some(([text]) => text.startsWith(last))) await painted();
    const shown = window.trees.slice(before).map(([text, time]) => [
        values.findIndex((value) => text.startsWith(`λ ${{value}},`)), time]);
    // A move is answered by the first tree that is as new as it is.
    const shows = (i, time) => ([of, at]) => of >= i && at > time;
    const waits = moved.map(([, time], i) => shown.find(shows(i, time))[1] - time);
    const seconds = (shown.at(-1)[1] - moved[0][1]) / 1000;
    return [waits, shown.length / seconds];
}}"""


def address(url: str, budget: int) -> str:
    """The panel, open, at a budget."""
    return f"{url}/?run=Fibonacci%3A+code&round=6&whatif=budget:{budget}"


def settle(page: Page) -> None:
    """Wait until all of the page is at rest, and watch its trees from then on."""
    page.set_default_timeout(PATIENCE)
    rest(page)
    page.wait_for_selector('[data-part="otherTree"] .textpoint')
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)


def moves(url: str, budget: int) -> None:
    """Print the times of single moves and of drags."""
    with opened(address(url, budget)) as page:
        settle(page)
        # Another λ each time, never the run's own: the sentence then begins with it.
        singles = [(page.evaluate(SINGLE, (75 + 5 * i) / 100),) for i in range(MOVES)]
        report((f"one move, budget {budget}",), singles[2:])
        waits: list[tuple[float, ...]] = []
        for drag in range(DRAGS):
            values = [(75 + 5 * i) / 100 for i in range(30)][:: 1 if drag % 2 else -1]
            page.wait_for_timeout(800)
            found, rate = page.evaluate(DRAG, values)
            waits += [(wait,) for wait in found]
            print(f"drag, budget {budget}: {rate:.0f} trees a second")
        report((f"dragged move, budget {budget}",), waits)


def sweeping(url: str) -> float:
    """Seconds of one sweep, from the click to the whole map."""
    with opened(address(url, 32)) as page:
        settle(page)
        began = time.perf_counter()
        page.click('[data-part="sweep"]')
        page.wait_for_selector('[data-part="sweepTable"]:not([disabled])')
        return time.perf_counter() - began


def main() -> None:
    """Serve a recorded run of 128 tokens, time moves, drags and sweeps."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder, "runs")
        runs.mkdir()
        save(load_recording(ASSETS / "runs" / "2-fibonacci.json.gz"), runs / "1.json.gz")
        with served(SERVE, Path(folder, "log"), PRESTO_RUNS=str(runs)) as url:
            for budget in BUDGETS:
                moves(url, budget)
            print(f"sweep of a 128-token run: {max(sweeping(url) for _ in range(3)):.1f} s at most")


if __name__ == "__main__":
    sys.exit(main())
