"""Self-written documents for tests of training: random tokens with random labels."""

import numpy as np
import torch

from presto.training.adapter import AdapterRecipe, AdapterTrainer
from presto.training.documents import Document
from tests.support.doubles import tiny_llama

VOCAB = 23
RECIPE = AdapterRecipe(
    steps=6, documents=2, rows=12, masks=(4,), rank=4, warmup=2, head_tokens=VOCAB
)


def documents(count: int = 24) -> list[Document]:
    """The same ``count`` documents every time: 4 tokens of prompt, 20 of labelled answer."""
    random = np.random.default_rng(0)
    result = []
    for _ in range(count):
        tokens = random.integers(2, VOCAB, 24).astype(np.int32)
        ids = random.integers(0, VOCAB, (20, 16)).astype(np.int32)
        logprobs = np.sort(np.log(random.dirichlet(np.ones(16), 20)), axis=1)[:, ::-1].astype(
            np.float16
        )
        result.append(Document(tokens, 4, ids, logprobs))
    return result


def trainer(recipe: AdapterRecipe = RECIPE) -> AdapterTrainer:
    """A trainer of an adapter on a tiny target, before its first step."""
    return AdapterTrainer(tiny_llama(0, VOCAB, torch.float32), documents(), recipe)
