"""Scoring and search in plain Python, as close to the formulas as can be.

Here a script's scorer or search runs, and here stands the oracle of the compiled ones, which share
nothing with it. Scores are whole numbers of 1e-5 nats, as records store them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from presto.records import DecodeConfig, Tree

UNITS = 100_000  # in a nat
Context = tuple[int, ...]
Level = Sequence[Sequence[int]]  # [D, K]


@dataclass(frozen=True)
class Node:
    """A candidate: ranks and tokens from depth 1 to its own, and its numbers in units of 1e-5 nats.

    ``blind`` and ``aligned`` are path sums; ``priority`` is the least path score on the path, 1 of
    a path that prompt lookup found.
    """

    ranks: tuple[int, ...] = ()
    path: Context = ()
    order: int = 0  # of the parent among all opened nodes
    log_q: int = 0
    log_rho: int = 0
    blind: int = 0
    aligned: int = 0
    priority: int = 0

    @property
    def depth(self) -> int:
        return len(self.ranks)

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Orders nodes, the best first: by priority, then depth, then rank, then their parents'."""
        return -self.priority, len(self.ranks), self.ranks[-1] if self.ranks else 0, self.order


@dataclass(frozen=True)
class Row:
    """The children of one node by rank: log ρ and what each adds to the path score, in units."""

    log_rho: Sequence[int]
    increment: Sequence[int]


def formula_row(
    log_q: Sequence[int], log_rho: Sequence[float], weights: tuple[float, float], normalised: bool
) -> Row:
    """s = a·log q + b·log ρ; ``normalised``: children keep the mass that the marginal gives them.

    ``log_q`` in units, ``log_rho`` in nats.
    """
    rho = [round(value * UNITS) for value in log_rho]
    scores = [weights[0] * q + weights[1] * r for q, r in zip(log_q, rho, strict=True)]
    if normalised:
        best = max(scores)
        total = best / UNITS + math.log(sum(math.exp((s - best) / UNITS) for s in scores))
        mass = math.log(sum(math.exp(q / UNITS) for q in log_q))
        scores = [s + (mass - total) * UNITS for s in scores]
    return Row(rho, [round(s) for s in scores])


class Space:
    """What a search sees of a round: the root, and the children of every node it opens.

    ``row(node)`` gives the scores of a node's children. ``ValueError`` if more than ``most`` nodes
    with children are opened. ``found``: ranks, from depth 1, of the path that prompt lookup found;
    its nodes come before all others. ``drafted``: the rank at every position that linear drafting
    takes, by default the likeliest.
    """

    def __init__(
        self,
        tokens: Level,
        log_q: Level,
        row: Callable[[Node], Row],
        config: DecodeConfig,
        most: int,
        found: Sequence[int] = (),
        drafted: Sequence[int] | None = None,
    ) -> None:
        self.tokens, self.log_q, self.config, self.budget = tokens, log_q, config, config.budget
        self.found = tuple(found)
        self.drafted = tuple([0] * len(tokens) if drafted is None else drafted)
        self.root = Node()
        self.opened = dict[tuple[int, ...], list[Node]]()  # children by the ranks of their parent
        self._row, self._most = row, most

    def children(self, node: Node) -> list[Node]:
        """All candidates below ``node``, by rank; none below the last position."""
        if node.depth == len(self.tokens):
            return []
        if node.ranks not in self.opened:
            if len(self.opened) == self._most:
                raise ValueError(f"the search opened more than the {self._most} rows it declared")
            self.opened[node.ranks] = self._open(node, len(self.opened))
        return self.opened[node.ranks]

    def _open(self, node: Node, order: int) -> list[Node]:
        row, log_q = self._row(node), self.log_q[node.depth]
        result = []
        for rank, token in enumerate(self.tokens[node.depth]):
            aligned = node.aligned + row.increment[rank]
            found = (*node.ranks, rank) == self.found[: node.depth + 1]
            child = Node(
                ranks=(*node.ranks, rank),
                path=(*node.path, token),
                order=order,
                log_q=log_q[rank],
                log_rho=row.log_rho[rank],
                blind=node.blind + log_q[rank],
                aligned=aligned,
                priority=1 if found else min(0, node.priority, aligned),
            )
            result.append(child)
        return result


def linear(space: Space) -> list[Node]:
    """The drafted candidate of every position."""
    path = [space.root]
    for rank in space.drafted[: space.budget]:
        path.append(space.children(path[-1])[rank])
    return path[1:]


def best_first(space: Space) -> list[Node]:
    """Take the best open node, open it, until the budget is used."""
    chosen, opened = list[Node](), list(space.children(space.root))
    while opened:
        best = min(opened, key=lambda node: node.key)
        opened.remove(best)
        chosen.append(best)
        if len(chosen) == space.budget:
            break
        opened += space.children(best)
    return chosen


def beam(space: Space) -> list[Node]:
    """Open the best ``beam_width`` nodes of each depth; the best ``budget`` of all are the tree.

    Of one depth more than ``budget`` nodes can never be wanted, nor what is below them.
    """
    width = min(space.config.beam_width, space.budget)
    frontier, pool = [space.root], list[Node]()
    while frontier:
        layer = sorted(
            (child for node in frontier for child in space.children(node)),
            key=lambda node: node.key,
        )
        frontier = layer[:width]
        pool += layer
    return sorted(pool, key=lambda node: node.key)[: space.budget]


def tree_of(anchor: int, nodes: Sequence[Node], budget: int) -> Tree:
    """The tree of a search's choice. ``ValueError`` if it is no tree within the budget."""
    if len(nodes) > budget:
        raise ValueError(f"the search chose {len(nodes)} nodes, at most {budget} are allowed")
    place: dict[tuple[int, ...], int] = {(): 0}
    for number, node in enumerate(nodes, start=1):
        if node.ranks in place:
            raise ValueError(f"the search chose the node with ranks {node.ranks} twice")
        if node.ranks[:-1] not in place:
            raise ValueError(f"the search chose the node with ranks {node.ranks} before its parent")
        place[node.ranks] = number
    chosen = [Node(), *nodes]
    return Tree(
        tokens=(anchor, *(node.path[-1] for node in nodes)),
        parents=(-1, *(place[node.ranks[:-1]] for node in nodes)),
        rank=(0, *(node.ranks[-1] for node in nodes)),
        log_q=tuple(node.log_q / UNITS for node in chosen),
        log_rho=tuple(node.log_rho / UNITS for node in chosen),
        blind=tuple(node.blind / UNITS for node in chosen),
        aligned=tuple(node.aligned / UNITS for node in chosen),
    )


def in_units(log_q: Sequence[Sequence[float]]) -> Level:
    """Nats as whole numbers of 1e-5 nats."""
    return [[round(value * UNITS) for value in row] for row in log_q]
