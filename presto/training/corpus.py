"""N-gram tables from text of any tokenizer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from presto.kernels.ngram import NgramTable
from presto.models.text import Text
from presto.models.weights import embedded_target
from presto.runs.prompts import CORPUS, read_prompts
from presto.training.selfgen import load_shards


def build_table(source: Path, tokenizer: Path | None, order: int, min_count: int) -> NgramTable:
    """Count the n-grams of ``source``: a folder of shards (already tokens), or a text or JSONL
    file.
    """
    from transformers import AutoTokenizer

    text = Text(AutoTokenizer.from_pretrained(tokenizer or embedded_target()))
    return NgramTable.build(
        _documents(source, text), len(text.tokenizer), order=order, min_count=min_count
    )


def _documents(source: Path, text: Text) -> Iterator[Sequence[int]]:
    if source.is_dir():
        yield from (document.tokens.tolist() for document in load_shards(source))
    else:
        yield from (text.encode(prompt.text) for prompt in read_prompts(str(source), CORPUS))
