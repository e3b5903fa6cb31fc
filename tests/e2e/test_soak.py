"""A short soak with a double for the model; ``python -m tests.soak`` is the long one."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.soak import figures, live_runs, replays
from tests.support.process import serving

pytestmark = pytest.mark.browser


def test_a_short_soak_leaves_nothing_behind(browser: Browser, runs: Path, tmp_path: Path) -> None:
    settings = {"PACE": "0.01", "PRESTO_RUNS": str(runs), "PRESTO_SESSIONS": "4"}
    with serving(False, tmp_path, **settings) as (url, pid):
        readings = live_runs(browser, url, pid, range(16), every=4)
        heaps = replays(browser, url, 7)
    found = figures(readings, heaps)
    assert len(readings) == 4
    assert all(readings[-1][how] for how in ("wait", "stop", "close")), readings
    assert len(heaps) == 3
    assert max(found["drift"]["megabytes"], found["heap_drift"]) < 0.05, found
    last = readings[-1]
    assert last["threads"] - readings[1]["threads"] <= 2, readings
    assert last["files"] - readings[1]["files"] <= 3, readings  # a socket may still be closing
