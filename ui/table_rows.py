"""The rows of a round's tree as the page shows them, in tables, cards and announcements."""

from collections.abc import Mapping
from typing import Any

from presto.records import Piece
from viz.formula import decimal
from viz.nodes import Node
from viz.text import labels
from viz.tree import probability_text
from viz.view import RoundView

SCORES = ("log_q", "log_rho", "blind", "aligned")
COLUMNS = (*(name for name in Node._fields if name != "label"), "labels", "formula")


def _row(node: Node, piece: Piece, formula: str, mark: str) -> list[Any]:
    """A row's values as the page shows them, in the order of ``COLUMNS``, which the head names
    once.
    """
    forms = labels(piece)
    numbers = {name: getattr(node, name) for name in SCORES}
    values = node._asdict() | {
        **{name: None if value is None else decimal(value) for name, value in numbers.items()},
        "probability": probability_text(node.probability),
        "labels": (f"{forms[0]} ◂ {mark}", *forms) if mark else forms,
        "formula": formula,
    }
    return [values[name] for name in COLUMNS]


def table_rows(
    view: RoundView,
    lines: Mapping[int, str] | None = None,
    marks: Mapping[int, str] | None = None,
) -> list[list[Any]]:
    """The rows of a round's tree, by node: each with its score as ``lines`` spell it out, and with
    what ``marks`` say beside its label in the tree.
    """
    spelled, marked = lines or {}, marks or {}
    return [
        _row(node, view.pieces[node.token], spelled.get(node.node, ""), marked.get(node.node, ""))
        for node in view.nodes
    ]
