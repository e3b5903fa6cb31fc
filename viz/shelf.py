"""The recorded runs on the shelf: real decoding saved by ``presto record``, ready to show without a
model.
"""

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from presto.records import Recording, load_recording
from viz.payload import Badge, Show


class Recorded(NamedTuple):
    """A recording as the picker and the player need it."""

    title: str
    prompt: str
    value: dict[str, Any]


def value_of(
    recording: Recording, badge: Badge, link: dict[str, str] | None = None, file: str = ""
) -> dict[str, Any]:
    """The player's value of a recording, PRESTO's lane first."""
    show = Show(badge, recording.title, recording.note, link=link or {}, record=file)
    for trace in sorted(recording.traces, key=lambda trace: trace.method != "presto"):
        show.take(trace)
    return show.value()


@lru_cache(maxsize=32)
def recorded(path: Path) -> Recorded:
    """Read one recording and build what the page shows of it."""
    recording = load_recording(path)
    return Recorded(
        recording.title,
        recording.traces[0].prompt,
        value_of(recording, "recorded", {"run": recording.title}, path.as_posix()),
    )


@lru_cache(maxsize=4)
def shelf(folder: Path) -> dict[str, Path]:
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
