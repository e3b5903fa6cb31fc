"""Prefix-aligned scores, compiled: how much a drafted token gains or loses under the tokens before.

All log-probabilities are whole numbers of 1e-5 nats, as records store them. Sums of scores are then
exact, ties are ties, and a recorded tree is reproduced to the last digit.

Under an n-gram model the scores of a node's children depend on the node's last tokens only, so a
*row* (one value per candidate) is computed on first use and kept for every other node that ends in
the same tokens. A pairwise scorer's rows are all there from the beginning.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from presto.kernels.compiler import inlined, kernel, seconds
from presto.kernels.counts import (
    Counts,
    bigrams,
    check_tokens,
    has_trigrams,
    last_two,
    online_log_ratio,
    trigrams,
    unigrams,
)
from presto.kernels.learned import (
    HIDDEN,
    OF_CONTEXT,
    OF_LEVEL,
    OF_ROW,
    level_features,
    level_part,
    network,
    row_features,
)
from presto.records import Marginals

PER_NAT = 100_000  # units in a nat
# How ρ follows from n-gram counts; NOTHING: it does not. See ``_log_rho``.
NOTHING, ONE, UNIGRAM, IMPLIED, DUAL, LEARNED = range(6)
FORMULAS = {"one": ONE, "unigram": UNIGRAM, "implied": IMPLIED, "dual": DUAL, "learned": LEARNED}
NO_WEIGHTS = np.empty((0, 0))
ON_Q, ON_RHO, LOG_MASS = range(3)  # columns of Problem.levels
_NOTHING = np.empty((0, 0, 0))  # stands for an array of Rows that nobody reads


class Rule(NamedTuple):
    """How a round is scored: s = a·log q + b·log ρ."""

    weights: np.ndarray  # [D, 2]: a and b by depth
    correct_first: bool  # whether ρ counts on the first level
    normalised: bool
    ngram: int = NOTHING
    online: float = 0.0  # DUAL only: weight of the online ratio


class Problem(NamedTuple):
    """What one round is scored from. D positions, K candidates each; depth is 0-based here."""

    counts: Counts
    before: int  # the last committed token but one, -1 if there is none
    anchor: int
    tokens: np.ndarray  # [D, K]
    log_q: np.ndarray  # [D, K] in units
    unigram: np.ndarray  # [D, K] p(t), filled in for an n-gram scorer only
    levels: np.ndarray  # [D, 3] the weights of log q and log ρ, and log Σ_K q in units
    correct_first: bool
    normalised: bool
    ngram: int
    online: float


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


def problem_of(
    marginals: Marginals,
    context: Sequence[int],
    counts: Counts,
    shape: tuple[int, int],
    rule: Rule,
) -> Problem:
    """The round's arrays: at most ``shape`` positions and candidates of the marginals.

    Every array more costs time at each call of a kernel: hence few, and no nesting.
    """
    depth, width = shape
    tokens = check_tokens(marginals.token_ids, counts.vocab)[:depth, :width]
    log_q = np.array(marginals.log_q, np.float64)[:depth, :width]
    unigram = np.empty(tokens.shape)
    if rule.ngram != NOTHING:
        unigrams(counts, tokens.ravel(), unigram.ravel())
    before, anchor = last_two(context, counts.vocab)
    return Problem(
        counts=counts,
        before=before,
        anchor=anchor,
        tokens=np.ascontiguousarray(tokens),
        log_q=np.rint(log_q * PER_NAT).astype(np.int64),
        unigram=unigram,
        levels=np.column_stack([rule.weights, np.logaddexp.reduce(log_q, axis=1) * PER_NAT]),
        correct_first=rule.correct_first,
        normalised=rule.normalised,
        ngram=rule.ngram,
        online=rule.online,
    )


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
    """``_increments`` of all rows at once, ``[D, P, K]``."""
    on_q, on_rho, log_mass = problem.levels.T[:, :, None, None]
    scores = on_q * problem.log_q[:, None, :] + on_rho * log_rho
    if problem.normalised:
        total = np.logaddexp.reduce(scores / PER_NAT, axis=2, keepdims=True) * PER_NAT
        scores = scores + (log_mass - total)
    result: np.ndarray = np.rint(scores).astype(np.int64)
    return result


@kernel
def _log_sum(values: np.ndarray) -> float:
    """log Σ exp(values), values and result in units."""
    top = values.max()
    total = 0.0
    for value in values:
        total += math.exp((value - top) / PER_NAT)
    return float(top + math.log(total) * PER_NAT)


@kernel
def _context(problem: Problem, depth: int, grand: int, parent: int) -> tuple[int, int]:
    """The two tokens before ``depth``."""
    last = problem.tokens[depth - 1, parent] if depth > 0 else problem.anchor
    first = (
        problem.tokens[depth - 2, grand]
        if depth > 1
        else problem.anchor
        if depth == 1
        else problem.before
    )
    return first, last


@kernel
def _given(
    problem: Problem, rows: Rows, depth: int, first: int, last: int, parent: int
) -> np.ndarray:
    """p(t | first, last) for every candidate t; ``parent`` is the rank of ``last``."""
    bigram = rows.bigram[depth, parent]
    if np.isnan(bigram[0]):
        bigram[:] = problem.unigram[depth]
        bigrams(problem.counts, last, problem.tokens[depth], bigram)
    out: np.ndarray = bigram.copy()
    trigrams(problem.counts, first, last, problem.tokens[depth], out)
    return out


@kernel
def _implied(problem: Problem, rows: Rows, depth: int, grand: int, first: int) -> np.ndarray:
    """Σ_b q_{d-1}(b)·p(t | first, b) for every candidate t: what the drafter's previous marginal
    alone implies of t.

    The mass outside of the previous position's candidates implies p(t), the model's best guess
    without a context.
    """
    out: np.ndarray = rows.own[depth, grand]
    if np.isnan(out[0]):
        rest = 1.0
        out[:] = 0.0
        for rank in range(out.size):
            weight = math.exp(problem.log_q[depth - 1, rank] / PER_NAT)
            out += weight * _given(
                problem, rows, depth, first, problem.tokens[depth - 1, rank], rank
            )
            rest -= weight
        out += max(rest, 0.0) * problem.unigram[depth]
    return out


@kernel
def _learned(
    problem: Problem, rows: Rows, depth: int, first: int, last: int, out: np.ndarray
) -> None:
    """The network's correction, in units."""
    tokens, unigram, width = problem.tokens[depth], problem.unigram[depth], out.size
    log_q, level = problem.log_q[depth] / PER_NAT, rows.own[depth]
    if np.isnan(level[0, 0]):
        inputs = np.empty((len(OF_LEVEL), width))
        level_features(problem.counts, tokens, log_q, unigram, depth, inputs)
        level_part(inputs, rows.weights, level)
    inputs, shared = np.empty((len(OF_ROW), width)), np.empty(len(OF_CONTEXT))
    before = first if problem.counts.order > 2 else -1
    row_features(problem.counts, (before, last), tokens, log_q, unigram, inputs, shared)
    result = np.empty(width)
    network(level, inputs, shared, rows.weights, result)
    for rank in range(width):
        out[rank] = round(result[rank] * PER_NAT)


@kernel
def _log_rho(
    problem: Problem, rows: Rows, depth: int, grand: int, parent: int, out: np.ndarray
) -> None:
    """The correction log ρ(t | c) of PRESTO (arXiv 2607.22634), c = (…, first, last), in units.

    one      log p(t|c)
    unigram  log p(t|c) / p(t)    the pointwise mutual information of t and c
    implied  log p(t|c) / Σ_b q_{d-1}(b)·p(t | first, b)
    dual     unigram's, and ``online`` times the same ratio of this run's own text alone
    learned  a network over the counts (``presto.kernels.learned``)
    """
    if depth == 0 and not problem.correct_first:
        out[:] = 0
        return
    first, last = _context(problem, depth, grand, parent)
    if problem.ngram == LEARNED:
        _learned(problem, rows, depth, first, last, out)
        return
    given = _given(problem, rows, depth, first, last, parent)
    if problem.ngram == UNIGRAM or problem.ngram == DUAL:
        given /= problem.unigram[depth]
    elif problem.ngram == IMPLIED:
        given /= _implied(problem, rows, depth, grand, first)
    for rank in range(out.size):
        given[rank] = math.log(given[rank])
    if problem.ngram == DUAL:
        own = np.empty(out.size)
        online_log_ratio(problem.counts, first, last, problem.tokens[depth], own)
        given += problem.online * own
    for rank in range(out.size):
        out[rank] = round(given[rank] * PER_NAT)


@kernel
def _increments(problem: Problem, depth: int, log_rho: np.ndarray, out: np.ndarray) -> None:
    """What a child adds to the path score, in units.

    s_d(t|c) = a_d·log q_d(t) + b_d·log ρ(t|c); PRESTO (arXiv 2607.22634): a = 1, b = λ
    normalised: s - log Σ_K exp s + log Σ_K q_d, so that the candidates keep the drafter's mass
    """
    scores = np.empty(out.size)
    on_q, on_rho = problem.levels[depth, ON_Q], problem.levels[depth, ON_RHO]
    for rank in range(out.size):
        scores[rank] = on_q * problem.log_q[depth, rank] + on_rho * log_rho[rank]
    mass = problem.levels[depth, LOG_MASS]
    shift = mass - _log_sum(scores) if problem.normalised else 0.0
    for rank in range(out.size):
        out[rank] = round(scores[rank] + shift)


@inlined
def known_row(rows: Rows, depth: int, grand: int, parent: int) -> int:
    """The row with the children, at ``depth``, of a node of rank ``parent`` whose own parent has
    rank ``grand``; -1 before ``compute_row``.
    """
    row: int = rows.place[depth, grand, parent]
    return row


@kernel
def compute_row(problem: Problem, rows: Rows, depth: int, grand: int, parent: int) -> int:
    """Fill in a row that ``known_row`` does not have yet."""
    began = seconds(rows.clock)
    # The last slot stands for every ``grand`` that was never seen before the parent.
    backed_off = problem.tokens.shape[1]
    first, last = _context(problem, depth, grand, parent)
    alike = problem.ngram != IMPLIED and not has_trigrams(problem.counts, first, last)
    row = rows.place[depth, backed_off, parent] if alike else -1
    if row < 0:
        row = int(rows.used[0])
        if row == len(rows.increment):
            raise IndexError("the search opened more rows than it declared")
        rows.used[0] += 1
        _log_rho(problem, rows, depth, grand, parent, rows.log_rho[row])
        _increments(problem, depth, rows.log_rho[row], rows.increment[row])
    if alike:
        rows.place[depth, backed_off, parent] = row
    rows.place[depth, grand, parent] = row
    rows.spent[0] += seconds(rows.clock) - began
    return row
