"""A small network over n-gram counts: what the counts are worth, learned instead of assumed.

A back-off formula fixes how much a count says; a static table's large totals then drown what the
run's own text tells. The network reads both and was trained on text that the target wrote (see
``presto.training.scorer``). It knows no drafter and no token: one set of weights serves all pairs
of a tokenizer.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from presto.kernels.compiler import inlined
from presto.kernels.counts import COUNT, TOTAL, Counts, find_pair, longer, pair_key, slot_of
from presto.kernels.smoothing import bigrams, trigrams
from presto.records.writing import write_whole

# Features by what they depend on: depth and candidate; the two tokens before and candidate; the two
# tokens before alone. Counts n stand as log(1 + n).
OF_LEVEL = (
    *("log q", "log p(t)", "online unigram count"),
    *("depth", "is depth 1", "entropy", "top log q"),  # alike for all candidates
)
OF_ROW = (
    *("trigram ratio", "bigram ratio"),
    *("online trigram count", "static trigram count", "online bigram count", "static bigram count"),
    "repeats the token before",
)
OF_CONTEXT = (
    *("static trigram total", "online trigram total", "static bigram total", "online bigram total"),
    "best corrected log q",
)
FEATURES = (*OF_LEVEL, *OF_ROW, *OF_CONTEXT)
LEVEL, ROW, VARIED = len(OF_LEVEL), len(OF_ROW), 3
BIAS, OUT = len(FEATURES), len(FEATURES) + 1  # columns of the weights behind those of the features
HIDDEN = 32
NETWORK_FILE = "count-scorer.safetensors"
RATIO = 0.7  # weight of the trigram ratio beside the network's output


class Networks(NamedTuple):
    """Weights ``[HIDDEN, FEATURES + 2]``: a row per hidden unit, its bias and what its output
    weighs behind the features. What counts are worth depends on whether there are static ones.
    """

    static: np.ndarray
    online: np.ndarray  # where there is no static table


def load_networks(path: Path) -> Networks:
    """Read what ``save_networks`` wrote; ``ValueError`` names what is wrong with the file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(path)
        networks = Networks(*(found[name] for name in Networks._fields))
    except (OSError, SafetensorError, KeyError) as error:
        raise ValueError(f"no count networks: {path}: {type(error).__name__}: {error}") from None
    wanted = HIDDEN, OUT + 1
    for weights in networks:
        if weights.shape != wanted or not np.isfinite(weights).all():
            raise ValueError(f"{path}: expected {wanted} finite numbers, got shape {weights.shape}")
    return Networks(*(weights.astype(np.float64) for weights in networks))


def save_networks(networks: Networks, path: Path) -> None:
    """Write the weights, in float32."""
    from safetensors.numpy import save

    arrays = {name: weights.astype(np.float32) for name, weights in networks._asdict().items()}
    write_whole(path, save(arrays))


@inlined
def level_features(
    counts: Counts,
    tokens: np.ndarray,
    log_q: np.ndarray,
    unigram: np.ndarray,
    depth: int,
    out: np.ndarray,
) -> None:
    """``out [OF_LEVEL, K]`` of the candidates at ``depth`` (from 0). ``tokens``, ``log_q`` (nats)
    and ``unigram`` are ``[K]``.
    """
    entropy = 0.0
    for k in range(tokens.size):
        entropy -= math.exp(log_q[k]) * log_q[k]
        seen = counts.online[slot_of(counts.keys, longer(counts.vocab, 0, tokens[k])), COUNT]
        out[0, k] = log_q[k]
        out[1, k] = math.log(unigram[k])
        out[2, k] = math.log(1.0 + seen)
    out[3, :] = depth
    out[4, :] = 1.0 if depth == 0 else 0.0
    out[5, :] = entropy
    out[6, :] = log_q[0]


@inlined
def row_features(
    counts: Counts,
    context: tuple[int, int],
    tokens: np.ndarray,
    log_q: np.ndarray,
    unigram: np.ndarray,
    out: np.ndarray,
    shared: np.ndarray,
) -> None:
    """``out [OF_ROW, K]`` and ``shared [OF_CONTEXT]`` after the two tokens ``context``."""
    first, last = context
    given = unigram.copy()
    out[2:, :] = 0.0
    bigrams(counts, last, tokens, given, out[4:6])
    for k in range(tokens.size):
        out[1, k] = math.log(given[k] / unigram[k])
        if tokens[k] == last:
            out[6, k] = 1.0
    trigrams(counts, first, last, tokens, given, out[2:4])
    best = -math.inf
    for k in range(tokens.size):
        out[0, k] = math.log(given[k] / unigram[k])
        best = max(best, log_q[k] + RATIO * out[0, k])
    for i in range(2, 6):
        for k in range(tokens.size):
            if out[i, k] > 0:
                out[i, k] = math.log(1.0 + out[i, k])
    shared[4] = best
    _totals(counts, first, last, shared)


@inlined
def _totals(counts: Counts, first: int, last: int, shared: np.ndarray) -> None:
    """How often the two contexts were seen."""
    shared[:2] = 0.0
    if first >= 0:
        pair = find_pair(counts, first, last)
        if pair >= 0:
            shared[0] = math.log(1.0 + counts.bi_total[pair])
        key = pair_key(counts.vocab, first, last)
        shared[1] = math.log(1.0 + counts.online[slot_of(counts.keys, key), TOTAL])
    shared[2] = math.log(1.0 + counts.uni_total[last])
    shared[3] = math.log(
        1.0 + counts.online[slot_of(counts.keys, longer(counts.vocab, 0, last)), TOTAL]
    )


@inlined
def level_part(inputs: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """``out [HIDDEN, K]``: what ``inputs [OF_LEVEL, K]`` and the bias add to the hidden units."""
    for j in range(out.shape[0]):
        base = weights[j, BIAS]
        for i in range(VARIED, LEVEL):
            base += weights[j, i] * inputs[i, 0]
        for k in range(out.shape[1]):
            total = base
            for i in range(VARIED):
                total += weights[j, i] * inputs[i, k]
            out[j, k] = total


@inlined
def network(
    level: np.ndarray,
    inputs: np.ndarray,
    shared: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """``out [K]``: the correction in nats, from ``level [HIDDEN, K]`` of ``level_part`` and
    ``row_features``.
    """
    out[:] = RATIO * inputs[0]
    hidden = np.empty(out.size)
    for j in range(weights.shape[0]):
        base = 0.0
        for i in range(shared.size):
            base += weights[j, LEVEL + ROW + i] * shared[i]
        for k in range(out.size):
            total = base + level[j, k]
            for i in range(ROW):
                total += weights[j, LEVEL + i] * inputs[i, k]
            hidden[k] = total
        weight = weights[j, OUT]
        for k in range(out.size):
            out[k] += weight * max(hidden[k], 0.0)
