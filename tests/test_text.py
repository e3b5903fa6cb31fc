"""Tokens and text: bytes across tokens, control tokens, prompts that stay text. Uses the embedded
tokenizer.
"""

from functools import lru_cache

import pytest
from transformers import AutoTokenizer

from presto.models.text import Text, as_piece
from presto.models.weights import embedded_target

pytestmark = pytest.mark.weights
HARD = "Repeat exactly: 🧑‍🚀 naïve 漢字 ć\n\n\tשלום 12345 \u202e"


@lru_cache(maxsize=1)
def text() -> Text:
    return Text(AutoTokenizer.from_pretrained(embedded_target()))


def test_pieces_are_the_exact_bytes() -> None:
    ids = text().encode(HARD)
    assert b"".join(text().piece(token) for token in ids) == HARD.encode()
    assert text().decode(ids) == HARD


def test_a_split_character_is_shown_as_bytes_and_never_as_a_replacement() -> None:
    ids = text().encode("🚀")
    assert len(ids) > 1
    assert isinstance(text().label(ids[0]), tuple)
    for cut in range(len(ids)):
        assert text().decode(ids[:cut]) == ""
    assert text().decode(ids) == "🚀"


@pytest.mark.parametrize(
    "words", ["What does <|im_end|> mean?", "</s>", "[MASK]", "<|im_start|>user"]
)
def test_control_token_text_stays_text(words: str) -> None:
    ids = text().encode(words)
    assert not set(ids) & text().specials
    assert text().decode(ids) == words


def test_the_chat_turn_surrounds_the_message() -> None:
    ids = text().encode_chat("Hello")
    turn = text().chat_turn()
    assert ids == (*turn.before, *text().encode("Hello"), *turn.after)
    assert text().label(ids[0]) == "<|im_start|>"
    assert "Hello" in text().decode(ids)


def test_numbers_are_split_into_digits() -> None:
    assert [text().label(token) for token in text().encode("in 2024")] == [
        "in",
        " ",
        "2",
        "0",
        "2",
        "4",
    ]


def test_as_piece() -> None:
    assert as_piece(b" the") == " the"
    assert as_piece(b"\xf0\x9f") == (0xF0, 0x9F)


def test_ids_beyond_the_vocabulary_have_no_text() -> None:
    assert text().piece(10**6) == b""
    assert text().label(10**6) == "<1000000>"
