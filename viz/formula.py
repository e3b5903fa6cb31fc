"""The score of one node, spelled out: the formula of the run's scorer with this node's own
numbers.
"""

import re
from typing import NamedTuple

from presto.records import DecodeConfig, Trace
from presto.records.tree import path
from presto.scorers import SCORERS, Scorer
from viz.nodes import BONUS, Node
from viz.view import RoundView, view_of

SUM = "Sum over the path: prefix-blind {blind} (log q alone), prefix-aligned {aligned}"
ROUNDING = 2e-5  # nats: stored log-probabilities and increments are whole numbers of 1e-5 each
_DEPTH = re.compile(r"\bd\b")


class Level(NamedTuple):
    """One node of a path: what its scorer's formula gives, and what the record says it added.
    Nats.
    """

    row: Node
    score: float | None  # before siblings are rescaled together; None: the scorer is not installed
    increment: float  # aligned[node] - aligned[parent]: what counts


def decimal(value: float, signed: bool = False) -> str:
    """Two decimals with a true minus sign and no negative zero; ``signed`` gives positive values a
    plus.
    """
    return f"{value:{'+' if signed else ''}z.2f}".replace("-", "−")


def _level(view: RoundView, node: int) -> Level:
    tree, row, score = view.round.tree, view.nodes[node], None
    if scorer := SCORERS.get(view.config.scorer):
        a, b = scorer.weights(row.depth, view.config.lam)
        score = float(a * tree.log_q[node] + b * tree.log_rho[node])
    return Level(row, score, tree.aligned[node] - tree.aligned[row.parent])


def _levels(view: RoundView, node: int) -> list[Level]:
    return [_level(view, i) for i in path(view.round.tree.parents, node)]


def _corrected(scorer: Scorer, config: DecodeConfig, depth: int) -> bool:
    """Whether the correction has a say at this depth."""
    first = config.correct_first and scorer.corrects_first
    return scorer.corrects and (depth > 1 or first)


def _terms(config: DecodeConfig, row: Node) -> str:
    """The scorer's formula with the node's numbers behind their names."""
    scorer = SCORERS[config.scorer]
    log_q, log_rho = decimal(row.log_q or 0.0), decimal(row.log_rho or 0.0)
    if not _corrected(scorer, config, row.depth):
        why = " (no correction on the first level)" if scorer.corrects else ""
        return f"log q {log_q}{why}"
    numbers = {"log q": f"log q {log_q}", "log ρ": f"log ρ {log_rho}", "λ": f"λ {config.lam:g}"}
    text = _DEPTH.sub(str(row.depth), scorer.formula)
    for name, number in numbers.items():
        text = text.replace(name, number)
    return text.replace("·", " · ").replace("  ", " ")


def _line(config: DecodeConfig, level: Level) -> str:
    increment = decimal(level.increment, signed=True)
    if level.score is None:
        return (
            f"“{level.row.full}”: recorded as {increment} ({config.scorer} is not installed here)"
        )
    score = decimal(level.score, signed=True)
    line = f"“{level.row.full}”: {_terms(config, level.row)} = {score}"
    if abs(level.increment - level.score) <= ROUNDING:
        return line
    why = "normalised to the children’s mass" if config.normalised else "recorded as"
    return f"{line}, {why}: {increment}"


def level_lines(view: RoundView) -> dict[int, str]:
    """Every drafted node's own line of ``formula``, by node: a path's formula is the lines of its
    nodes.
    """
    return {row.node: _line(view.config, _level(view, row.node)) for row in view.drafted}


def formula(trace: Trace, round: int, node: int) -> tuple[str, ...]:  # noqa: A002
    """One line per level of the path to ``node`` and one with both path sums, as plain text (not as
    markup).

    A line is the formula of the run's scorer (``presto.scorers``) with the node's own numbers.
    Where the run normalised its scores, what a node added to its path is s shifted together with
    all its siblings' (recorded or not), so the line ends with the increment that the record holds.
    """
    view = view_of(trace, round)
    tree = view.round.tree
    if node == BONUS:
        return ("The target’s own token was not drafted, so it has no score.",)
    if not 0 <= node < len(tree.tokens):
        raise ValueError(f"node must lie in 0..{len(tree.tokens) - 1}, got {node}")
    if node == 0:
        return ("The root is already committed, so it has no score.",)
    blind, aligned = (decimal(scores[node]) for scores in (tree.blind, tree.aligned))
    lines = [_line(view.config, level) for level in _levels(view, node)]
    return (*lines, SUM.format(blind=blind, aligned=aligned))
