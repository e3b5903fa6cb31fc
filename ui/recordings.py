"""The recorded runs: real decoding saved by ``presto record``, ready to show without a model."""

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from presto.records import load_recording
from ui.controls import chosen_in
from ui.explore_payload import shown_first, value_of
from ui.payload import Value


class Recorded(NamedTuple):
    """A recording as the picker and the player need it."""

    title: str
    prompt: str
    value: Value
    chosen: dict[str, Any]  # what becomes of the controls of its budget


@lru_cache(maxsize=32)
def recorded(path: Path) -> Recorded:
    """Read one recording and build what the page shows of it."""
    recording = load_recording(path)
    return Recorded(
        recording.title,
        recording.traces[0].prompt,
        value_of(recording, "recorded", {"run": recording.title}, path.as_posix()),
        chosen_in(shown_first(recording)),
    )


@lru_cache(maxsize=4)
def recordings_in(folder: Path) -> dict[str, Path]:
    """``title -> file`` of the recordings in ``folder``, read once per process; unreadable ones are
    logged.
    """
    found: dict[str, Path] = {}
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        try:
            title = load_recording(path).title
        except ValueError as error:
            logging.getLogger(__name__).warning("skipped recording %s: %s", path.name, error)
        else:
            found[title if title not in found else f"{title} ({path.name})"] = path
    return found
