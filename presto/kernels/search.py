"""Which of the D levels x K candidates become the B nodes of the draft tree: linear, beam and
best-first search.

A node's *priority* is the least path score on its path, so a child never precedes its parent and
every choice of the best B nodes is a tree; where no score exceeds its parent's, the priority is the
path score itself, at most 0. A path that prompt lookup found has priority 1. Nodes are ordered by
priority, then depth, then rank, then the order of their parents. (A token id can never decide: at
one depth it follows from the rank.) One whole number, the node's key, carries this order; the
smallest key comes first.

Compiled, because the steps are too small for numpy: its cost per call, about 1 µs, times ten or
more calls for each of 128 or more opened nodes is beyond the whole budget of 1 ms. ``python -m
presto.benchmarks.search`` prints the times.
"""

from heapq import heapify, heappop, heappush, heapreplace

import numpy as np

from presto.kernels.compiler import inlined, kernel
from presto.kernels.problem import Problem
from presto.kernels.rows import Rows, known_row
from presto.kernels.scoring import compute_row

# Room for each part of a key: nodes, top_k and draft_length at their limits.
_ORDERS, _RANKS, _DEPTHS = 2048, 64, 32
# Rows of the node array [9, N + 1]; GRAND is the parent's rank, FOUND 1 on the path looked up.
PARENT, DEPTH, RANK, GRAND, LOG_RHO, BLIND, ALIGNED, PRIORITY, FOUND = range(9)


@inlined
def _key(priority: int, depth: int, rank: int, parent: int) -> int:
    """Orders nodes; ``parent`` is the parent's place among all nodes, or among those of its
    depth.
    """
    return ((-priority * _DEPTHS + depth) * _RANKS + rank) * _ORDERS + parent


@inlined
def _parts(key: int) -> tuple[int, int, int]:
    """Depth, rank and parent of a key."""
    return key // (_ORDERS * _RANKS) % _DEPTHS, key // _ORDERS % _RANKS, key % _ORDERS


@kernel
def _no_keys() -> list[int]:
    """An empty list; numba reads the type of its items off the comprehension."""
    return [0 for _ in range(0)]


@kernel
def _root(most: int) -> np.ndarray:
    nodes = np.zeros((9, most + 1), np.int64)
    nodes[PARENT, 0], nodes[FOUND, 0] = -1, 1
    return nodes


@inlined
def _found(problem: Problem, nodes: np.ndarray, node: int) -> int:
    """The rank of the child that continues the path looked up, -1 if there is none."""
    depth = nodes[DEPTH, node]
    return problem.found[depth] if nodes[FOUND, node] and depth < problem.found.size else -1


@inlined
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
    row = known_row(rows, depth, above[GRAND, parent], above[RANK, parent])
    nodes[PARENT, node] = parent
    nodes[DEPTH, node] = depth + 1
    nodes[RANK, node] = rank
    nodes[GRAND, node] = above[RANK, parent]
    nodes[LOG_RHO, node] = rows.log_rho[row, rank]
    nodes[BLIND, node] = above[BLIND, parent] + problem.log_q[depth, rank]
    nodes[ALIGNED, node] = above[ALIGNED, parent] + rows.increment[row, rank]
    found = _found(problem, above, parent) == rank
    nodes[FOUND, node] = found
    nodes[PRIORITY, node] = 1 if found else min(0, above[PRIORITY, parent], nodes[ALIGNED, node])


@inlined
def _row(problem: Problem, rows: Rows, nodes: np.ndarray, node: int) -> int:
    """The row with the children of a node, computed if need be."""
    depth, grand, parent = nodes[DEPTH, node], nodes[GRAND, node], nodes[RANK, node]
    row = known_row(rows, depth, grand, parent)
    if row < 0:
        row = compute_row(problem, rows, depth, grand, parent)
    return row


@kernel
def linear(problem: Problem, rows: Rows, ranks: np.ndarray) -> np.ndarray:
    """One path: the candidates of these ranks."""
    nodes = _root(len(ranks))
    for node in range(1, len(ranks) + 1):
        _row(problem, rows, nodes, node - 1)
        _place(problem, rows, nodes, node - 1, ranks[node - 1], nodes, node)
    return nodes


@inlined
def _open(
    problem: Problem, rows: Rows, nodes: np.ndarray, node: int, budget: int, best: list[int]
) -> list[int]:
    """Offer the children of a node to ``best``; returns the keys that it took.

    ``best`` is a heap of the least ``budget`` keys so far, negated, so the worst is on top. A node
    outside of it is never wanted again: its key cannot become one of the least, nor can its
    descendants', which are larger.
    """
    taken = _no_keys()
    depth = nodes[DEPTH, node]
    if depth == problem.tokens.shape[0]:
        return taken
    row, found = _row(problem, rows, nodes, node), _found(problem, nodes, node)
    for rank in range(problem.tokens.shape[1]):
        score = nodes[ALIGNED, node] + rows.increment[row, rank]
        priority = 1 if rank == found else min(0, nodes[PRIORITY, node], score)
        key = _key(priority, depth + 1, rank, node)
        if len(best) < budget:
            heappush(best, -key)
            taken.append(key)
        elif key < -best[0]:
            heapreplace(best, -key)
            taken.append(key)
    return taken


@kernel
def best_first(problem: Problem, rows: Rows, budget: int) -> np.ndarray:
    """Take the best open node, open its children, until ``budget`` nodes are taken (λ = 0: the heap
    of DDTree).
    """
    nodes = _root(budget)
    best, heap = _no_keys(), _no_keys()
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
def beam(problem: Problem, rows: Rows, budget: int, width: int) -> np.ndarray:
    """Open the best ``width`` nodes of each depth; the best ``budget`` of all their children are
    the tree.

    Beam search with global retention (PRESTO, arXiv 2607.22634). ``frontier`` holds the nodes of
    one depth in order; their parents are slots of the frontier before.
    """
    best = _no_keys()
    frontier, size = _root(width), 1
    while size > 0:
        layer = _no_keys()
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
