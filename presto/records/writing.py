"""Files that a command leaves behind: their place is checked before the work begins, and each is
written whole or not at all.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

logger = logging.getLogger(__name__)


def check_output(path: Path) -> Path:
    """The path of a file to be written later; ``ValueError`` says why it could not be written."""
    try:
        if path.is_dir():
            raise ValueError(f"cannot write {path}: it is a folder, the name of a file is wanted")
        if path.exists() and not os.access(path, os.W_OK):
            raise ValueError(f"cannot write {path}: the file may not be changed")
        if not path.exists() or path.is_file():
            _probe(path.resolve().parent, path)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    return path


def check_output_folder(path: Path) -> Path:
    """The same for a folder, which need not exist, nor the folders above it."""
    try:
        there = next(place for place in (path.resolve(), *path.resolve().parents) if place.exists())
        _probe(there, path)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    return path


def _probe(folder: Path, path: Path) -> None:
    """Write and remove an empty file: permissions alone do not tell of a read-only disk."""
    if not folder.exists():
        raise ValueError(f"cannot write {path}: there is no folder {folder}")
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: {folder} is no folder")
    with tempfile.TemporaryFile(dir=folder):
        pass


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to write, which takes the place of ``path`` when the block ends well.

    Until then ``path`` is what it was; a block that fails leaves nothing behind. The temporary name
    begins with a dot, so no pattern for finished files finds it. What is no regular file (a device,
    a pipe) is written in place.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    place = path.resolve()  # the file behind a link, not the link, is replaced
    temporary = place.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        yield temporary
        if place.exists():
            shutil.copymode(place, temporary)
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is never seen half written."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def follow_umask(folder: Path) -> None:
    """Give the files of a folder the modes that new files have: libraries that write through a
    temporary file leave them readable by their owner alone.
    """
    mask = os.umask(0)
    os.umask(mask)
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o666 & ~mask)


@contextmanager
def alone(place: Path, patience: bool = False) -> Iterator[None]:
    """Keep other processes out of ``place``, a file or folder, by a hidden lock file beside it.

    Another one is waited for with ``patience``, otherwise it is a ``ValueError``. The lock of a
    process that was killed is free.
    """
    real = place.resolve()
    lock = FileLock(real.with_name(f".{real.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not patience:
            raise ValueError(f"another process is writing {place}: wait for it or end it") from None
        logger.info("waiting for another process that is writing %s", place)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
