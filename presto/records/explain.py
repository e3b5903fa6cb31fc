"""How foreign text and violated ranges are put into a refusal of one sentence."""

import reprlib

from pydantic import ValidationError

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = 60


def quoted(value: object) -> str:
    """A foreign value as Python writes it, one line of at most 60 characters."""
    return shown(_REPR.repr(value))


def shown(text: str, limit: int = 60) -> str:
    """Foreign text as one line of at most ``limit`` characters."""
    line = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    line = " ".join(line.split())
    cut = len(line) > limit or len(text) > 4 * limit
    return f"{line[: limit - 1]}…" if cut else line


def explain(error: ValidationError) -> str:
    """The first violation as one sentence: which field, what was got, what is allowed."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(shown(str(part), 40) for part in first["loc"]) or "value"
    message = shown(first["msg"].removeprefix("Value error, "), 200)
    value = first["input"]
    plain = isinstance(value, (str, int, float, bool, list, tuple, dict, type(None)))
    return f"{place}: {message}" + (f" (got {quoted(value)})" if plain else "")
