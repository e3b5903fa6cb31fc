"""How foreign text and violated ranges are put into a refusal of one sentence."""

import reprlib
import unicodedata

from pydantic import ValidationError

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = 60


# What leaves no mark though Python calls it printable: the fillers of Hangul, the inherent vowels
# of Khmer, the grapheme joiner, variation selectors, places that Unicode keeps for more of their
# kind (its property Default_Ignorable_Code_Point), and Braille without dots.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180f\u2065\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9))))
    + "".join(map(chr, range(0xE0000, 0xE1000)))
)
# Of the format characters these are drawn (Prepended_Concatenation_Mark).
_DRAWN = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})  # controls, format characters, separators


def leaves_a_mark(character: str) -> bool:
    """Whether a reader sees a character; spaces, controls, joiners and fillers nobody does."""
    if character in BLANK:
        return False
    return character in _DRAWN or unicodedata.category(character) not in _UNSEEN


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
