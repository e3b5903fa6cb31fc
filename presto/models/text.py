"""Between text and token ids: chat templates, prompts that cannot become control tokens, and the
bytes of a token.
"""

import codecs
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from presto.models.checkpoint import refuse_pointer, sentence
from presto.models.token_bytes import TokenBytes, as_piece
from presto.records import Piece
from presto.records.bounds import MAX_PIECE

_CONTENT = (
    "\ufdd0"  # a Unicode noncharacter: stands for the user's text while the template is rendered
)
# What a template may raise: it is a program of the checkpoint's.
_TEMPLATE_ERRORS = (TemplateError, TypeError, ValueError, LookupError, AttributeError)
Parts = list[dict[str, str]]
Form = Callable[[str], str | Parts]
_FILES = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "merges.txt")
_LONGEST = 8  # tokens that may share one character: its bytes are four at most


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
        self.bytes = TokenBytes(tokenizer)
        added = tokenizer.added_tokens_decoder
        self.specials = frozenset(tokenizer.all_special_ids) | {
            token for token, entry in added.items() if entry.special
        }
        # A token that is only added, as Qwen3's <think>, steers a model just as a special one does;
        # those for runs of spaces or line ends do not. What stands for unknown characters is in
        # every text that has some.
        unknown = _unknown_ids(tokenizer)
        self.unknown_names = {added[token].content for token in unknown if token in added}
        self.control = (self.specials - unknown) | {
            token
            for token, entry in added.items()
            if entry.content.strip(" \t\r\n▁") and token not in unknown
        }

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of user text; control-token text such as ``<|im_end|>`` is treated as the characters
        it is.
        """
        ids = self._ids(text)
        named = any(name in text for name in self.unknown_names)
        return self._characters(text) if named or self._controls(ids) else ids

    def _ids(self, text: str) -> tuple[int, ...]:
        """Ids of a text in which control tokens count."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _characters(self, text: str) -> tuple[int, ...]:
        """Ids of a text in which no added token counts: the tokenizer's steps one by one."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            encoded = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)
            ids = tuple(encoded["input_ids"])
        else:
            if backend.normalizer is not None:
                text = backend.normalizer.normalize_str(text)
            split = backend.pre_tokenizer and backend.pre_tokenizer.pre_tokenize_str(text)
            words = [word for word, _ in split] if split is not None else [text]
            ids = tuple(token.id for word in words for token in backend.model.tokenize(word))
        if control := self._controls(ids):
            raise ValueError(
                f"the prompt holds {self.bytes.symbol(control[0])!r}, which this tokenizer can "
                "only write as a control token"
            )
        return ids

    def chat_turn(self, **options: Any) -> ChatTurn:
        """The chat template around one user message; ``options`` go to the template
        (``enable_thinking`` …).
        """
        before, after, _ = self._around(options)
        return ChatTurn(self._ids(before), self._ids(after))

    def encode_chat(self, prompt: str, **options: Any) -> tuple[int, ...]:
        """The whole prompt of one user message under the chat template, as the tokenizer encodes
        it; what looks like a control token in the message is characters.
        """
        before, after, form = self._around(options)
        text = self._rendered(form(prompt), options)
        room = len(text) - len(before) - len(after)
        if room < 0 or not (text.startswith(before) and text.endswith(after)):
            raise ValueError("the chat template writes other text around this prompt than usual")
        around = [*self._ids(before), *self._ids(after)]
        whole, message = self._ids(text), text[len(before) : len(before) + room]
        named = any(name in message for name in self.unknown_names)
        if not named and self._controls(whole) == self._controls(around):
            return whole
        return (*self._ids(before), *self.encode(message), *self._ids(after))

    def _controls(self, ids: Iterable[int]) -> list[int]:
        return [token for token in ids if token in self.control]

    def _around(self, options: dict[str, Any]) -> tuple[str, str, Form]:
        """What the template writes before and behind a user's message, and how it wants it."""
        if not self.tokenizer.chat_template:
            raise ValueError("the tokenizer has no chat template: a base model cannot be asked")
        problem: Exception | None = None
        for form in (_as_string, _as_parts):
            try:
                parts = self._rendered(form(_CONTENT), options).split(_CONTENT)
            except ValueError as error:
                problem = problem or error
                continue
            if len(parts) == 2:
                return parts[0], parts[1], form
            if len(parts) > 2:
                problem = ValueError("the chat template repeats the user's message")
        raise problem or ValueError("the chat template leaves out the user's message")

    def _rendered(self, content: str | Parts, options: dict[str, Any]) -> str:
        """The template's text of one user message."""
        try:
            text: str = self.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}],
                add_generation_prompt=True,
                tokenize=False,
                **options,
            )
        except _TEMPLATE_ERRORS as error:
            raise ValueError(f"the chat template refuses: {sentence(error)}") from None
        return text

    def piece(self, token: int) -> bytes:
        """The bytes of one token; empty for control tokens, which are no text."""
        return b"" if token in self.specials else self.bytes(token)

    def label(self, token: int) -> Piece:
        """What a trace shows of a token: its text or bytes, a control token by name."""
        symbol = self.bytes.symbol(token)
        if symbol is None:
            return f"<{token}>"
        return symbol if token in self.specials else as_piece(self.piece(token))

    def labels(self, tokens: Iterable[int]) -> dict[int, Piece]:
        return {token: self.label(token) for token in sorted(set(tokens))}

    def decode(self, tokens: Sequence[int]) -> str:
        """The tokenizer's text of ``tokens`` without control tokens; a character still missing
        bytes at the end is left out.
        """
        text = str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))
        return text.rstrip("\ufffd") if self._is_cut(tokens) else text

    def _is_cut(self, tokens: Sequence[int]) -> bool:
        """Whether the last bytes begin a character that they do not complete."""
        reader = codecs.getincrementaldecoder("utf-8")("replace")
        reader.decode(b"".join(self.piece(token) for token in tokens[-_LONGEST:]))
        return bool(reader.getstate()[0])


def _as_string(text: str) -> str:
    return text


def _as_parts(text: str) -> Parts:
    """A message as templates of multimodal models take it."""
    return [{"type": "text", "text": text}]


def _unknown_ids(tokenizer: Any) -> frozenset[int]:
    """The ids that stand for characters the vocabulary lacks."""
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    name = getattr(model, "unk_token", None)
    ids = {tokenizer.unk_token_id, tokenizer.get_vocab().get(name)} - {None}
    return frozenset(ids)


def load_text(folder: Path) -> Text:
    """The tokenizer of a checkpoint folder; ``ValueError`` in one sentence if it cannot be read
    without running code from there.
    """
    from transformers import AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    for name in _FILES:
        refuse_pointer(folder / name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # the tokenizers library raises plain Exception
        raise ValueError(f"{folder} has no tokenizer that can be read: {sentence(error)}") from None
    if len(tokenizer.get_vocab()) <= len(tokenizer.added_tokens_decoder):
        raise ValueError(f"{folder} has no tokenizer: its vocabulary is empty")
    longest = max(map(len, tokenizer.get_vocab()))
    if longest > MAX_PIECE:
        raise ValueError(
            f"{folder}: its tokenizer has a token of {longest} characters, at most {MAX_PIECE} are "
            "recorded"
        )
    try:
        text = Text(tokenizer)
        text.encode("a")
    except Exception as error:  # a setting of another type shows only now, as any kind of error
        raise ValueError(f"{folder}: its tokenizer encodes nothing: {sentence(error)}") from error
    return text
