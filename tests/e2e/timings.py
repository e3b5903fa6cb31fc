"""How fast the page is: ``python -m tests.e2e.timings`` prints medians and 95th percentiles on this
machine.

Synthetic runs of 32, 256 and 512 nodes per round in a headless Chromium. A step is timed from the
key press until its handler has returned, until the new tree and text are painted, and until the
other charts are too; the first tree from DOMContentLoaded until it is painted (still, at first) and
until Plotly has drawn it. The film of a search is timed from the press of "build" until it is
painted, and a step of it, backwards from its end, from the key until tree, mask and candidates are.
"""

import tempfile
from pathlib import Path

from presto.records import save
from tests.support import synthetic
from tests.support.browser import rest
from tests.support.measuring import opened, report
from tests.support.replayable import under
from tests.support.server import SERVE, served

SIZES = (32, 256, 512)
VISITS, ROUNDS, FILM_STEPS = 8, 24, 60
STEP = """async () => {
    const part = (name) => document.querySelector(`[data-part="${name}"]`);
    const drawn = () => part("tree").getAttribute("aria-label");
    const mark = () => part("speedup").layout.shapes[1].x0;
    const [before, round] = [drawn(), mark()];
    await new Promise((done) => setTimeout(done, 600)); // the table of the step before is built
    const began = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    const handled = performance.now() - began;
    do await painted(); while (drawn() === before);
    const tree = performance.now() - began;
    while (mark() === round) await painted();
    await painted();
    return [handled, tree, performance.now() - began];
}"""
FIRST = """async () => {
    const [navigation] = performance.getEntriesByType("navigation");
    const ready = navigation.domContentLoadedEventEnd, times = [];
    for (const mark of ['[data-part="preview"]:not([hidden])', '[data-part="tree"] svg']) {
        while (!document.querySelector(mark)) await painted();
        times.push(performance.now() - ready);
    }
    return times;
}"""

FILM = """async () => {
    const began = performance.now();
    document.querySelector('[data-phase="build"]').click();
    while (!document.querySelector(".film-sentence")?.textContent) await painted();
    await painted();
    return performance.now() - began;
}"""
FILM_STEP = """async () => {
    const said = () => document.querySelector(".film-sentence").textContent, before = said();
    const key = new KeyboardEvent("keydown", { key: ",", bubbles: true });
    const began = performance.now();
    document.querySelector(".film-tree").dispatchEvent(key);
    const handled = performance.now() - began;
    await painted();
    if (said() === before) throw new Error("the film did not step");
    return [handled, performance.now() - began];
}"""


def first_tree(url: str) -> tuple[float, ...]:
    """Milliseconds from DOM ready to the first tree, still and alive, of a visitor with an empty
    cache.
    """
    with opened(url) as page:
        page.wait_for_load_state("domcontentloaded")
        still, alive = page.evaluate(FIRST)
        return still, alive


def steps(url: str) -> list[tuple[float, ...]]:
    """Milliseconds of every step: key handled, tree painted, all charts painted; the first two left
    out as warm-up.
    """
    with opened(url) as page:
        page.evaluate(FIRST)
        rest(page)
        return [tuple(page.evaluate(STEP)) for _ in range(ROUNDS - 1)][2:]


def film(url: str) -> tuple[float, list[tuple[float, ...]]]:
    """Milliseconds until a film is painted, and of every step: key handled, all painted."""
    with opened(url) as page:
        page.emulate_media(reduced_motion="reduce")  # it then opens at its end
        rest(page)
        shown = page.evaluate(FILM)
        return shown, [tuple(page.evaluate(FILM_STEP)) for _ in range(FILM_STEPS)]


def main() -> None:
    """Serve the synthetic runs, time visits and steps, print a table."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder, "runs")
        runs.mkdir()
        for size in SIZES:
            made = synthetic.recording(
                f"Nodes {size}", seed=size, rounds=ROUNDS, budget=size, depth=15
            )
            save(made, runs / f"{size:03}.json.gz")
        save(under("Film", budget=SIZES[-1]), runs / "film.json.gz")
        with served(SERVE, Path(folder, "log"), PRESTO_RUNS=str(runs)) as url:
            first_tree(url)
            report(("first tree", "first tree, alive"), [first_tree(url) for _ in range(VISITS)])
            for size in SIZES:
                names = tuple(
                    f"step, {size} nodes: {part}" for part in ("key handled", "tree", "all")
                )
                report(names, steps(f"{url}/?run=Nodes+{size}&round=1"))
            films = [film(f"{url}/?run=Film&round=1") for _ in range(VISITS // 2)]
            report(("film, 512 nodes",), [(shown,) for shown, _ in films])
            names = tuple(
                f"film step, {SIZES[-1]} nodes: {part}" for part in ("key handled", "all")
            )
            report(names, [step for _, times in films for step in times])


if __name__ == "__main__":
    main()
