"""Token pieces as readable text: visible whitespace, named control characters, bytes joined across
tokens.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Literal, NamedTuple

from presto.records import Piece, Round, Trace
from presto.records.explain import BLANK
from presto.records.tree import kept

Kind = Literal["exact", "accepted", "bonus"]
LABEL_LIMITS = (12, 8, 6, 4, 3)  # characters of a label, from much space to little
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_WHITESPACE = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
# Meaningful between two characters, invisible alone.
_JOINERS = frozenset("\u200c\u200d") | {c for c in BLANK if unicodedata.category(c) == "Mn"}
_RUNNING = _WHITESPACE | {"\n": "⏎\n", "\t": "⇥\t", " ": " "}
_MARKUP = re.compile("[<>&$]")
_KEPT = 1 << 14  # labels remembered: the same tokens come in round after round
_C0 = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
)
_FORMAT = (
    "7f DEL ad SHY 61c ALM 200b ZWSP 200c ZWNJ 200d ZWJ 200e LRM 200f RLM 2028 LSEP 2029 PSEP "
    "202a LRE 202b RLE 202c PDF 202d LRO 202e RLO 2066 LRI 2067 RLI 2068 FSI 2069 PDI feff BOM "
    "fe0e VS15 fe0f VS16"
)
_NAMES = {chr(code): name for code, name in enumerate(_C0.split())} | {
    chr(int(code, 16)): name for code, name in zip(*[iter(_FORMAT.split())] * 2, strict=True)
}


class Unit(NamedTuple):
    """A stretch of committed text shown as one chip: one token, or several that make one character
    together.
    """

    text: str
    kind: Kind
    nodes: tuple[int, ...]  # tree nodes of its tokens in the round that completed it


class RoundText(NamedTuple):
    """What a round added to the text, and the bytes that wait for the rest of their character."""

    units: tuple[Unit, ...]
    rest: bytes

    @property
    def pending(self) -> str:
        """The waiting bytes as a person reads them; empty if there are none."""
        return byte_label(self.rest) if self.rest else ""


def byte_label(data: Iterable[int]) -> str:
    """Bytes that are no text on their own: ``<F0 9F>``."""
    return "<" + " ".join(f"{byte:02X}" for byte in data) + ">"


def _visible_char(char: str, inner: bool) -> str:
    if inner and char in _JOINERS:
        return char
    if char in _NAMES:
        return f"<{_NAMES[char]}>"
    unseen = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}
    return f"<U+{ord(char):04X}>" if unseen or char in BLANK else char


def _spell(text: str, glyphs: dict[str, str]) -> str:
    if text.isprintable() and BLANK.isdisjoint(text):  # nearly all text: spaces alone change
        return text.replace(" ", glyphs[" "])
    last = len(text) - 1
    return "".join(glyphs.get(c) or _visible_char(c, 0 < i < last) for i, c in enumerate(text))


def visible(text: str) -> str:
    """``text`` with a glyph or a name for every character that would not show or would move
    others.
    """
    return _spell(text, _WHITESPACE) or "∅"


def running(text: str) -> str:
    """``text`` for the text pane: as ``visible``, but spaces beside other characters stay spaces
    and lines break.
    """
    return _spell(text, _RUNNING if text.strip(" ") else _RUNNING | {" ": _WHITESPACE[" "]})


def isolate(text: str) -> str:
    """Keep right-to-left text from reordering what stands beside it."""
    if text.isascii():
        return text
    rtl = any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in text)
    return f"{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}" if rtl else text


def plotly_text(text: object) -> str:
    """``text`` as Plotly shows it unchanged: it reads ``<``, ``>``, ``&`` as markup and a pair of
    ``$`` as formula.
    """
    shown = str(text)
    if not _MARKUP.search(shown):
        return shown
    return escape(shown, quote=False).replace("$", "&#36;")


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut in the middle."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


@lru_cache(_KEPT)
def label(piece: Piece, limit: int = LABEL_LIMITS[0]) -> str:
    """A token's name in the tree: visible glyphs, bytes as ``<F0 9F>``, cut in the middle, bidi
    isolated.
    """
    return isolate(shorten(_shown(piece), limit))


@lru_cache(_KEPT)
def labels(piece: Piece) -> tuple[str, ...]:
    """The token's name in the tree from its longest form to its shortest, for the page to choose
    the longest that has space: ``label`` at every one of ``LABEL_LIMITS`` that makes it shorter.
    """
    shown = _shown(piece)
    shorter = [limit for limit in LABEL_LIMITS[1:] if limit < len(shown)]
    return tuple(isolate(shorten(shown, limit)) for limit in (LABEL_LIMITS[0], *shorter))


@lru_cache(_KEPT)
def full_label(piece: Piece) -> str:
    """The same, uncut."""
    return isolate(_shown(piece))


def _shown(piece: Piece) -> str:
    return visible(piece) if isinstance(piece, str) else byte_label(piece)


def _take(pending: bytes) -> tuple[str, bytes]:
    """Text that the bytes already spell, and the rest. Bytes that can never become text are spelled
    as their label.
    """
    result = ""
    while True:
        try:
            text, used = codecs.utf_8_decode(pending, "strict", False)
        except UnicodeDecodeError as error:
            result += pending[: error.start].decode() + byte_label(pending[error.start : error.end])
            pending = pending[error.end :]
        else:
            return result + text, pending[used:]


def join(pieces: Iterable[Piece]) -> str:
    """Tokens as one text; bytes that never complete a character appear as their label, never as
    U+FFFD.
    """
    result, pending = "", b""
    for piece in pieces:
        if isinstance(piece, str):
            result += (byte_label(pending) if pending else "") + piece
            pending = b""
        else:
            text, pending = _take(pending + bytes(piece))
            result += text
    return result + (byte_label(pending) if pending else "")


def committed_kinds(round_: Round) -> list[tuple[Kind, int | None]]:
    """How each committed token came, and the tree node it was (the exact token is the root)."""
    kinds: list[tuple[Kind, int | None]] = [] if round_.exact is None else [("exact", 0)]
    kinds += [("accepted", node) for node in kept(round_)]
    return [*kinds, ("bonus", None)][: len(round_.committed)]


def _continues(before: str, text: str) -> bool:
    """Whether ``text`` belongs to the character that ``before`` ends with (emoji sequences,
    combining marks).
    """
    combining = unicodedata.category(text[0]) in {"Mn", "Mc", "Me"} or text[0] in _JOINERS
    return before.endswith("\u200d") or combining or "\U0001f3fb" <= text[0] <= "\U0001f3ff"


def round_text(round_: Round, pieces: Mapping[int, Piece], rest: bytes = b"") -> RoundText:
    """The text that a round committed, continued from the ``rest`` of the round before.

    A character split over tokens belongs to the token that completes it.
    """
    units: list[Unit] = []
    held: tuple[int, ...] = ()  # nodes of this round whose bytes still wait
    for token, (kind, node) in zip(round_.committed, committed_kinds(round_), strict=True):
        text, rest = _grow(rest, pieces[token])
        held += () if node is None else (node,)
        if text:
            _append(units, Unit(text, kind, held))
            held = ()
    return RoundText(tuple(units), rest)


def round_texts(trace: Trace) -> list[RoundText]:
    """The committed text by round."""
    result, rest = [], b""
    for round_ in trace.rounds:
        result.append(round_text(round_, trace.pieces, rest))
        rest = result[-1].rest
    return result


def _grow(pending: bytes, piece: Piece) -> tuple[str, bytes]:
    if isinstance(piece, str):
        return (byte_label(pending) if pending else "") + (piece or "∅"), b""
    return _take(pending + bytes(piece))


def _append(units: list[Unit], unit: Unit) -> None:
    if units and _continues(units[-1].text, unit.text):
        before = units.pop()
        unit = Unit(before.text + unit.text, unit.kind, before.nodes + unit.nodes)
    units.append(unit)


def path_text(pieces: Sequence[Piece], limit: int = 160) -> str:
    """A path's tokens as one line of visible text."""
    text = join(pieces)
    if len(text) > 2 * limit:  # what is cut anyway need not be made visible
        text = text[:limit] + text[-limit:]
    return shorten(isolate(visible(text)), limit) if text else ""
