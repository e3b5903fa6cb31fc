"""Small tokenizers of every kind, trained on the lines below."""

import json
from collections.abc import Callable

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

LINES = [
    "The quick brown fox jumps over the lazy dog. It isn't far, he said;  two  spaces, and 2024!",
    "naïve café — ć 漢字 שלום, and a new line\nwith a\ttab.",
    "<think> is a tag, </think> too, like <b>bold</b> and <|im_end|> are text here.",
] * 4
CONTROL = [AddedToken("<think>", special=False), AddedToken("</think>", special=False)]
CONTROL += [AddedToken("<tool_call>", special=False), AddedToken("  ", special=False)]
SPECIALS = ["<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)


def _finished(backend: Tokenizer, unk: str | None = None) -> PreTrainedTokenizerFast:
    backend.add_special_tokens(SPECIALS)
    backend.add_tokens(CONTROL)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token=unk, eos_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def byte_level() -> PreTrainedTokenizerFast:
    """As GPT-2, Qwen, Llama 3: BPE over bytes."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        LINES, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    )
    return _finished(backend)


def byte_fallback() -> PreTrainedTokenizerFast:
    """As Llama 2 and Gemma: SentencePiece's BPE, whose unknown characters are bytes by name."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("▁"), "merged_with_next")
    backend.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], show_progress=False)
    backend.train_from_iterator(
        [line.encode("ascii", "ignore").decode() for line in LINES], trainer
    )
    vocab = backend.get_vocab()
    vocab |= {name: len(vocab) + i for i, name in enumerate(bytes_)}
    pairs = [tuple(pair) for pair in json.loads(backend.to_str())["model"]["merges"]]
    backend.model = models.BPE(vocab, pairs, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    backend.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return _finished(backend, "<unk>")


def metaspace() -> PreTrainedTokenizerFast:
    """As T5 and XLM: SentencePiece's unigram model."""
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    backend.train_from_iterator(LINES, trainer)
    return _finished(backend, "<unk>")


def word_piece() -> PreTrainedTokenizerFast:
    """As BERT."""
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=200, special_tokens=["[UNK]"], show_progress=False
    )
    backend.train_from_iterator(LINES, trainer)
    return _finished(backend, "[UNK]")


def words() -> PreTrainedTokenizerFast:
    """Whole words, joined by spaces."""
    backend = Tokenizer(models.WordLevel(unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False)
    backend.train_from_iterator(LINES, trainer)
    return _finished(backend, "<unk>")


KINDS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    function.__name__: function
    for function in (byte_level, byte_fallback, metaspace, word_piece, words)
}
