"""Pure functions of a tree's ``parents``: ``parents[ROOT] == NO_PARENT``, ``parents[i] < i``."""

from collections.abc import Mapping, Sequence

import numpy as np

from presto.records import ROOT, Round, Verdict


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


def ranks(scores: Sequence[float]) -> list[int]:
    """1-based rank of every node but the root by descending path score, ties in order of expansion;
    the root has 0.
    """
    order = sorted(range(1, len(scores)), key=lambda node: (-scores[node], node))
    result = [0] * len(scores)
    for place, node in enumerate(order, start=1):
        result[node] = place
    return result


def verdicts(round_: Round) -> list[Verdict]:
    """What the target said of every node.

    ``accepted``: on the accepted path; ``rejected``: its parent was reached but the target chose
    another token; ``beyond``: its parent was never reached, so the target was not asked.
    """
    accepted = set(round_.accepted)
    reached = accepted | {ROOT}
    result: list[Verdict] = ["root"]
    for node, parent in enumerate(round_.tree.parents[1:], start=1):
        result.append(
            "accepted" if node in accepted else "rejected" if parent in reached else "beyond"
        )
    return result
