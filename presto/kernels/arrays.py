"""Arrays out of ``.npz`` files: what a file claims is checked before anything is unpacked."""

import io
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np

# An archive of ours unpacks to two or three times its size; a small one of zeros to more.
FREE, RATIO = 8 << 20, 20
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, SyntaxError, MemoryError, OverflowError, LookupError, OSError),
    *(tokenize.TokenError, Warning),
)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file by name. ``ValueError`` says what is wrong with it; a file that would
    fill the memory is refused.
    """
    try:
        packed = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            total, most = sum(entry.file_size for entry in entries), max(FREE, RATIO * packed)
            if total > most:
                raise ValueError(f"it would unpack to {total:,} bytes, at most {most:,} are read")
            return {
                entry.filename.removesuffix(".npy"): _array(archive.read(entry))
                for entry in entries
            }
    except _DAMAGE as error:
        problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ValueError(" ".join(problem.split())[:200]) from None


def _array(data: bytes) -> np.ndarray:
    """One ``.npy``: numbers only, as many as its header says."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"unknown array format {version}")
    read = np.lib.format.read_array_header_1_0
    if version == (2, 0):
        read = np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a header that only an old Python would have written
        shape, by_column, dtype = read(file)
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise ValueError(f"expected numbers, got an array of {dtype}")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"an array of shape {shape} and {dtype} does not have its size")
    flat = np.frombuffer(data, dtype, count, file.tell()).copy()  # a view of bytes is read-only
    return flat.reshape(shape, order="F" if by_column else "C")
