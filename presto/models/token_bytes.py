"""The bytes that a token stands for, for every kind of tokenizer.

Byte-level vocabularies write every byte as one printable character; SentencePiece's spell bytes
outside of their words as ``<0x0A>``; of all others a token is what it adds to a text when it is
decoded behind another.
"""

import json
import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from presto.records import Piece

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def as_piece(data: bytes) -> Piece:
    """A token's bytes as text where they are UTF-8 on their own, else as a tuple of byte values."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return tuple(data)


@cache
def _byte_of_symbol() -> dict[str, int]:
    """Byte-level BPE writes every byte as one printable character (GPT-2's table); this is the way
    back.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(256 + i): byte for i, byte in enumerate(others)}


class TokenBytes:
    """The bytes of every token of a tokenizer. Joined, those of a text's tokens spell what the
    tokenizer decodes, but for a space that some tokenizers drop at the start of a text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def _steps(self) -> frozenset[str]:
        """Names of the steps that decode a text."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return frozenset({"ByteFallback"})
        decoder = backend.decoder
        return frozenset(_types(json.loads(decoder.__getstate__())) if decoder else ())

    def symbol(self, token: int) -> str | None:
        """What the vocabulary calls a token, ``None`` if it has none of this number."""
        if not 0 <= token <= self._last:
            return None
        symbol = self.tokenizer.convert_ids_to_tokens(token)
        return None if symbol is None else str(symbol)

    @cached_property
    def _last(self) -> int:
        return max(self.tokenizer.get_vocab().values(), default=-1)

    def __call__(self, token: int) -> bytes:
        """The bytes of a token; none for a number that is no token."""
        symbol = self.symbol(token)
        if symbol is None:
            return b""
        if "ByteLevel" in self._steps:
            table = _byte_of_symbol()
            known = all(character in table for character in symbol)
            return bytes(map(table.__getitem__, symbol)) if known else symbol.encode()
        if "ByteFallback" in self._steps and (byte := _BYTE.fullmatch(symbol)):
            return bytes.fromhex(byte[1])
        return self._added(token).encode()

    def _added(self, token: int) -> str:
        """What a token adds to the text before it."""
        anchor, before = self._anchor
        both = self._decode([anchor, token])
        return both[len(before) :] if both.startswith(before) else self._decode([token])

    @cached_property
    def _anchor(self) -> tuple[int, str]:
        """A token that is a word, and its text."""
        words = ((i, self._decode([i])) for _, i in sorted(self.tokenizer.get_vocab().items()))
        named = self.tokenizer.added_tokens_decoder
        return next(
            ((i, text) for i, text in words if i not in named and text.strip().isalnum()), (0, "")
        )

    def _decode(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))


def _types(step: Any) -> Iterator[str]:
    """The names of a decoder's steps, from its JSON."""
    if isinstance(step, dict):
        yield str(step.get("type"))
        for part in step.get("decoders") or ():
            yield from _types(part)
