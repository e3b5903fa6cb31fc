"""The score of one node, spelled out: the formula of the run's scorer with this node's own
numbers.
"""

from typing import NamedTuple

from presto.records import DecodeConfig, Trace, Tree
from presto.records.tree import path
from viz.nodes import BONUS, Node, node_rows

SUM = "Sum over the path: prefix-blind {blind} (log q alone), prefix-aligned {aligned}"
ROUNDING = 2e-5  # nats: stored log-probabilities and increments are whole numbers of 1e-5 each


class Level(NamedTuple):
    """One node of a path: what its scorer's formula gives, and what the record says it added.
    Nats.
    """

    row: Node
    score: float  # before the children's scores are rescaled together
    increment: float  # aligned[node] - aligned[parent]: what counts


def decimal(value: float, signed: bool = False) -> str:
    """Two decimals with a true minus sign and no negative zero; ``signed`` gives positive values a
    plus.
    """
    return f"{value:{'+' if signed else ''}z.2f}".replace("-", "−")


def _score(config: DecodeConfig, depth: int, log_q: float, log_rho: float) -> float:
    """The scorer's formula, see ``presto.kernels.rows``; ``depth`` counts from 1."""
    if config.scorer == "dart":
        dart: float = depth**-0.7 * (0.9 ** (depth - 1) * log_q + 0.5 * log_rho)
        return dart
    return float(log_q + config.lam * log_rho)


def _level(trace: Trace, tree: Tree, row: Node) -> Level:
    score = _score(trace.config, row.depth, tree.log_q[row.node], tree.log_rho[row.node])
    return Level(row, score, tree.aligned[row.node] - tree.aligned[row.parent])


def _levels(trace: Trace, round_: int, node: int) -> list[Level]:
    tree, rows = trace.rounds[round_].tree, node_rows(trace, round_)
    return [_level(trace, tree, rows[i]) for i in path(tree.parents, node)]


def _corrected(config: DecodeConfig, depth: int) -> bool:
    """Whether the n-gram model has a say at this depth."""
    return config.scorer != "blind" and (
        depth > 1 or (config.correct_first and config.scorer not in ("mixture", "dart"))
    )


def _terms(config: DecodeConfig, row: Node) -> str:
    log_q, log_rho = decimal(row.log_q or 0.0), decimal(row.log_rho or 0.0)
    if not _corrected(config, row.depth):
        return f"log q {log_q}" + (
            " (no correction on the first level)" if config.scorer != "blind" else ""
        )
    if config.scorer == "dart":
        return (
            f"{row.depth}^−0.7 · (0.9^{row.depth - 1} · log q {log_q} + 0.5 · log p(t|c) {log_rho})"
        )
    return f"log q {log_q} + λ {config.lam:g} · log ρ {log_rho}"


def _line(config: DecodeConfig, level: Level) -> str:
    line = f"“{level.row.full}”: {_terms(config, level.row)} = {decimal(level.score, signed=True)}"
    if abs(level.increment - level.score) <= ROUNDING:
        return line
    why = "normalised to the children’s mass" if config.normalised else "recorded as"
    return f"{line}, {why}: {decimal(level.increment, signed=True)}"


def level_lines(trace: Trace, round_: int) -> dict[int, str]:
    """Every drafted node's own line of ``formula``, by node: a path's formula is the lines of its
    nodes.
    """
    tree, rows = trace.rounds[round_].tree, node_rows(trace, round_)
    return {row.node: _line(trace.config, _level(trace, tree, row)) for row in rows if row.node > 0}


def formula(trace: Trace, round: int, node: int) -> tuple[str, ...]:  # noqa: A002
    """One line per level of the path to ``node`` and one with both path sums, as plain text (not as
    markup).

    blind: s = log q. product, pmi and mixture: s = log q + λ·log ρ.
    dart: s = depth^-0.7·(0.9^(depth-1)·log q + 0.5·log p(t|c)), without λ.
    Where the run normalised its scores, what a node added to its path is s shifted together with
    all its siblings' (recorded or not), so the line ends with the increment that the record holds.
    """
    round_ = trace.rounds[round]
    if node == BONUS:
        return ("The target’s own token was not drafted, so it has no score.",)
    if not 0 <= node < len(round_.tree.tokens):
        raise ValueError(f"node must lie in 0..{len(round_.tree.tokens) - 1}, got {node}")
    if node == 0:
        return ("The root is already committed, so it has no score.",)
    blind, aligned = (decimal(scores[node]) for scores in (round_.tree.blind, round_.tree.aligned))
    lines = [_line(trace.config, level) for level in _levels(trace, round, node)]
    return (*lines, SUM.format(blind=blind, aligned=aligned))
