"""Prefix-aligned scores, compiled: what a drafted token gains or loses under those before."""

import math

import numpy as np

from presto.kernels.compiler import inlined, kernel, seconds
from presto.kernels.counts import has_trigrams
from presto.kernels.learned import (
    OF_CONTEXT,
    OF_LEVEL,
    OF_ROW,
    level_features,
    level_part,
    network,
    row_features,
)
from presto.kernels.problem import (
    DUAL,
    IMPLIED,
    LEARNED,
    LOG_MASS,
    ON_Q,
    ON_RHO,
    PER_NAT,
    UNIGRAM,
    Problem,
    context_of,
)
from presto.kernels.rows import Rows
from presto.kernels.smoothing import bigrams, online_log_ratio, trigrams


@inlined
def _log_sum(values: np.ndarray) -> float:
    """log Σ exp(values), values and result in units."""
    top = values.max()
    total = 0.0
    for value in values:
        total += math.exp((value - top) / PER_NAT)
    return float(top + math.log(total) * PER_NAT)


@inlined
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


@inlined
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
    first, last = context_of(problem, depth, grand, parent)
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


@inlined
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


@kernel
def compute_row(problem: Problem, rows: Rows, depth: int, grand: int, parent: int) -> int:
    """Fill in a row that ``known_row`` does not have yet."""
    began = seconds(rows.clock)
    # The last slot stands for every ``grand`` that was never seen before the parent.
    backed_off = problem.tokens.shape[1]
    first, last = context_of(problem, depth, grand, parent)
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
