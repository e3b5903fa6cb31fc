"""The app in a process of its own, and what that process holds (Linux)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.server import APP, SERVE, served


class Usage(NamedTuple):
    """What a process holds."""

    megabytes: float  # resident
    threads: int
    files: int  # open ones, sockets among them


def usage(pid: int) -> Usage:
    """What process ``pid`` holds now."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status)
    resident, threads = (int(fields[name].split()[0]) for name in ("VmRSS", "Threads"))
    return Usage(round(resident / 1024, 1), threads, len(os.listdir(f"/proc/{pid}/fd")))


@contextmanager
def serving(real: bool, folder: Path, **settings: str) -> Iterator[tuple[str, int]]:
    """Address and process of the app, with a double for decoding unless ``real``."""
    with served(APP if real else SERVE, folder / "log", **settings) as url:
        yield url, process_of(url)


def process_of(url: str) -> int:
    """The process among our own that serves ``url``."""
    port = f"PORT={url.rsplit(':', 1)[1]}".encode()
    return next(pid for pid in _children() if port in _environment(pid))


def replicas_of(pid: int | str) -> list[int]:
    """The processes below process ``pid`` that are replicas of a pair on its own Ray cluster."""
    found = []
    for child in _children(pid):
        if b"ray::ServeReplica:presto:smollm2" in _title(child):
            found.append(child)
        found += replicas_of(child)
    return found


def _title(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""  # it has ended


def _children(pid: int | str = "self") -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


def _environment(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
