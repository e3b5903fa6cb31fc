"""The n-gram tables that come with the project, by the name of the pair whose target wrote their
text.
"""

from functools import cache

from presto.kernels.table import NgramTable
from presto.models.catalogue import PAIRS
from presto.paths import ASSETS


@cache
def table_of(system: str) -> NgramTable | None:
    """The table of a known pair; ``None`` if it has none, or the pair is not known."""
    spec = PAIRS.get(system)
    path = ASSETS / "ngram" / spec.table if spec and spec.table else None
    return NgramTable.load(path) if path and path.exists() else None
