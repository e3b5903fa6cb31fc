"""Scorers and searches by name: built in, from installed packages, from scripts.

A record describes itself once; the app, the command line, the benchmarks and the tables list what
the registry holds. Packages register through entry points (``presto.scorers``,
``presto.searches``), which are read when a registry is first looked at.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_type_hints

NAME = re.compile("[a-z][a-z0-9_]{0,39}")
TAKEN = frozenset({"ar", "linear", "blind", "presto"})  # names of methods


class Range(NamedTuple):
    """What a number of a scorer's or a search's own may be, and what it does.

    Example:
        >>> from typing import Annotated
        >>> bonus: Annotated[float, Range(0, 4, "Nats for a repeated token.")] = 1.0
    """

    low: float = -1e6
    high: float = 1e6
    description: str = ""


class OwnSetting(NamedTuple):
    """One number that belongs to a scorer or a search alone."""

    name: str
    default: float
    range: Range = Range()


class Record(Protocol):
    """What every registered thing says of itself."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> tuple[OwnSetting, ...]: ...


R = TypeVar("R", bound=Record)


class Registry(Mapping[str, R], Generic[R]):
    """Records of one kind by name, built-in ones first."""

    def __init__(self, kind: str, group: str, built_in: tuple[R, ...]) -> None:
        self.kind, self.group = kind, group
        self.built_in = frozenset(record.name for record in built_in)
        self._records = {record.name: record for record in built_in}
        self._installed = False

    def add(self, record: R) -> R:
        """Register ``record``; a script that runs again replaces its own.

        ``ValueError`` for a name that is not lower-case letters, digits and underscores, or that a
        built-in record has.
        """
        if not NAME.fullmatch(record.name):
            raise ValueError(
                f"a {self.kind}'s name must look like my_{self.kind}_2, got {record.name!r}"
            )
        if record.name in self.built_in | TAKEN:
            raise ValueError(f"the {self.kind} {record.name!r} is built in: choose another name")
        self._records[record.name] = record
        return record

    def find(self, name: object) -> R:
        """The record called ``name``; ``ValueError`` lists those there are."""
        records = self._all()
        if not isinstance(name, str) or name not in records:
            known = ", ".join(records)
            raise ValueError(
                f"{self.kind}: {str(name)[:40]!r} is not installed here, there are {known}"
            )
        return records[name]

    def _all(self) -> dict[str, R]:
        if not self._installed:
            self._installed = True
            for point in entry_points(group=self.group):
                point.load()  # importing the package registers the record
        return self._records

    def __getitem__(self, name: str) -> R:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def first_line(function: Callable[..., Any]) -> str:
    """The summary in a function's docstring: its first line."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def own_settings(function: Callable[..., Any]) -> tuple[OwnSetting, ...]:
    """The keyword-only parameters of ``function``: numbers with a default, maybe a ``Range``."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        default = parameter.default
        if isinstance(default, bool) or not isinstance(default, int | float):
            raise ValueError(f"the setting {name!r} needs a number as its default, got {default!r}")
        noted = getattr(hints.get(name), "__metadata__", ())
        limits = next((note for note in noted if isinstance(note, Range)), Range())
        found.append(OwnSetting(name, float(default), limits))
    return tuple(found)


def checked(record: Record, values: Mapping[str, float]) -> dict[str, float]:
    """All own settings of ``record``: ``values`` over the defaults.

    ``ValueError`` names the first that the record does not have or that is out of range.
    """
    known = {setting.name: setting for setting in record.settings}
    for name, value in values.items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise ValueError(f"{record.name} has no setting {str(name)[:40]!r}: there are {there}")
        low, high, _ = known[name].range
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(
                f"{name} of {record.name} must lie in {low:g} to {high:g}, got {value}"
            )
    return {name: setting.default for name, setting in known.items()} | dict(values)
