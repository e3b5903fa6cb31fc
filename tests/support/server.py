"""The app served in a process of its own on a free port."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVE, APP = Path(__file__).with_name("serve.py"), Path(__file__).parents[2] / "app.py"
# Nothing is loaded ahead, unless a test asks for it.
USUAL = {"PRESTO_PRELOAD": ""}
START = 90  # seconds a busy machine may need to import Gradio


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
            env=os.environ | USUAL | settings | {"PORT": str(port)},
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
