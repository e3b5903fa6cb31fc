"""A scorer and a search of a script, and a scorer by path, only while a test runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import presto
from presto import plugins
from presto.scorers import SCORERS, Drafted
from presto.searches import SEARCHES

FILES = [Path(__file__).with_name(f"plugin_{kind}.py") for kind in ("scorer", "search")]
OWN_SCORERS, OWN_SEARCHES = ("no_repeat", "first_letter"), ("staircase",)


@contextmanager
def own_ones() -> Iterator[None]:
    """The plugins of ``FILES``, ``first_letter`` and whatever the block registers."""
    before = dict(SCORERS._all()), dict(SEARCHES._all())
    for path in FILES:
        plugins.load_plugin(path)
    _register_by_path()
    try:
        yield
    finally:
        for registry, records in zip((SCORERS, SEARCHES), before, strict=True):
            registry._records = records


def _register_by_path() -> None:
    @presto.scorer("first_letter", by="path")
    def first_letter(drafted: Drafted, path: tuple[int, ...]) -> np.ndarray:
        """Candidates that the path has used already lose."""
        return -1.0 * np.isin(drafted.tokens[len(path)], path)
