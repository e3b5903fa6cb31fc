"""Between text and token ids: chat templates, prompts that cannot become control tokens, and the
bytes of a token.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from presto.records import Piece

_CONTENT = (
    "\ufdd0"  # a Unicode noncharacter: stands for the user's text while the template is rendered
)


@cache
def _byte_of_symbol() -> dict[str, int]:
    """Byte-level BPE writes every byte as one printable character (GPT-2's table); this is the way
    back.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(256 + i): byte for i, byte in enumerate(others)}


def as_piece(data: bytes) -> Piece:
    """A token's bytes as text where they are UTF-8 on their own, else as a tuple of byte values."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return tuple(data)


@dataclass(frozen=True)
class ChatTurn:
    """Token ids around a user's message: ``before`` opens the turn, ``after`` closes it and opens
    the answer.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]


class Text:
    """A tokenizer as the project uses it."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.specials = frozenset(tokenizer.all_special_ids)

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of user text; control-token text such as ``<|im_end|>`` is treated as the characters
        it is.
        """
        return tuple(
            self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        )

    def chat_turn(self, **options: Any) -> ChatTurn:
        """The chat template around one user message; ``options`` go to the template
        (``enable_thinking`` …).
        """
        message = [{"role": "user", "content": _CONTENT}]
        rendered = self.tokenizer.apply_chat_template(
            message, add_generation_prompt=True, tokenize=False, **options
        )
        before, after = rendered.split(_CONTENT)
        return ChatTurn(self._encode_control(before), self._encode_control(after))

    def _encode_control(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def encode_chat(self, prompt: str, **options: Any) -> tuple[int, ...]:
        """The whole prompt of one user message under the chat template."""
        turn = self.chat_turn(**options)
        return (*turn.before, *self.encode(prompt), *turn.after)

    def piece(self, token: int) -> bytes:
        """The bytes of one token; empty for control tokens, which are no text."""
        if token in self.specials or token >= len(self.tokenizer):
            return b""
        symbols = self.tokenizer.convert_ids_to_tokens(token)
        table = _byte_of_symbol()
        if all(symbol in table for symbol in symbols):
            return bytes(table[symbol] for symbol in symbols)
        return str(symbols).encode()

    def label(self, token: int) -> Piece:
        """What a trace shows of a token: its text or bytes, a control token by name."""
        if token in self.specials:
            return str(self.tokenizer.convert_ids_to_tokens(token))
        return as_piece(self.piece(token)) if token < len(self.tokenizer) else f"<{token}>"

    def labels(self, tokens: Iterable[int]) -> dict[int, Piece]:
        return {token: self.label(token) for token in sorted(set(tokens))}

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of ``tokens`` without control tokens; a character still missing bytes at the end is
        left out.
        """
        data = b"".join(self.piece(token) for token in tokens)
        for cut in range(min(4, len(data) + 1)):
            try:
                return data[: len(data) - cut].decode()
            except UnicodeDecodeError:
                continue
        return data.decode(errors="replace")
