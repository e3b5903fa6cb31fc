"""Prefix-aligned scores: how much a drafted token gains or loses under the tokens chosen before it.

All log-probabilities are whole numbers of 1e-5 nats, as records store them. Sums of scores are then
exact, ties are ties, and a recorded tree is reproduced to the last digit.

Under an n-gram model the scores of a node's children depend on the node's last tokens only, so a
*row* (one value per candidate) is computed on first use and kept for every other node that ends in
the same tokens.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from presto.kernels.compiler import kernel, seconds
from presto.kernels.counts import Counts, bigrams, check_tokens, has_trigrams, trigrams, unigrams
from presto.records import DecodeConfig, Marginals

PER_NAT = 100_000  # units in a nat
BLIND, PRODUCT, PMI, MIXTURE, DART = range(5)
_SCORERS = {"blind": BLIND, "product": PRODUCT, "pmi": PMI, "mixture": MIXTURE, "dart": DART}


class Problem(NamedTuple):
    """What one round is scored from. D positions, K candidates each; depth is 0-based here."""

    counts: Counts
    before: int  # the last committed token but one, -1 if there is none
    anchor: int
    tokens: np.ndarray  # [D, K]
    log_q: np.ndarray  # [D, K] in units
    log_mass: np.ndarray  # [D] log Σ_K q, in units
    unigram: np.ndarray  # [D, K] p(t)
    scorer: int
    lam: float
    normalised: bool
    correct_first: bool


class Rows(NamedTuple):
    """Score rows computed so far, R at most."""

    # [D, K + 1, K] row of (depth, rank of the last token but one, rank of the last), -1: none yet
    place: np.ndarray
    increment: np.ndarray  # [R, K] in units: what the child adds to its path's aligned score
    log_rho: np.ndarray  # [R, K] in units
    bigram: np.ndarray  # [D, K, K] p(t | the token before has this rank), NaN: none yet
    implied: (
        np.ndarray
    )  # [D, K, K] mixture only: p(t) as implied by the marginal before, NaN: none yet
    used: np.ndarray  # [1] rows in use
    spent: np.ndarray  # [1] seconds
    clock: np.ndarray  # [2] scratch


def problem_of(
    marginals: Marginals, context: Sequence[int], counts: Counts, config: DecodeConfig
) -> Problem:
    """The round's arrays: the first ``draft_length`` positions and ``top_k`` candidates."""
    tokens = check_tokens(marginals.token_ids, counts.vocab)[: config.draft_length, : config.top_k]
    log_q = np.array(marginals.log_q, np.float64)[: config.draft_length, : config.top_k]
    unigram = np.empty(tokens.shape)
    unigrams(counts, tokens.reshape(-1), unigram.reshape(-1))
    before, anchor = (-1, *check_tokens(context[-2:], counts.vocab).tolist())[-2:]
    return Problem(
        counts,
        before,
        anchor,
        np.ascontiguousarray(tokens),
        np.rint(log_q * PER_NAT).astype(np.int64),
        np.logaddexp.reduce(log_q, axis=1) * PER_NAT,
        unigram,
        _SCORERS[config.scorer],
        float(config.lam),
        config.normalised,
        config.correct_first,
    )


def empty_rows(problem: Problem, config: DecodeConfig) -> Rows:
    """Room for a row per opened node: each search opens at most ``budget``, a beam so many at each
    depth.
    """
    depth, width = problem.tokens.shape
    most = (
        depth * min(config.budget, config.beam_width) if config.search == "beam" else config.budget
    )
    implied = np.full((depth, width, width) if problem.scorer == MIXTURE else (0, 0, 0), np.nan)
    return Rows(
        place=np.full((depth, width + 1, width), -1, np.int32),
        increment=np.empty((most, width), np.int64),
        log_rho=np.empty((most, width), np.int64),
        bigram=np.full((depth, width, width), np.nan),
        implied=implied,
        used=np.zeros(1, np.int64),
        spent=np.zeros(1),
        clock=np.zeros(2, np.int64),
    )


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
    out: np.ndarray = rows.implied[depth, grand]
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
def _log_rho(
    problem: Problem, rows: Rows, depth: int, grand: int, parent: int, out: np.ndarray
) -> None:
    """The correction log ρ(t | c) of PRESTO (arXiv 2607.22634), c = (…, first, last), in units.

    blind    0                    the ranking of DDTree
    product  log p(t|c)
    pmi      log p(t|c) / p(t)    the pointwise mutual information of t and c
    mixture  log p(t|c) / Σ_b q_{d-1}(b)·p(t | first, b); at depth 1 the sum is over the
             committed token: ρ = 1
    dart     log p(t|c), none at depth 1 (DART, arXiv 2601.19278)
    """
    scorer = problem.scorer
    out[:] = 0
    if scorer == BLIND or (depth == 0 and (scorer in (MIXTURE, DART) or not problem.correct_first)):
        return
    first, last = _context(problem, depth, grand, parent)
    given = _given(problem, rows, depth, first, last, parent)
    if scorer == PMI:
        given /= problem.unigram[depth]
    elif scorer == MIXTURE:
        given /= _implied(problem, rows, depth, grand, first)
    for rank in range(out.size):
        out[rank] = round(math.log(given[rank]) * PER_NAT)


@kernel
def _increments(problem: Problem, depth: int, log_rho: np.ndarray, out: np.ndarray) -> None:
    """What a child adds to the path score, in units.

    s_d(t|c) = log q_d(t) + λ·log ρ(t|c)                      (PRESTO, arXiv 2607.22634)
    dart:      (l + 1)^-0.7 · (0.9^l·log q(t) + 0.5·log p(t|c)), l = depth - 1
               (DART, arXiv 2601.19278, its code)
    normalised: s - log Σ_K exp s + log Σ_K q_d, so that the candidates keep the drafter's mass
    """
    scores = np.empty(out.size)
    for rank in range(out.size):
        scores[rank] = problem.log_q[depth, rank] + problem.lam * log_rho[rank]
        if problem.scorer == DART:
            scores[rank] = (depth + 1.0) ** -0.7 * (
                0.9**depth * problem.log_q[depth, rank] + 0.5 * log_rho[rank]
            )
    shift = problem.log_mass[depth] - _log_sum(scores) if problem.normalised else 0.0
    for rank in range(out.size):
        out[rank] = round(scores[rank] + shift)


@kernel
def _relevant(problem: Problem, grand: int, parent: int) -> tuple[int, int]:
    """The ranks that the children of a node depend on, 0 for those they do not."""
    if problem.scorer == BLIND:
        return 0, 0
    return (grand if problem.counts.order > 2 else 0), parent


@kernel
def known_row(problem: Problem, rows: Rows, depth: int, grand: int, parent: int) -> int:
    """The row with the children, at ``depth``, of a node of rank ``parent`` whose own parent has
    rank ``grand``.

    -1 before ``compute_row``.
    """
    grand, parent = _relevant(problem, grand, parent)
    row: int = rows.place[depth, grand, parent]
    return row


@kernel
def compute_row(problem: Problem, rows: Rows, depth: int, grand: int, parent: int) -> int:
    """Fill in the row that ``known_row`` asks for, unless it is there."""
    row: int = known_row(problem, rows, depth, grand, parent)
    if row >= 0:
        return row
    began = seconds(rows.clock)
    grand, parent = _relevant(problem, grand, parent)
    backed_off = problem.tokens.shape[
        1
    ]  # stands for every ``grand`` that was never seen before the parent
    first, last = _context(problem, depth, grand, parent)
    alike = problem.scorer != MIXTURE and not has_trigrams(problem.counts, first, last)
    row = rows.place[depth, backed_off, parent] if alike else -1
    if row < 0:
        row = int(rows.used[0])
        rows.used[0] += 1
        _log_rho(problem, rows, depth, grand, parent, rows.log_rho[row])
        _increments(problem, depth, rows.log_rho[row], rows.increment[row])
    if alike:
        rows.place[depth, backed_off, parent] = row
    rows.place[depth, grand, parent] = row
    rows.spent[0] += seconds(rows.clock) - began
    return row
