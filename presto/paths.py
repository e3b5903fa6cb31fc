"""Where the files that come with the project lie: weights, tables, recorded runs.

In a clone and in an editable install they are the folder ``assets`` beside ``presto``; in an
installed wheel they are the folder ``assets`` inside it.
"""

import os
from pathlib import Path


def assets_of(package: Path) -> Path:
    """The assets of the ``presto`` package whose folder is ``package``."""
    inside = package / "assets"
    return inside if inside.is_dir() else package.parent / "assets"


ASSETS = assets_of(Path(__file__).resolve().parent)


def cache_folder() -> Path:
    """Where fetched weights and compiled code are kept: ``PRESTO_CACHE``, or ``presto`` under the
    user's cache folder. ``ValueError`` if there is neither.
    """
    chosen, base = os.environ.get("PRESTO_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        if chosen:
            return Path(chosen).expanduser()
        return Path(base).expanduser() / "presto" if base else Path.home() / ".cache" / "presto"
    except RuntimeError:
        raise ValueError(
            "this user has no home folder: set PRESTO_CACHE to a folder that can be written"
        ) from None
