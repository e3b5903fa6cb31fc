"""Where the files that come with the project lie: weights, tables, recorded runs.

In a clone and in an editable install they are the folder ``assets`` beside ``presto``; in an
installed wheel they are the folder ``assets`` inside it.
"""

from pathlib import Path


def assets_of(package: Path) -> Path:
    """The assets of the ``presto`` package whose folder is ``package``."""
    inside = package / "assets"
    return inside if inside.is_dir() else package.parent / "assets"


ASSETS = assets_of(Path(__file__).resolve().parent)
