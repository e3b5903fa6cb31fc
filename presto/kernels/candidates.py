"""Which tokens a round's tree may hold: the drafter's likeliest at every position, and among them
what prompt lookup found.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from presto.kernels.lookup import continuation
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.tree import depths

T = TypeVar("T")


class Candidates(NamedTuple):
    """The candidates that a setting uses: D positions, K tokens each, likeliest first."""

    tokens: Sequence[Sequence[int]]  # [D, K]
    log_q: Sequence[Sequence[float]]  # [D, K] in nats
    found: tuple[int, ...] = ()  # ranks, from depth 1, of the tokens that were looked up
    last: tuple[int, ...] = ()  # [D] where the record has the last candidate, if any was looked up


def candidates_of(marginals: Marginals, config: DecodeConfig, context: Sequence[int]) -> Candidates:
    """The first ``draft_length`` positions and ``top_k`` tokens of ``marginals``.

    With ``lookup`` a token that was found and is recorded behind them stands in place of the last.
    The path found ends before the first token that is not recorded. ``context``: all committed
    tokens.
    """
    depth, width = config.draft_length, config.top_k
    tokens, log_q = marginals.token_ids[:depth], marginals.log_q[:depth]
    plain = Candidates([row[:width] for row in tokens], [row[:width] for row in log_q])
    places = _places(tokens, config, context)
    if not places:
        return plain
    columns = [min(width, len(row)) - 1 for row in tokens]
    last = [*map(max, places, columns), *columns[len(places) :]]
    return Candidates(
        tokens=[_with(row, at, width) for row, at in zip(tokens, last, strict=True)],
        log_q=[_with(row, at, width) for row, at in zip(log_q, last, strict=True)],
        found=tuple(map(min, places, columns)),
        last=tuple(last),
    )


def as_recorded(tree: Tree, candidates: Candidates) -> Tree:
    """``tree`` over these candidates, with the ranks that its tokens have in the record."""
    if not candidates.last:
        return tree
    width = len(candidates.tokens[0])
    levels = zip(tree.rank[1:], depths(tree.parents)[1:], strict=True)
    ranks = [candidates.last[d - 1] if rank == width - 1 else rank for rank, d in levels]
    return replace(tree, rank=(0, *ranks))


def _places(
    tokens: Sequence[Sequence[int]], config: DecodeConfig, context: Sequence[int]
) -> list[int]:
    """Where each token that was looked up stands in its position's record, to the first that does
    not. A single candidate makes room for none.
    """
    if config.top_k == 1:
        return []
    found = continuation(context, min(config.lookup, config.budget, len(tokens)))
    result = list[int]()
    for token, row in zip(found, tokens, strict=False):
        if token not in row:
            break
        result.append(row.index(token))
    return result


def _with(row: Sequence[T], last: int, width: int) -> Sequence[T]:
    """The first ``width`` of ``row``, its ``last`` at their end."""
    return (*row[: min(width, len(row)) - 1], row[last])
