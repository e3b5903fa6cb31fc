"""How a run's budget and draft length were chosen: what a round costs on the device, and what
larger trees and longer drafts gain.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from presto.records.bounds import MAX_BUDGET, MAX_COMMITTED, MAX_DEPTH
from presto.records.config import STRICT

MAX_POINTS = 32  # of a curve
Points = Field(min_length=1, max_length=MAX_POINTS)
Rows = Annotated[int, Field(ge=1, le=1 + MAX_BUDGET)]
Budget = Annotated[int, Field(ge=1, le=MAX_BUDGET)]
Length = Annotated[int, Field(ge=1, le=MAX_DEPTH)]
Milliseconds = Annotated[float, Field(gt=0, le=1e9)]
Committed = Annotated[float, Field(ge=0, le=MAX_COMMITTED)]  # tokens per round
Lengths = Annotated[tuple[Length, ...], Points]
Budgets = Annotated[tuple[Budget, ...], Points]
Table = Annotated[tuple[Annotated[tuple[Committed, ...], Points], ...], Points]


def check_rising(**axes: tuple[int, ...]) -> None:
    """``ValueError`` names the first axis whose values do not rise."""
    for name, axis in axes.items():
        if list(axis) != sorted(set(axis)):
            raise ValueError(f"{name} must rise, got {list(axis)}")


@dataclass(frozen=True, config=STRICT)
class Costs:
    """Milliseconds of passes behind a short context: the least of a few.

    ``verify[i]``: the target's pass over a tree of ``rows[i]`` nodes, the root counted.
    ``draft[i]``: a draft of ``lengths[i]`` positions.
    """

    rows: Annotated[tuple[Rows, ...], Points]
    verify: Annotated[tuple[Milliseconds, ...], Points]
    lengths: Lengths
    draft: Annotated[tuple[Milliseconds, ...], Points]

    @model_validator(mode="after")
    def _matching(self) -> Self:
        check_rising(rows=self.rows, lengths=self.lengths)
        if (len(self.rows), len(self.lengths)) != (len(self.verify), len(self.draft)):
            raise ValueError("rows and verify, lengths and draft must have one length each")
        return self


@dataclass(frozen=True, config=STRICT)
class Acceptance:
    """Committed tokens per round, measured on other texts of the pair: ``tau[i][j]`` at
    ``lengths[i]`` drafted positions and a budget of ``budgets[j]`` nodes.
    """

    lengths: Lengths
    budgets: Budgets
    tau: Table

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        check_rising(lengths=self.lengths, budgets=self.budgets)
        widths = {len(row) for row in self.tau}
        if len(self.tau) != len(self.lengths) or widths != {len(self.budgets)}:
            raise ValueError("tau must be [lengths, budgets]")
        return self


@dataclass(frozen=True, config=STRICT)
class Tuning:
    """What was known when budget and draft length were chosen; the choice itself is the run's
    ``config``.
    """

    costs: Costs
    acceptance: Acceptance
