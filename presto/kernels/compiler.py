"""The one door to numba: compiled functions, their cache on disk and a clock they can read.

numba keys a cached function on its own file only and misses an edit in a file that it calls into,
so the cache folder is named after the contents of every file with compiled code.
"""

import hashlib
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import types

from presto.paths import cache_folder

F = TypeVar("F", bound=Callable[..., Any])
SOURCES = sorted(  # every file with compiled code imports this one
    path
    for path in Path(__file__).parent.glob("*.py")
    if b"kernels.compiler import" in path.read_bytes() or path == Path(__file__)
)


def _our_cache() -> Path:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in SOURCES:
        digest.update(path.read_bytes())
    return cache_folder() / f"kernels-{digest.hexdigest()[:12]}"


def _keep_compiled_code() -> bool:
    """Whether compiled code can be kept on disk; without it every process compiles anew."""
    try:
        folder = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _our_cache()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        logger.warning("compiled code cannot be kept, it is compiled anew (%s)", error)
        return False
    numba.config.CACHE_DIR = str(folder)
    return True


logger = logging.getLogger(__name__)
_KEPT = _keep_compiled_code()


def kernel(function: F) -> F:
    """Compile ``function`` to machine code on its first call in this cache folder."""
    compiled: F = numba.njit(cache=_KEPT)(function)
    return compiled


def inlined(function: F) -> F:
    """The same for a small function of inner loops: compiled into its callers.

    A call hands over every array of its arguments, which costs more than such a function does.
    """
    compiled: F = numba.njit(cache=_KEPT, inline="always")(function)
    return compiled


_MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 0)
_POSIX = sys.platform != "win32"
_clock_gettime: Any = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.voidptr)
)


@kernel
def seconds(scratch: np.ndarray) -> float:
    """A monotonic clock for compiled code; ``scratch`` is ``int64 [2]``. 0 where the system has no
    POSIX clock.
    """
    if not _POSIX:
        return 0.0
    _clock_gettime(_MONOTONIC, scratch.ctypes.data)
    return float(scratch[0] + scratch[1] * 1e-9)
