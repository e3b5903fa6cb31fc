"""Many visitors at once: a small load test, with a double for decoding (``python -m tests.load`` is
the large one).
"""

import gzip
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.load import SETTINGS, run_load
from tests.support.process import serving
from ui.player import PLAYER

pytestmark = pytest.mark.browser


def test_simultaneous_visitors_get_their_own_runs_and_leave_nothing_behind(tmp_path: Path) -> None:
    settings = SETTINGS | {"PRESTO_QUEUE": "2", "PRESTO_SESSIONS": "8"}
    with serving(real=False, folder=tmp_path, **settings) as (url, pid):
        figures = run_load(url, pid, visitors=8, runs=32)
    assert (figures["runs"], figures["lost"], figures["crossed"]) == (32, 0, 0)
    assert figures["refusals_of_a_full_line"] > 0
    _, _, warm, *_, last = figures["megabytes"]
    assert last - warm < 16


def test_scripts_arrive_compressed_and_whole_every_time(address: str) -> None:
    path = f"{address}/gradio_api/file={(PLAYER / 'player.js').as_posix()}"
    for _ in range(2):
        with urlopen(Request(path, headers={"Accept-Encoding": "gzip"})) as answer:
            body = answer.read()
            assert answer.headers.get_all("Content-Encoding") == ["gzip"]
        assert gzip.decompress(body) == (PLAYER / "player.js").read_bytes()
