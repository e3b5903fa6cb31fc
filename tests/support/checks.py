"""What assertions share."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def some(values: Iterable[T]) -> list[T]:
    """All ``values``; fails where there is none, so that a loop over them cannot check nothing."""
    found = list(values)
    assert found, "there was nothing to check"
    return found
