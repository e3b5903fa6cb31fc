"""Ways to decode that are compared: the methods, and every scorer and search under its preset."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from presto import scorers, searches
from presto.records import DecodeConfig, Method, changed, quoted
from presto.runs.requests import METHODS
from presto.scorers import SCORERS
from presto.searches import SEARCHES

PLAIN: Method = "ar"  # the method that drafts nothing


class Variant(NamedTuple):
    """A way to decode: a method, and the settings (fields of ``DecodeConfig``) it changes."""

    name: str
    title: str
    method: Method
    changes: Mapping[str, Any]

    def config(self, base: DecodeConfig) -> DecodeConfig:
        """``base`` as this variant uses it."""
        return changed(base, self.changes)


TITLES: dict[Method, str] = {
    "ar": "autoregressive",
    "linear": "linear",
    "blind": "blind tree",
    "presto": "PRESTO",
    "presto+": "PRESTO+",
}


def variants() -> dict[str, Variant]:
    """All of them by name: methods, then scorers, then searches.

    A scorer or search that a method stands for (``blind``, ``linear``) is named once, as the
    method, and one that is not to be compared (no preset) is left out.
    """
    found: dict[str, Variant] = {
        method: Variant(method, title, method, METHODS[method]) for method, title in TITLES.items()
    }
    presets: dict[str, dict[str, Any]] = {
        **{n: scorers.preset_of(r) for n, r in SCORERS.items() if r.preset is not None},
        **{n: searches.preset_of(r) for n, r in SEARCHES.items() if r.preset is not None},
    }
    for name, changes in presets.items():
        if name not in found:
            found[name] = Variant(name, f"PRESTO, {name}", "presto", changes)
    return found


def find_variant(name: object) -> Variant:
    """The variant called ``name``; ``ValueError`` lists those there are."""
    known = variants()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown method {quoted(name)}: there are {', '.join(known)}")
    return known[name]


def alternatives() -> dict[str, Mapping[str, Any]]:
    """The changes of every variant that a recorded run can be replayed with.

    Scorers that read more of the drafter than a record holds are left out.
    """
    return {
        name: variant.changes
        for name, variant in variants().items()
        if variant.changes and not _reads_drafter(variant.changes)
    }


def _reads_drafter(changes: Mapping[str, Any]) -> bool:
    return "scorer" in changes and SCORERS[changes["scorer"]].reads_drafter
