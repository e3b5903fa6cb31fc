"""Which pairs the server loads before anybody asks: $PRESTO_PRELOAD, by default the first one."""

import os

from presto.models.catalogue import find, names

MOST = 2  # pairs that fit beside each other


def chosen() -> tuple[str, ...]:
    """The pairs that PRESTO_PRELOAD names, separated by commas; none if it is set to nothing.
    ``ValueError`` if one is unknown or there are too many.
    """
    text = os.environ.get("PRESTO_PRELOAD", names()[0])
    listed = tuple(name for part in text.split(",") if (name := part.strip()))
    for name in listed:
        find(name)
    if len(listed) > MOST:
        raise ValueError(f"PRESTO_PRELOAD names {len(listed)} pairs, at most {MOST} are allowed")
    return listed
