"""What the page receives of the film of a search: the tree, placed, and what each step tells.

``assets/player/film.js`` reads exactly these fields, and nothing else of the page.
"""

from typing import Any

from presto.records import ROOT
from viz.film import FilmInfo
from viz.layout import left_to_right
from viz.text import labels
from viz.theme import LIGHT, dark_of_light
from viz.tree import FAN, _get_tree_info, layout_of


def film_value(info: FilmInfo) -> dict[str, Any]:
    """The film as plain data. Nodes stand where the round's tree has them."""
    view, placed = info.view, _get_tree_info(info.view)
    drafted = [view.nodes[ROOT], *view.drafted]
    return {
        "budget": info.budget,
        "nodes": [
            {
                "parent": row.parent,
                "place": left_to_right(*placed.positions[row.node]),
                "labels": labels(view.pieces[row.token]),
            }
            for row in drafted
        ],
        "layout": layout_of(placed, LIGHT),
        "dark": dark_of_light(),
        "fan": FAN,
        "heads": info.heads,
        "rows": [row._asdict() for row in info.rows],
        "steps": [step._asdict() for step in info.steps],
        "levels": [level._asdict() for level in info.levels],
        "queue": info.queue,
        "sees": info.sees,
        "seen": info.seen,
        "mask": info.mask,
    }
