"""A draft tree that the reader grew by hand out of a round's candidates."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from presto.records import ROOT, Tree
from presto.runs.replay import follow_text
from viz.lesson.course import Course, known_probability, token

SHAPE = "the paths must be lists of ranks, each of them after the path that it lengthens"


class Grown(NamedTuple):
    """The tree's nodes in the order they were added: labels, depth and parent (0: the root); of
    them ``accepted``; how many tokens the round would commit; why, token by token.
    """

    nodes: tuple[dict[str, Any], ...]
    accepted: tuple[int, ...]
    committed: int
    why: tuple[tuple[str, str, str], ...]


def _path(given: object, offered: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[int, ...]:
    """A path of ranks, from 0, one per position."""
    if not isinstance(given, list) or not 1 <= len(given) <= len(offered):
        raise ValueError(SHAPE)
    for place, rank in enumerate(given):
        if type(rank) is not int or not 0 <= rank < len(offered[place]):
            raise ValueError(f"the rank at +{place + 1} must lie in 0..{len(offered[place]) - 1}")
    return tuple(given)


def grow(
    course: Course, given: object, offered: Sequence[Sequence[Mapping[str, Any]]], budget: int
) -> Grown:
    """The tree of ``given`` paths, each of which adds one node to what is there, and what of it the
    target would have accepted. ``ValueError`` for anything else.
    """
    if not isinstance(given, list):
        raise ValueError(SHAPE)
    if len(given) > budget:
        raise ValueError(f"the budget is {budget} nodes, got {len(given)}")
    number: dict[tuple[int, ...], int] = {(): ROOT}
    tokens, parents, nodes = [course.round.tree.tokens[ROOT]], [-1], []
    for one in given:
        path = _path(one, offered)
        if path in number or path[:-1] not in number:
            raise ValueError(SHAPE)
        cell = offered[len(path) - 1][path[-1]]
        parent = number[path[:-1]]
        number[path] = len(tokens)
        tokens.append(cell["token"])
        parents.append(parent)
        nodes.append({"labels": cell["labels"], "depth": len(path), "parent": parent})
    tree = _tree(tokens, parents)
    accepted = follow_text(tree, course.continuation)
    committed = course.states.committed(course.index, len(accepted))
    return Grown(tuple(nodes), accepted, committed, _why(course, tree, accepted))


def _tree(tokens: Sequence[int], parents: Sequence[int]) -> Tree:
    zeros = (0.0,) * len(tokens)
    rank = (0,) * len(tokens)
    return Tree(tuple(tokens), tuple(parents), rank, zeros, zeros, zeros, zeros)


def _why(course: Course, tree: Tree, accepted: Sequence[int]) -> tuple[tuple[str, str, str], ...]:
    """What the target went on to write, as far as the tree follows it and one token further."""
    written, pieces = course.continuation[: len(accepted) + 1], course.shown.pieces
    return tuple(
        (
            token(pieces, number),
            known_probability(course, tuple(written[: place + 1])) or "–",
            "accepted" if place < len(accepted) else "bonus",
        )
        for place, number in enumerate(written)
    )
