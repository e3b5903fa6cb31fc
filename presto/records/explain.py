"""How foreign text and violated ranges are put into a refusal of one sentence."""

import reprlib

from pydantic import ValidationError


def shown(value: object, limit: int = 60) -> str:
    """Foreign text or another value as one line of at most ``limit`` characters."""
    text = value if isinstance(value, str) else reprlib.repr(value)
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
    got = shown(reprlib.repr(value)) if plain else type(value).__name__
    return f"{place}: {message} (got {got})"
