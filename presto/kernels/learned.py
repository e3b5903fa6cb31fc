"""A small network over n-gram counts: what the counts are worth, learned instead of assumed.

A back-off formula fixes how much a count says; a static table's large totals then drown what the
run's own text tells. The network reads both and was trained on text that the target wrote (see
``presto.training.scorer``). It knows no drafter and no token: one set of weights serves all pairs
of a tokenizer.
"""

import math
from pathlib import Path

import numpy as np

from presto.kernels.compiler import kernel
from presto.kernels.counts import (
    COUNT,
    TOTAL,
    Counts,
    bigrams,
    find_in,
    find_pair,
    slot_of,
    trigrams,
)

FEATURES = (
    *("log q", "trigram ratio", "bigram ratio", "log p(t)"),
    *("static trigram total", "online trigram total", "static bigram total", "online bigram total"),
    *("online trigram count", "online bigram count", "static trigram count"),
    *("static bigram count", "online unigram count"),
    *("repeats its parent", "depth", "is depth 1", "entropy", "top log q", "best corrected"),
)
HIDDEN = (32, 16)
NETWORK_FILE = "count-scorer.safetensors"
RATIO = 0.7  # weight of the trigram ratio beside the network's output


def load_network(path: Path) -> np.ndarray:
    """The weights of a file written by ``save_network`` ``[W]``; ``ValueError`` names what is
    wrong with it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        weights = load_file(path)["network"]
    except (OSError, SafetensorError, KeyError) as error:
        raise ValueError(f"not a count network: {path}: {type(error).__name__}: {error}") from None
    if weights.shape != (weight_count(),) or not np.isfinite(weights).all():
        raise ValueError(
            f"{path}: expected {weight_count()} finite numbers, got shape {weights.shape}"
        )
    result: np.ndarray = weights.astype(np.float32)
    return result


def save_network(weights: np.ndarray, path: Path) -> None:
    """Write the weights ``[W]``, float32."""
    from safetensors.numpy import save_file

    save_file({"network": weights.astype(np.float32)}, path)


def weight_count(features: int = len(FEATURES)) -> int:
    """Numbers of the network, layer after layer: weights ``[in, out]``, then biases."""
    first, second = HIDDEN
    return features * first + first + first * second + second + second


@kernel
def _level_features(
    unigram: np.ndarray, log_q: np.ndarray, depth: int, given: np.ndarray, out: np.ndarray
) -> None:
    """The features that a level's candidates share, and those of their marginal."""
    entropy, best = 0.0, -math.inf
    for k in range(log_q.size):
        entropy -= math.exp(log_q[k]) * log_q[k]
        out[0, k] = log_q[k]
        out[1, k] = math.log(given[k] / unigram[k])
        out[3, k] = math.log(unigram[k])
        best = max(best, log_q[k] + RATIO * out[1, k])
    out[14, :] = depth
    out[15, :] = 1.0 if depth == 0 else 0.0
    out[16, :] = entropy
    out[17, :] = log_q[0]
    out[18, :] = best


@kernel
def _count_features(
    counts: Counts, first: int, last: int, tokens: np.ndarray, out: np.ndarray
) -> None:
    """Totals of the two contexts and counts of every candidate in them, as log(1 + n)."""
    base = counts.vocab + 1
    pair = find_pair(counts, first, last) if first >= 0 else -1
    key = (first + 1) * base + last + 1
    seen_pair = counts.online[slot_of(counts.keys, key), TOTAL] if first >= 0 else 0
    seen_last = counts.online[slot_of(counts.keys, last + 1), TOTAL]
    out[4, :] = math.log(1.0 + counts.bi_total[pair]) if pair >= 0 else 0.0
    out[5, :] = math.log(1.0 + seen_pair)
    out[6, :] = math.log(1.0 + counts.uni_total[last])
    out[7, :] = math.log(1.0 + seen_last)
    start, end = counts.bi_start[last], counts.bi_start[last + 1]
    for k in range(tokens.size):
        token = tokens[k]
        threes = counts.online[slot_of(counts.keys, key * base + token + 1), COUNT]
        twos = counts.online[slot_of(counts.keys, (last + 1) * base + token + 1), COUNT]
        out[8, k] = math.log(1.0 + threes) if seen_pair > 0 else 0.0
        out[9, k] = math.log(1.0 + twos) if seen_last > 0 else 0.0
        place = -1
        if pair >= 0:
            place = find_in(
                counts.tri_token, counts.tri_start[pair], counts.tri_start[pair + 1], token
            )
        out[10, k] = math.log(1.0 + counts.tri_count[place]) if place >= 0 else 0.0
        place = find_in(counts.bi_token, start, end, token)
        out[11, k] = math.log(1.0 + counts.bi_count[place]) if place >= 0 else 0.0
        out[12, k] = math.log(1.0 + counts.online[slot_of(counts.keys, token + 1), COUNT])
        out[13, k] = 1.0 if token == last else 0.0


@kernel
def features(
    counts: Counts,
    context: tuple[int, int],
    tokens: np.ndarray,
    log_q: np.ndarray,
    unigram: np.ndarray,
    depth: int,
    out: np.ndarray,
) -> None:
    """``out [FEATURES, K]`` of the candidates at ``depth`` (from 0) after ``context``.

    ``tokens``, ``log_q`` (nats) and ``unigram`` are ``[K]``.
    """
    first, last = context
    given = unigram.copy()
    bigrams(counts, last, tokens, given)
    for k in range(tokens.size):
        out[2, k] = math.log(given[k] / unigram[k])
    trigrams(counts, first, last, tokens, given)
    _level_features(unigram, log_q, depth, given, out)
    _count_features(counts, first, last, tokens, out)


@kernel
def _layer(inputs: np.ndarray, weights: np.ndarray, at: int, width: int, out: np.ndarray) -> int:
    """One layer with ReLU over all candidates at once; returns where the next layer begins."""
    rows = inputs.shape[0]
    bias = at + rows * width
    for j in range(width):
        out[j, :] = weights[bias + j]
    for i in range(rows):
        for j in range(width):
            weight = weights[at + i * width + j]
            for k in range(inputs.shape[1]):
                out[j, k] += weight * inputs[i, k]
    for j in range(width):
        for k in range(inputs.shape[1]):
            out[j, k] = max(out[j, k], 0.0)
    behind: int = bias + width
    return behind


@kernel
def network(inputs: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """``out [K]``: the learned correction in nats, from ``inputs [FEATURES, K]``."""
    width = inputs.shape[1]
    first = np.empty((HIDDEN[0], width))
    second = np.empty((HIDDEN[1], width))
    at = _layer(inputs, weights, 0, HIDDEN[0], first)
    at = _layer(first, weights, at, HIDDEN[1], second)
    for k in range(width):
        total = RATIO * inputs[1, k]
        for j in range(HIDDEN[1]):
            total += weights[at + j] * second[j, k]
        out[k] = total
