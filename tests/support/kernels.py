"""Random rounds for the compiled kernels, and what has been compiled of them."""

import importlib
import pkgutil
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from presto import kernels
from presto.build import build_tree, warm_up
from presto.kernels.counts import find_in
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.plugins import load_plugin
from presto.records import DecodeConfig, Marginals
from presto.scorers import scorer
from presto.searches import SEARCHES
from tests.support.scorers import USUAL


def dispatchers() -> dict[str, Dispatcher]:
    """All compiled functions by ``module.name``."""
    names = [f"presto.kernels.{found.name}" for found in pkgutil.iter_modules(kernels.__path__)]
    modules = [importlib.import_module(name) for name in names]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.__module__ == module.__name__
    }


def variants_compiled() -> dict[str, int]:
    """How many combinations of argument types each kernel was compiled for."""
    return {name: len(function.signatures) for name, function in dispatchers().items()}


def problems(count: int, vocab: int = 300) -> Iterator[tuple[Marginals, list[int], NgramModel]]:
    """Random marginals, contexts and n-gram models; every fourth at the largest sizes allowed."""
    draw = random.Random(0)
    for number in range(count):
        largest = number % 4 == 0
        depth = 31 if largest else draw.randint(1, 12)
        width = 64 if largest else draw.randint(1, 32)
        rows = tuple(tuple(draw.sample(range(vocab), width)) for _ in range(depth))
        log_q = tuple(round(-0.1 - 0.3 * rank, 5) for rank in range(width))
        documents = [[draw.randrange(vocab) for _ in range(draw.randint(0, 400))] for _ in "ab"]
        table = NgramTable.build(documents, vocab, min_count=draw.randint(1, 2))
        ngram = NgramModel(vocab, draw.choice([None, table]), online=draw.random() < 0.8)
        text = [draw.choice(rows[0]) for _ in range(draw.randint(1, 2000))]
        ngram.extend(text)
        yield Marginals(rows, (log_q,) * depth), text[-draw.randint(1, 5) :], ngram


def build_everything(count: int) -> int:
    """Build a tree with every built-in scorer and search on ``count`` problems; returns how many
    nodes were built.
    """
    nodes = 0
    for number, (drafted, context, ngram) in enumerate(problems(count)):
        budget = 1024 if number % 4 == 0 else 1 + 7 * number
        for name in USUAL:
            for search in sorted(SEARCHES.built_in):
                config = DecodeConfig(
                    scorer=name,
                    search=search,
                    budget=budget,
                    beam_width=budget,
                    top_k=64,
                    draft_length=31,
                    order=2 + number % 2,
                    normalised=number % 3 > 0,
                )
                tree, _ = build_tree(drafted, context, ngram, config)
                nodes += len(tree.tokens) - 1
    return nodes


def check_warm_up() -> None:
    """In a fresh process: after ``warm_up`` no call compiles anything more."""
    warm_up()
    before = variants_compiled()
    assert before["presto.kernels.search.best_first"] == 1
    assert build_everything(4)
    for path in ("plugin_scorer.py", "plugin_search.py"):
        load_plugin(Path(__file__).with_name(path))
    scorer("turned")(lambda drafted: np.zeros((32, 32, 12)).T)
    drafted, context, ngram = next(problems(1))
    pairs = ("no_repeat", "beam"), ("turned", "beam"), ("pmi", "staircase"), ("turned", "staircase")
    for name, search in pairs:
        build_tree(drafted, context, ngram, DecodeConfig(scorer=name, search=search))
    after = variants_compiled()
    assert after == before, {name for name in after if after[name] != before[name]}


def check_bounds() -> None:
    """Under ``NUMBA_BOUNDSCHECK``: no kernel reads or writes past an array."""
    with pytest.raises(IndexError):
        find_in(np.array([1]), 0, 9, 2)  # checks are on
    assert build_everything(16) > 40_000
