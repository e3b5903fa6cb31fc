"""Pure functions of a tree's ``parents``: ``parents[ROOT] == NO_PARENT``, ``parents[i] < i``."""

from collections.abc import Mapping, Sequence

import numpy as np

from presto.records import ROOT, Round, Tree, Verdict


def depths(parents: Sequence[int]) -> list[int]:
    """Depth of every node; the root has depth 0."""
    result = [0] * len(parents)
    for i in range(1, len(parents)):
        result[i] = result[parents[i]] + 1
    return result


def children(parents: Sequence[int]) -> list[list[int]]:
    """Children of every node, in order of expansion."""
    result: list[list[int]] = [[] for _ in parents]
    for i in range(1, len(parents)):
        result[parents[i]].append(i)
    return result


def path(parents: Sequence[int], node: int) -> list[int]:
    """Nodes from the root's child down to ``node``; empty for the root."""
    result = []
    while node > ROOT:
        result.append(node)
        node = parents[node]
    return result[::-1]


def paths_to(parents: Sequence[int]) -> np.ndarray:
    """``[N + 1, D + 1]``: every node's path from the root down to itself, filled up with the node
    itself.

    What a row sees of its tree (tree attention, SpecInfer arXiv 2305.09781).
    """
    depth = depths(parents)
    table = np.zeros((len(parents), max(depth) + 1), np.int64)
    for i in range(1, len(parents)):
        table[i] = table[parents[i]]
        table[i, depth[i] :] = i
    return table


def child_by_token(parents: Sequence[int], tokens: Sequence[int]) -> Mapping[tuple[int, int], int]:
    """``(parent, token) -> node`` for all nodes but the root; siblings never share a token."""
    return {(parents[i], tokens[i]): i for i in range(1, len(parents))}


def spelled(tree: Tree) -> list[tuple[int, ...]]:
    """Every node's tokens from depth 1 down to it; the root's are none."""
    result: list[tuple[int, ...]] = [()]
    for token, parent in zip(tree.tokens[1:], tree.parents[1:], strict=True):
        result.append((*result[parent], token))
    return result


def ranks(scores: Sequence[float]) -> list[int]:
    """1-based rank of every node but the root by descending path score, ties in order of expansion;
    the root has 0.
    """
    order = sorted(range(1, len(scores)), key=lambda node: (-scores[node], node))
    result = [0] * len(scores)
    for place, node in enumerate(order, start=1):
        result[node] = place
    return result


def kept(round_: Round) -> tuple[int, ...]:
    """Nodes of the accepted path whose tokens were emitted, from the root down.

    Behind the end of the text (EOS, stop string, token cap) nothing counts: this is what every
    view and every number means by accepted drafts.
    """
    return round_.accepted[: max(0, len(round_.committed) - (round_.exact is not None))]


def bonus_committed(round_: Round) -> bool:
    """Whether the target's own next token was emitted: the text did not end before it."""
    return len(round_.committed) == (round_.exact is not None) + len(round_.accepted) + 1


def verdicts(round_: Round) -> list[Verdict]:
    """What became of every node.

    ``accepted``: on the accepted path, and emitted; ``rejected``: its parent was reached but the
    target chose another token; ``beyond``: its parent was never reached, or the text ended before
    it.
    """
    accepted, discarded = set(kept(round_)), set(round_.accepted) - set(kept(round_))
    reached = accepted | {ROOT}
    result: list[Verdict] = ["root"]
    for node, parent in enumerate(round_.tree.parents[1:], start=1):
        asked = parent in reached and node not in discarded
        result.append("accepted" if node in accepted else "rejected" if asked else "beyond")
    return result
