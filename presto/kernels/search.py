"""Which of the D levels x K candidates become the B nodes of the draft tree: linear, beam and
best-first search.

A node's *priority* is the least path score on its path, so a child never precedes its parent and
every choice of the best B nodes is a tree; where no score exceeds its parent's, the priority is the
path score itself. Nodes are ordered by priority, then depth, then rank, then the order of their
parents. (A token id can never decide: at one depth it follows from the rank.) One whole number, the
node's key, carries this order; the smallest key comes first.

Compiled, because the steps are too small for numpy: its cost per call, about 1 µs, times ten or
more calls for each of 128 or more opened nodes is beyond the whole budget of 1 ms. ``python -m
presto.benchmarks.search`` prints the times.
"""

import time
from collections.abc import Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import NamedTuple

import numpy as np

from presto.kernels.compiler import kernel
from presto.kernels.ngram import NgramModel
from presto.kernels.noise import gumbel
from presto.kernels.rows import (
    PER_NAT,
    Problem,
    Rows,
    compute_row,
    empty_rows,
    known_row,
    problem_of,
)
from presto.records import DecodeConfig, Marginals, Tree

_ORDERS, _RANKS, _DEPTHS = (
    2048,
    64,
    32,
)  # room for each part of a key: nodes, top_k and draft_length at their limits
# Rows of the node array [8, N + 1]; GRAND is the parent's rank.
PARENT, DEPTH, RANK, GRAND, LOG_RHO, BLIND, ALIGNED, PRIORITY = range(8)


class SearchTimes(NamedTuple):
    """Seconds of one ``build_tree``: ``score`` for input arrays and score rows, ``search`` for all
    the rest.
    """

    score: float
    search: float


def build_tree(
    marginals: Marginals, context: Sequence[int], ngram: NgramModel, config: DecodeConfig
) -> tuple[Tree, SearchTimes]:
    """The draft tree below ``context[-1]``, the last committed token; at most ``budget`` nodes
    below the root.
    """
    if not len(context):
        raise ValueError("the context must hold at least the last committed token")
    if not any(marginals.token_ids):
        return Tree(tokens=(context[-1],)), SearchTimes(0.0, 0.0)
    began = time.perf_counter()
    counts = (
        ngram.counts
        if config.order == ngram.counts.order
        else ngram.counts._replace(order=config.order)
    )
    problem = problem_of(marginals, context, counts, config)
    rows = empty_rows(problem, config)
    prepared = time.perf_counter()
    if config.search == "linear":
        nodes = _linear(problem, rows, _drafted_ranks(problem, len(context), config))
    elif config.search == "beam":
        nodes = _beam(problem, rows, config.budget, config.beam_width)
    else:
        nodes = _best_first(problem, rows, config.budget)
    tree = _tree(problem, nodes)
    scored = prepared - began + float(rows.spent[0])
    return tree, SearchTimes(scored, time.perf_counter() - began - scored)


def _drafted_ranks(problem: Problem, position: int, config: DecodeConfig) -> np.ndarray:
    """Which candidate linear drafting takes at each depth: the likeliest (DFlash, arXiv
    2602.06036), or a sample.

    ``sampled_draft`` draws from the marginals at the run's temperature, as
    Nemotron-Labs-Diffusion's reference does, with noise of its own: the target's draw for the same
    position stays independent of it.
    """
    length = min(config.budget, len(problem.log_q))
    if not config.sampled_draft or config.temperature == 0:
        return np.zeros(length, np.int64)
    width = problem.log_q.shape[1]
    noise = np.stack(
        [gumbel(config.seed, position + depth, width, stream=1) for depth in range(length)]
    )
    ranks: np.ndarray = (problem.log_q[:length] / PER_NAT / config.temperature + noise).argmax(1)
    return ranks


def warm_up() -> None:
    """Compile all kernels, or load them from the cache on disk."""
    ngram, drafted = NgramModel(2), Marginals(((0, 1),), ((-0.69315, -0.69315),))
    ngram.extend([0] * 1000)  # enough to outgrow the first hash table
    ngram.logprob([0], 1)
    for search in ("linear", "beam", "best_first"):
        build_tree(drafted, [0], ngram, DecodeConfig(search=search, budget=1))


def _tree(problem: Problem, nodes: np.ndarray) -> Tree:
    levels, ranks = nodes[DEPTH, 1:] - 1, nodes[RANK, 1:]
    log_q = np.zeros(nodes.shape[1])
    log_q[1:] = problem.log_q[levels, ranks]
    scores = np.stack((log_q, nodes[LOG_RHO], nodes[BLIND], nodes[ALIGNED])) / PER_NAT
    return Tree(
        (problem.anchor, *problem.tokens[levels, ranks].tolist()),
        tuple(nodes[PARENT].tolist()),
        tuple(nodes[RANK].tolist()),
        *map(tuple, scores.tolist()),
    )


@kernel
def _key(priority: int, depth: int, rank: int, parent: int) -> int:
    """Orders nodes; ``parent`` is the parent's place among all nodes, or among those of its
    depth.
    """
    return ((-priority * _DEPTHS + depth) * _RANKS + rank) * _ORDERS + parent


@kernel
def _parts(key: int) -> tuple[int, int, int]:
    """Depth, rank and parent of a key."""
    return key // (_ORDERS * _RANKS) % _DEPTHS, key // _ORDERS % _RANKS, key % _ORDERS


@kernel
def _root(most: int) -> np.ndarray:
    nodes = np.zeros((8, most + 1), np.int64)
    nodes[PARENT, 0] = -1
    return nodes


@kernel
def _place(
    problem: Problem,
    rows: Rows,
    above: np.ndarray,
    parent: int,
    rank: int,
    nodes: np.ndarray,
    node: int,
) -> None:
    """Write the child with this rank of ``above[:, parent]``, an open node, to ``nodes[:,
    node]``.
    """
    depth = above[DEPTH, parent]
    row = known_row(problem, rows, depth, above[GRAND, parent], above[RANK, parent])
    nodes[PARENT, node] = parent
    nodes[DEPTH, node] = depth + 1
    nodes[RANK, node] = rank
    nodes[GRAND, node] = above[RANK, parent]
    nodes[LOG_RHO, node] = rows.log_rho[row, rank]
    nodes[BLIND, node] = above[BLIND, parent] + problem.log_q[depth, rank]
    nodes[ALIGNED, node] = above[ALIGNED, parent] + rows.increment[row, rank]
    nodes[PRIORITY, node] = min(above[PRIORITY, parent], nodes[ALIGNED, node])


@kernel
def _linear(problem: Problem, rows: Rows, ranks: np.ndarray) -> np.ndarray:
    """One path: the candidates of these ranks."""
    nodes = _root(len(ranks))
    for node in range(1, len(ranks) + 1):
        compute_row(problem, rows, node - 1, nodes[GRAND, node - 1], nodes[RANK, node - 1])
        _place(problem, rows, nodes, node - 1, ranks[node - 1], nodes, node)
    return nodes


@kernel
def _open(
    problem: Problem, rows: Rows, nodes: np.ndarray, node: int, budget: int, best: list[int]
) -> list[int]:
    """Offer the children of a node to ``best``; returns the keys that it took.

    ``best`` is a heap of the least ``budget`` keys so far, negated, so the worst is on top. A node
    outside of it is never wanted again: its key cannot become one of the least, nor can its
    descendants', which are larger.
    """
    taken = [0 for _ in range(0)]
    depth = nodes[DEPTH, node]
    if depth == problem.tokens.shape[0]:
        return taken
    row = compute_row(problem, rows, depth, nodes[GRAND, node], nodes[RANK, node])
    for rank in range(problem.tokens.shape[1]):
        score = nodes[ALIGNED, node] + rows.increment[row, rank]
        key = _key(min(nodes[PRIORITY, node], score), depth + 1, rank, node)
        if len(best) < budget:
            heappush(best, -key)
            taken.append(key)
        elif key < -best[0]:
            heapreplace(best, -key)
            taken.append(key)
    return taken


@kernel
def _best_first(problem: Problem, rows: Rows, budget: int) -> np.ndarray:
    """Take the best open node, open its children, until ``budget`` nodes are taken (λ = 0: the heap
    of DDTree).
    """
    nodes = _root(budget)
    best, heap = [0 for _ in range(0)], [0 for _ in range(0)]
    for node in range(budget + 1):
        if node > 0:
            if not heap:
                return nodes[:, :node]
            _, rank, parent = _parts(heappop(heap))
            _place(problem, rows, nodes, parent, rank, nodes, node)
        if node < budget:
            for key in _open(problem, rows, nodes, node, budget, best):
                heappush(heap, key)
    return nodes


@kernel
def _beam(problem: Problem, rows: Rows, budget: int, width: int) -> np.ndarray:
    """Open the best ``width`` nodes of each depth; the best ``budget`` of all their children are
    the tree.

    Beam search with global retention (PRESTO, arXiv 2607.22634). ``frontier`` holds the nodes of
    one depth in order; their parents are slots of the frontier before.
    """
    best = [0 for _ in range(0)]
    frontier, size = _root(width), 1
    while size > 0:
        layer = [0 for _ in range(0)]
        for slot in range(size):
            key = _key(
                frontier[PRIORITY, slot],
                frontier[DEPTH, slot],
                frontier[RANK, slot],
                frontier[PARENT, slot],
            )
            if len(best) == budget and key > -best[0]:
                break
            layer += _open(problem, rows, frontier, slot, budget, best)
        heapify(layer)
        above, size = frontier.copy(), 0
        while layer and size < width and layer[0] <= -best[0]:
            _, rank, slot = _parts(heappop(layer))
            _place(problem, rows, above, slot, rank, frontier, size)
            size += 1
    return _collect(problem, rows, best)


@kernel
def _collect(problem: Problem, rows: Rows, best: list[int]) -> np.ndarray:
    """The tree of these negated keys. A key's parent is the n-th node of its depth; nodes come in
    the order of keys.
    """
    nodes = _root(len(best))
    node_of = np.zeros((problem.tokens.shape[0] + 1, len(best)), np.int64)
    placed = np.zeros(problem.tokens.shape[0] + 1, np.int64)
    best.sort(reverse=True)
    for node in range(1, len(best) + 1):
        depth, rank, slot = _parts(-best[node - 1])
        _place(problem, rows, nodes, node_of[depth - 1, slot], rank, nodes, node)
        node_of[depth, placed[depth]] = node
        placed[depth] += 1
    return nodes
