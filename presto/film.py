"""The search as a film: the node it takes at every step, and the candidates that wait behind it.

The same searches as in ``presto.plain``, which tell what they do as they go. They share nothing
with the compiled ones, whose order of nodes they must reproduce.
"""

from bisect import insort
from collections.abc import Callable, Sequence
from typing import NamedTuple

from presto.plain import Node, Space

NEXT = 8  # waiting candidates that a step tells
Key = tuple[int, int, int, int]


class Level(NamedTuple):
    """A depth that a beam has opened: ``offered`` children of ``opened`` nodes, and the best of
    them, best first, which are opened next.
    """

    depth: int
    opened: int
    offered: int
    frontier: tuple[Node, ...]


class Step(NamedTuple):
    """What is known after one step of a search.

    ``node`` is the one that the step took, ``None`` where it took none: at the start, and while a
    beam opens its levels. ``queue`` are the candidates that come next, at most ``NEXT`` of the
    ``waiting`` ones. ``levels`` counts the depths that a beam has opened.
    """

    node: Node | None
    taken: int
    queue: tuple[Node, ...]
    waiting: int
    levels: int = 0


class Film(NamedTuple):
    """The steps of a search, the start first; ``levels`` are those of a beam."""

    steps: tuple[Step, ...]
    levels: tuple[Level, ...] = ()

    @property
    def nodes(self) -> list[Node]:
        """The nodes in the order in which they were taken."""
        return [step.node for step in self.steps if step.node is not None]


class _Queue:
    """Candidates in the order in which a search takes them.

    Of ``room`` more that can be taken, only so many and those that are told have to be kept.
    """

    def __init__(self) -> None:
        self._nodes = list[tuple[Key, Node]]()  # the best last
        self.offered = 0

    def add(self, nodes: Sequence[Node], room: int) -> None:
        self.offered += len(nodes)
        self._nodes += [(node.key, node) for node in nodes]
        self._nodes.sort(reverse=True)
        del self._nodes[: max(0, len(self._nodes) - room - NEXT)]

    def take(self) -> Node:
        return self._nodes.pop()[1]

    def best(self, count: int = NEXT) -> tuple[Node, ...]:
        return tuple(node for _, node in self._nodes[: -count - 1 : -1])

    def __len__(self) -> int:
        return len(self._nodes)


def best_first(space: Space) -> Film:
    """The best open node is taken and opened, until the budget is used."""
    queue, budget = _Queue(), space.budget
    queue.add(space.children(space.root), budget)
    steps = [Step(None, 0, queue.best(), queue.offered)]
    while len(queue) and len(steps) <= budget:
        node, taken = queue.take(), len(steps)
        if taken < budget:
            queue.add(space.children(node), budget - taken)
        steps.append(Step(node, taken, queue.best(), queue.offered - taken))
    return Film(tuple(steps))


def beam(space: Space) -> Film:
    """The best ``beam_width`` nodes of each depth are opened; then the best of all are taken."""
    width, budget = min(space.config.beam_width, space.budget), space.budget
    pool, frontier = _Queue(), [space.root]
    steps, levels = list[Step](), list[Level]()
    while layer := [child for node in frontier for child in space.children(node)]:
        opened = len(frontier)
        pool.add(layer, budget)
        worst = pool.best(budget)[-1].key
        kept = sorted(layer, key=lambda node: node.key)[:width]
        # A node that is not among the best so far is never wanted, nor is what is below it.
        frontier = [node for node in kept if node.key <= worst]
        depth = len(levels) + 1
        levels.append(Level(depth, opened, len(layer), tuple(frontier)))
        steps.append(Step(None, 0, pool.best(), pool.offered, depth))
    for taken in range(1, min(budget, len(pool)) + 1):
        node = pool.take()
        steps.append(Step(node, taken, pool.best(), pool.offered - taken, len(levels)))
    return Film(tuple(steps), tuple(levels))


def linear(space: Space) -> Film:
    """The drafted candidate of every position; the others of the position are passed over."""
    node, steps = space.root, list[Step]()
    ranks = space.drafted[: space.budget]
    for taken, rank in enumerate(ranks):
        children = space.children(node)
        told = None if taken == 0 else node
        steps.append(Step(told, taken, tuple(children[:NEXT]), len(children)))
        node = children[rank]
    return Film((*steps, Step(node, len(ranks), (), 0)))


def watched(space: Space, search: Callable[[Space], Sequence[Node]]) -> Film:
    """What a script's ``search`` chooses, and which children of the nodes it opened wait then."""
    chosen = search(space)
    waiting = list[tuple[Key, Node]]()

    def offer(node: Node) -> None:
        for child in space.opened.get(node.ranks, ()):
            insort(waiting, (child.key, child), key=lambda entry: entry[0])

    def step(node: Node | None, taken: int) -> Step:
        return Step(node, taken, tuple(child for _, child in waiting[:NEXT]), len(waiting))

    offer(space.root)
    steps = [step(None, 0)]
    for taken, node in enumerate(chosen, start=1):
        waiting[:] = [entry for entry in waiting if entry[1].ranks != node.ranks]
        offer(node)
        steps.append(step(node, taken))
    return Film(tuple(steps))
