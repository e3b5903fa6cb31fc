"""The tree of a round as one of several small pictures side by side: the places and verdicts of its
nodes. The page draws them at one scale.
"""

from typing import Any, NamedTuple

from viz.nodes import BONUS
from viz.text import full_label
from viz.theme import LIGHT, STATUS_NAMES, SYMBOLS, Palette, axis, base_layout, colour
from viz.tree import LINES, ORDER, SIZES, _get_tree_info
from viz.view import RoundView

SHRUNK = 0.6  # of the sizes of marks and lines in the large picture


class SmallNode(NamedTuple):
    """A node: its number, its parent's, its place, its verdict, its token and that spelled out."""

    node: int
    parent: int
    depth: int
    breadth: float
    status: str
    token: int
    full: str


class SmallTree(NamedTuple):
    """The nodes, the root first, and the root's position in prompt and output."""

    root: int
    nodes: tuple[SmallNode, ...]


def small_tree(view: RoundView) -> SmallTree:
    """The tree of a round, placed as in the large picture."""
    info, round_ = _get_tree_info(view), view.round
    nodes = tuple(
        SmallNode(
            row.node,
            row.parent,
            row.depth,
            round(info.positions[row.node][1], 2),
            row.status,
            row.token,
            full_label(view.pieces[row.token]),
        )
        for row in info.nodes.values()
    )
    return SmallTree(round_.start - (round_.exact is None), nodes)


def small_tree_words(view: RoundView) -> str:
    """What there is to see, in words."""
    drafted = len(view.drafted)
    accepted = sum(row.status == "accepted" for row in view.nodes)
    if not drafted:
        return "nothing drafted: the target’s own token"
    own = ", then the target’s own" * any(row.node == BONUS for row in view.nodes)
    return f"{accepted} of {drafted} drafted nodes accepted{own}"


def small_style(ink: Palette = LIGHT) -> dict[str, Any]:
    """Lines and marks by verdict, back to front, and the layout, without ranges and ticks."""
    verdicts = []
    for status in ORDER:
        tint = colour(ink, status)
        line = LINES.get(status)
        rim = {"width": 1.5 if status == "rejected" else 1, "color": tint}
        size = SHRUNK * SIZES[status]
        marker = {"symbol": SYMBOLS[status], "size": size, "color": tint, "line": rim}
        edge = line and {**line, "width": max(1, SHRUNK * line["width"]), "color": tint}
        verdicts.append(
            {"status": status, "name": STATUS_NAMES[status], "line": edge, "marker": marker}
        )
    margin = {"l": 4, "r": 8, "t": 16, "b": 4}
    axes = {"xaxis": axis(ink), "yaxis": axis(ink)}
    return {"verdicts": verdicts, "layout": base_layout(ink) | axes | {"margin": margin}}
