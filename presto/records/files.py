"""Records as strict, versioned JSON (``docs/trace.md``)."""

import gzip
import zlib
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from presto.records.explain import explain
from presto.records.recording import Recording
from presto.records.trace import Trace
from presto.records.writing import write_whole

T = TypeVar("T")
MAX_TRACE_BYTES = 64 << 20  # after decompression: larger files are refused before they are parsed
MAX_VALUES = 4_000_000  # of a file, for the same reason: a parsed value takes up to 32 bytes
_TRACE, _RECORDING = TypeAdapter(Trace), TypeAdapter(Recording)


def to_json(record: Trace | Recording) -> bytes:
    """A trace or recording as JSON bytes."""
    return (
        _RECORDING.dump_json(record) if isinstance(record, Recording) else _TRACE.dump_json(record)
    )


def _parse(adapter: TypeAdapter[T], data: bytes | str, what: str) -> T:
    if len(data) > MAX_TRACE_BYTES:
        raise ValueError(f"the {what} is too large: at most {MAX_TRACE_BYTES:,} bytes are allowed")
    values = data.count(b"," if isinstance(data, bytes) else ",")  # type: ignore[arg-type]
    if values > MAX_VALUES:
        raise ValueError(f"the {what} has {values:,} values, at most {MAX_VALUES:,} are allowed")
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise ValueError(f"not a valid {what}: {explain(error)}") from None


def trace_from_json(data: bytes | str) -> Trace:
    """Parse a trace; ``ValueError`` names the first unknown field, wrong type, non-finite number,
    broken tree or part that is larger than a run can make it (``presto.records.bounds``).
    """
    return _parse(_TRACE, data, "trace")


def recording_from_json(data: bytes | str) -> Recording:
    """Parse a recording, as strictly as ``trace_from_json``."""
    return _parse(_RECORDING, data, "recording")


def save(record: Trace | Recording, path: Path) -> None:
    """Write ``path`` as JSON, compressed when its name ends in ``.gz``; whole or not at all."""
    data = to_json(record)
    write_whole(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def load_trace(path: Path) -> Trace:
    """Read a trace written by ``save``; ``ValueError`` says what is wrong with the file."""
    return trace_from_json(_read(path))


def load_recording(path: Path) -> Recording:
    """Read a recording written by ``save``; ``ValueError`` says what is wrong with the file."""
    return recording_from_json(_read(path))


def _read(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(MAX_TRACE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
