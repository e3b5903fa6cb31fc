"""Tidy tree layout after Reingold and Tilford: parents centred over their children, no crossings,
subtrees packed.

networkx has no such layout: at 256 nodes ``multipartite_layout`` crosses edges by the thousand and
``bfs_layout`` leaves parents off centre.
"""

import networkx as nx

Contour = list[float]  # outermost breadth per depth below a node, relative to it


def tidy_layout(graph: nx.DiGraph, root: int) -> dict[int, tuple[float, float]]:
    """``node -> (depth, breadth)`` with the root at ``(0, 0)``; children keep the order of their
    edges.
    """
    offsets: dict[int, float] = {root: 0.0}  # breadth relative to the parent
    edges: dict[int, tuple[Contour, Contour]] = {}
    for node in nx.dfs_postorder_nodes(graph, root):
        edges[node] = _place_children(
            [(child, *edges.pop(child)) for child in graph.successors(node)], offsets
        )
    positions = {root: (0.0, 0.0)}
    for parent, child in nx.dfs_edges(graph, root):
        depth, breadth = positions[parent]
        positions[child] = (depth + 1, breadth + offsets[child])
    return positions


def _place_children(
    children: list[tuple[int, Contour, Contour]], offsets: dict[int, float]
) -> tuple[Contour, Contour]:
    """Put subtrees side by side as close as their contours allow; returns the parent's own
    contours.
    """
    left: Contour = []
    right: Contour = []
    for child, child_left, child_right in children:
        gaps = (outer - inner for outer, inner in zip(right, child_left, strict=False))
        offsets[child] = shift = max(gaps, default=-1.0) + 1.0
        left += [shift + edge for edge in child_left[len(left) :]]
        right = [shift + edge for edge in child_right] + right[len(child_right) :]
    centre = (offsets[children[0][0]] + offsets[children[-1][0]]) / 2 if children else 0.0
    for child, _, _ in children:
        offsets[child] -= centre
    return [0.0, *(edge - centre for edge in left)], [0.0, *(edge - centre for edge in right)]


def top_down(depth: float, breadth: float) -> tuple[float, float]:
    """Screen position with the root above its children, for narrow screens."""
    return breadth, -depth


def left_to_right(depth: float, breadth: float) -> tuple[float, float]:
    """Screen position with the root left of its children, the first child above its siblings."""
    return depth, -breadth
