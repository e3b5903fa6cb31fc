"""N-gram tables from text of any tokenizer."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from presto.kernels.table import NgramTable
from presto.models.text import load_text
from presto.models.weights import embedded_target
from presto.runs.prompts import CORPUS, Prompt, read_prompts
from presto.training.shards import load_shards


def build_table(source: Path, tokenizer: Path | None, order: int, min_count: int) -> NgramTable:
    """Count the n-grams of ``source``: a folder of shards (already tokens), or a text or JSONL
    file. ``ValueError`` if it holds nothing to count.
    """
    if min_count < 1:
        raise ValueError(f"min_count must be at least 1, got {min_count}")
    shards = load_shards(source) if source.is_dir() else []
    if source.is_dir() and not shards:
        raise ValueError(
            f"{source} holds no shards: give a folder written by `presto train data`, or a file"
        )
    prompts = () if shards else chain(*_begun(read_prompts(str(source), CORPUS)))
    text = load_text(tokenizer or embedded_target())
    documents: Iterator[Sequence[int]] = chain(
        (document.tokens.tolist() for document in shards),
        (text.encode(prompt.text) for prompt in prompts),
    )
    return NgramTable.build(documents, len(text.tokenizer), order=order, min_count=min_count)


def _begun(prompts: Iterator[Prompt]) -> tuple[tuple[Prompt], Iterator[Prompt]]:
    """The first prompt and the others: a file that cannot be read is told before a tokenizer is
    loaded.
    """
    return (next(prompts),), prompts
