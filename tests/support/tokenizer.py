"""A tokenizer of single letters, written to a folder as the hub has them."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

WORDS, TEMPLATE = (
    ("<pad>", "<end>", *"abcdefghijklmnopqrstuvwxyz"),
    "{% for m in messages %}{{ m.content }}{% endfor %}",
)


def write_tokenizer(folder: Path) -> None:
    """Write the tokenizer and a chat template that puts messages as they are."""
    backend = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<pad>")
    )
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>", pad_token="<pad>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
