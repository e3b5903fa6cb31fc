"""Score rows: what each child of a node adds to its path's score.

Under an n-gram model the scores of a node's children depend on the node's last tokens only, so a
*row* (one value per candidate) is computed on first use and kept for every other node that ends in
the same tokens. A pairwise scorer's rows are all there from the beginning.
"""

from typing import NamedTuple

import numpy as np

from presto.kernels.compiler import inlined
from presto.kernels.learned import HIDDEN
from presto.kernels.problem import IMPLIED, LEARNED, PER_NAT, Problem

NO_WEIGHTS = np.empty((0, 0))
_NOTHING = np.empty((0, 0, 0))  # stands for an array of Rows that nobody reads


class Rows(NamedTuple):
    """Score rows there are so far, R at most; NaN and -1 stand for what was not computed yet."""

    place: np.ndarray  # [D, K + 1, K] row of (depth, rank of the last token but one, of the last)
    increment: np.ndarray  # [R, K] in units: what the child adds to its path's aligned score
    log_rho: np.ndarray  # [R, K] in units
    bigram: np.ndarray  # [D, K, K] p(t | the token before has this rank)
    # IMPLIED: [D, K, K], p(t) as implied by the marginal before; LEARNED: [D, HIDDEN, K], what
    # depth and candidate alone tell the network
    own: np.ndarray
    weights: np.ndarray  # LEARNED: those of the network
    used: np.ndarray  # [1] rows in use
    spent: np.ndarray  # [1] seconds
    clock: np.ndarray  # [2] scratch


def ngram_rows(problem: Problem, most: int, weights: np.ndarray = NO_WEIGHTS) -> Rows:
    """Room for ``most`` rows of an n-gram scorer; a search that opens more is an error."""
    depth, width = problem.tokens.shape
    bigram, own = np.full((depth, width, width), np.nan), _NOTHING
    if problem.ngram == IMPLIED:
        own = bigram.copy()
    if problem.ngram == LEARNED:
        bigram, own = _NOTHING, np.empty((depth, HIDDEN, width))
        own[:, 0, 0] = np.nan
    return Rows(
        place=np.full((depth, width + 1, width), -1, np.int32),
        increment=np.empty((most, width), np.int64),
        log_rho=np.empty((most, width), np.int64),
        bigram=bigram,
        own=own,
        weights=weights,
        used=np.zeros(1, np.int64),
        spent=np.zeros(1),
        clock=np.zeros(2, np.int64),
    )


def blind_rows(problem: Problem) -> Rows:
    """All rows of the marginals alone: one for each depth."""
    depth, width = problem.log_q.shape
    return _whole(problem.log_q, np.zeros((depth, width), np.int64), depth)


def table_rows(problem: Problem, log_rho: np.ndarray) -> Rows:
    """All rows of a pairwise scorer, from its log ρ ``[D, K of the parent, K]`` in units."""
    depth, _, width = log_rho.shape
    if not problem.correct_first:
        log_rho = np.concatenate([np.zeros_like(log_rho[:1]), log_rho[1:]])
    increments = _table_increments(problem, log_rho)
    return _whole(increments.reshape(-1, width), log_rho.reshape(-1, width), depth)


def _whole(increments: np.ndarray, log_rho: np.ndarray, depth: int) -> Rows:
    """Rows ``[D · P, K]`` that are all there: P is K, or 1 where the parent does not matter."""
    count, width = increments.shape
    place = np.arange(count, dtype=np.int32).reshape(depth, 1, -1)
    return Rows(
        place=np.broadcast_to(place, (depth, width + 1, width)).copy(),
        increment=increments,
        log_rho=log_rho,
        bigram=_NOTHING,
        own=_NOTHING,
        weights=NO_WEIGHTS,
        used=np.full(1, count),
        spent=np.zeros(1),
        clock=np.zeros(2, np.int64),
    )


def _table_increments(problem: Problem, log_rho: np.ndarray) -> np.ndarray:
    """``scoring._increments`` of all rows at once, ``[D, P, K]``."""
    on_q, on_rho, log_mass = problem.levels.T[:, :, None, None]
    scores = on_q * problem.log_q[:, None, :] + on_rho * log_rho
    if problem.normalised:
        total = np.logaddexp.reduce(scores / PER_NAT, axis=2, keepdims=True) * PER_NAT
        scores = scores + (log_mass - total)
    result: np.ndarray = np.rint(scores).astype(np.int64)
    return result


@inlined
def known_row(rows: Rows, depth: int, grand: int, parent: int) -> int:
    """The row with the children, at ``depth``, of a node of rank ``parent`` whose own parent has
    rank ``grand``; -1 before ``compute_row``.
    """
    row: int = rows.place[depth, grand, parent]
    return row
