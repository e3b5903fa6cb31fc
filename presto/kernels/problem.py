"""What one round is scored from, as the compiled functions read it.

All log-probabilities are whole numbers of 1e-5 nats, as records store them. Sums of scores are then
exact, ties are ties, and a recorded tree is reproduced to the last digit.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from presto.kernels.candidates import Candidates
from presto.kernels.compiler import inlined
from presto.kernels.counts import Counts, check_tokens, last_two
from presto.kernels.smoothing import unigrams

PER_NAT = 100_000  # units in a nat
# How ρ follows from n-gram counts; NOTHING: it does not. See ``presto.kernels.scoring``.
NOTHING, ONE, UNIGRAM, IMPLIED, DUAL, LEARNED = range(6)
FORMULAS = {"one": ONE, "unigram": UNIGRAM, "implied": IMPLIED, "dual": DUAL, "learned": LEARNED}
ON_Q, ON_RHO, LOG_MASS = range(3)  # columns of Problem.levels


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
    levels: np.ndarray  # [D, 3] weights of log q and log ρ; log Σ_K q in units, if normalised
    correct_first: bool
    normalised: bool
    ngram: int
    online: float
    found: np.ndarray  # ranks, from depth 1, of the path that prompt lookup found


def problem_of(
    candidates: Candidates, context: Sequence[int], counts: Counts, rule: Rule
) -> Problem:
    """The round's arrays.

    Every array more costs time at each call of a kernel: hence few, and no nesting.
    """
    tokens = check_tokens(candidates.tokens, counts.vocab)
    log_q = np.array(candidates.log_q, np.float64)
    unigram = np.empty(tokens.shape)
    if rule.ngram != NOTHING:
        unigrams(counts, tokens.ravel(), unigram.ravel())
    log_mass = _log_sum(log_q) if rule.normalised else np.zeros(len(log_q))
    before, anchor = last_two(context, counts.vocab)
    return Problem(
        counts=counts,
        before=before,
        anchor=anchor,
        tokens=tokens,
        log_q=np.rint(log_q * PER_NAT).astype(np.int64),
        unigram=unigram,
        levels=np.column_stack([rule.weights, log_mass * PER_NAT]),
        correct_first=rule.correct_first,
        normalised=rule.normalised,
        ngram=rule.ngram,
        online=rule.online,
        found=np.array(candidates.found, np.int64),
    )


def _log_sum(log_q: np.ndarray) -> np.ndarray:
    """log Σ_K q ``[D]`` in nats."""
    top = log_q.max(axis=1)
    result: np.ndarray = np.log(np.exp(log_q - top[:, None]).sum(axis=1)) + top
    return result


@inlined
def context_of(problem: Problem, depth: int, grand: int, parent: int) -> tuple[int, int]:
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
