"""Time of one scored and searched draft tree at K = 32, W = 32, D = 15, B = 128, on a table of
about 500 k triples.

Text and marginals are synthetic: a random walk on a sparse Zipfian successor graph, and marginals
in which each position's candidates are the successors of the candidates before, so that look-ups
hit as often as on real text.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from presto.build import build_tree, warm_up
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Marginals, Tree
from presto.scorers import SCORERS
from presto.searches import SEARCHES

VOCAB, FAN_OUT, TOKENS = 49_152, 40, 1_750_000
DEPTH, WIDTH, REPEATS = 15, 32, 300


def walk(rng: np.random.Generator, successors: np.ndarray, length: int) -> list[int]:
    """A text in which token t is followed by one of ``successors[t]``, the first ones far more
    often.
    """
    steps = np.minimum(rng.zipf(1.35, length), FAN_OUT) - 1
    text, token = [], 0
    for step in steps:
        token = int(successors[token, step])
        text.append(token)
    return text


def drafted(rng: np.random.Generator, successors: np.ndarray, anchor: int) -> Marginals:
    """Marginals that blur over the tokens before: flatter with depth."""
    ids, log_q, before = [], [], np.array([anchor])
    for depth in range(DEPTH):
        reached = dict.fromkeys(successors[before[:8]].T.reshape(-1).tolist())
        row = np.array(list(reached | dict.fromkeys(range(WIDTH)))[:WIDTH])
        weights = np.sort(rng.dirichlet(np.full(WIDTH, 0.15 + 0.05 * depth)))[::-1] + 1e-6
        ids.append(tuple(row.tolist()))
        log_q.append(tuple(np.log(weights / weights.sum() * 0.98).round(5).tolist()))
        before = row
    return Marginals(tuple(ids), tuple(log_q))


def timed(call: Callable[[int], object]) -> str:
    """Median and spread of ``call(0)``, ``call(1)``, … in milliseconds."""
    call(0)
    spent = []
    for i in range(REPEATS):
        began = time.perf_counter()
        call(i)
        spent.append((time.perf_counter() - began) * 1e3)
    low, *_, high = statistics.quantiles(spent, n=20)
    return f"{statistics.median(spent):7.3f}  [{low:.3f}, {high:.3f}]"


def inputs(seed: int = 0) -> tuple[NgramModel, Sequence[Marginals], Sequence[tuple[int, int]]]:
    """A model with both sources, and 20 drafts with their contexts."""
    rng = np.random.default_rng(seed)
    favourites = np.minimum(rng.zipf(1.25, (VOCAB, FAN_OUT)), VOCAB) * 7919 % VOCAB
    successors = np.where(
        rng.random((VOCAB, FAN_OUT)) < 0.5, favourites, rng.integers(0, VOCAB, (VOCAB, FAN_OUT))
    )
    table = NgramTable.build([walk(rng, successors, TOKENS)], VOCAB)
    ngram = NgramModel(VOCAB, table)
    text = walk(rng, successors, 1000)
    ngram.extend(text)
    places = rng.integers(2, 1000, 20)
    size = len(table.to_bytes())
    print(f"{table.tri_token.size:,} triples, {table.bi_token.size:,} pairs, {size:,} bytes packed")
    return (
        ngram,
        [drafted(rng, successors, text[i]) for i in places],
        [(text[i - 1], text[i]) for i in places],
    )


def main() -> None:
    """Print the table."""
    began = time.perf_counter()
    warm_up()
    print(f"warm-up (compiles, or loads from disk): {time.perf_counter() - began:.2f} s")
    ngram, drafts, contexts = inputs()
    base = DecodeConfig(budget=128, top_k=WIDTH, beam_width=32, draft_length=DEPTH)
    print("milliseconds, median [5 %, 95 %] of", REPEATS)

    def build(config: DecodeConfig) -> Callable[[int], object]:
        return lambda i: build_tree(drafts[i % 20], contexts[i % 20], ngram, config)

    for search in SEARCHES:
        for scorer in SCORERS:
            print(
                f"{search:11} {scorer:8}", timed(build(replace(base, search=search, scorer=scorer)))
            )
    for scorer in ("pmi", "learned"):
        for budget in (32, 512, 1024):
            config = replace(base, scorer=scorer, budget=budget)
            print(f"best_first  {scorer:8} B = {budget:4}", timed(build(config)))
    tree, seconds = build_tree(drafts[0], contexts[0], ngram, base)
    print(f"one default tree: score {seconds.score * 1e3:.3f}, search {seconds.search * 1e3:.3f}")
    parts = tree.tokens, tree.parents, tree.rank, tree.log_q, tree.log_rho, tree.blind, tree.aligned
    print("of which: Tree(...) ", timed(lambda _: Tree(*parts)))
    print("extend by 4 tokens  ", timed(lambda i: ngram.extend(contexts[i % 20] * 2)))
    print("start a run, 500 tokens", timed(lambda _: NgramModel(VOCAB).extend(range(500))))


if __name__ == "__main__":
    main()
