"""Budget and draft length that write most tokens per second on the device at hand.

A round costs a draft of D positions and a target pass over B + 1 rows, and commits τ(B, D) tokens.
τ comes with the pair (``assets/curves``, made by ``python -m presto.benchmarks.curve``), the costs
are measured on the device (``presto.runs.costs``). This decides how fast a run is, never what it
writes. Importing this module loads no model and no torch.
"""

from functools import cache
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from presto.models.catalogue import PAIRS
from presto.paths import ASSETS
from presto.records import STRICT, DecodeConfig, Method, explain
from presto.records.bounds import Count, Name, Words
from presto.records.tuning import Acceptance, Budgets, Costs, Lengths, Table, Tuning, check_rising
from presto.searches import SEARCHES

BUDGETS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of the curves


class Shape(NamedTuple):
    """What is chosen: nodes of the tree, drafted positions."""

    budget: int
    draft_length: int


@dataclass(frozen=True, config=STRICT)
class CurveFile:
    """A pair's acceptance curves. ``drafted[i]``: positions of the drafts that the figures of
    ``lengths[i]`` come from, more where longer drafts were cut.
    """

    pair: Name
    texts: Words  # what was decoded
    tokens: Count
    dtype: Name
    models: dict[Name, Words]
    lengths: Lengths
    drafted: Lengths
    budgets: Budgets
    tau: Annotated[dict[Method, Table], Field(min_length=1)]

    @model_validator(mode="after")
    def _matching(self) -> Self:
        check_rising(lengths=self.lengths, budgets=self.budgets)
        if len(self.drafted) != len(self.lengths):
            raise ValueError("drafted must have an entry per length")
        for method in self.tau:
            self.of(method)
        return self

    def of(self, method: Method) -> Acceptance:
        """One method's curve."""
        return Acceptance(self.lengths, self.budgets, self.tau[method])


_CURVES = TypeAdapter(CurveFile)


def parse_curves(text: str | bytes) -> CurveFile:
    """Read a curve file; ``ValueError`` names the first thing that is wrong with it."""
    try:
        return _CURVES.validate_json(text)
    except ValidationError as error:
        raise ValueError(f"not a valid curve file: {explain(error)}") from None


@cache
def curves_of(system: str) -> CurveFile | None:
    """The curves that come with a known pair; ``None`` if there are none."""
    path = ASSETS / "curves" / f"{system}.json"
    return parse_curves(path.read_bytes()) if system in PAIRS and path.exists() else None


def curve_name(config: DecodeConfig) -> Method:
    """The method whose curve is nearest to these settings."""
    if SEARCHES.find(config.search).single_path:
        return "linear"
    named: dict[str, Method] = {"blind": "blind", "learned": "presto+"}
    return named.get(config.scorer, "presto")


def pass_milliseconds(costs: Costs, nodes: int) -> float:
    """What the target's pass over a tree costs: between measured sizes along a straight line."""
    return float(np.interp(nodes + 1, costs.rows, costs.verify))


def draft_milliseconds(costs: Costs, length: int) -> float:
    """What a draft costs, likewise."""
    return float(np.interp(length, costs.lengths, costs.draft))


def round_milliseconds(costs: Costs, nodes: int, length: int) -> float:
    """What a round costs: its draft and its pass."""
    return pass_milliseconds(costs, nodes) + draft_milliseconds(costs, length)


def nodes_of(shape: Shape, single_path: bool) -> int:
    """Nodes that are verified: a single path has no more than positions."""
    return min(shape) if single_path else shape.budget


def largest(system: str, config: DecodeConfig) -> Shape:
    """The most that may be chosen for a pair; what ``config`` has where it has no curve."""
    curves = curves_of(system)
    if curves is None or curve_name(config) not in curves.tau:
        return Shape(config.budget, config.draft_length)
    return Shape(curves.budgets[-1], curves.lengths[-1])


def speeds(tuning: Tuning, single_path: bool, most: int) -> dict[Shape, float]:
    """Tokens per second of every shape of the curve whose costs lie between measured ones.

    ``most``: positions that a draft can cover.
    """
    costs, curve = tuning.costs, tuning.acceptance
    found = {}
    for length, row in zip(curve.lengths, curve.tau, strict=True):
        for budget, tau in zip(curve.budgets, row, strict=True):
            shape = Shape(budget, length)
            nodes = nodes_of(shape, single_path)
            if length <= min(most, costs.lengths[-1]) and nodes < costs.rows[-1]:
                found[shape] = 1000 * tau / round_milliseconds(costs, nodes, length)
    return found


def choose(found: dict[Shape, float]) -> Shape | None:
    """The fastest shape, the smallest of equals; ``None`` if there is none to choose from."""
    return max(sorted(found), key=found.__getitem__, default=None)
