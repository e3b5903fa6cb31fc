"""Every search is one record: which of the D levels × K candidates become the tree's B nodes.

The built-in ones are compiled (``presto.kernels.search``); a script registers its own with
``@presto.search``, and it runs in plain Python (``presto.plain``). Each declares how many rows of
scores it can open, and the row store holds it to that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from presto import film, plain
from presto.records import DecodeConfig
from presto.registry import OwnSetting, Registry, first_line, own_settings

if TYPE_CHECKING:
    from presto.kernels.problem import Problem
    from presto.kernels.rows import Rows

Compiled = Callable[["Problem", "Rows", DecodeConfig, int], np.ndarray]  # → node array [9, N + 1]
Plain = Callable[
    ..., Sequence[plain.Node]
]  # (space, **own settings) → nodes, the root not among them
Played = Callable[[plain.Space], film.Film]


@dataclass(frozen=True, eq=False)
class Search:
    """A search, for everything that lists, explains or runs one.

    ``rows(config)`` bounds the rows it can open. ``plain`` is called with a ``presto.plain.Space``;
    ``compiled`` does the same where the scores come from compiled rows or a table. ``film`` plays
    it step by step; of one without it is told what it opens and chooses.
    ``preset`` are the settings under which it is compared with others; ``None``: it is not.
    """

    name: str
    summary: str
    rows: Callable[[DecodeConfig], int]
    plain: Plain
    compiled: Compiled | None = None
    film: Played | None = None
    settings: tuple[OwnSetting, ...] = ()
    single_path: bool = False  # drafts one path instead of a tree
    nested: bool = False  # a smaller budget's tree is the beginning of a larger one's
    preset: Mapping[str, Any] | None = field(default_factory=dict)


def _linear(problem: "Problem", rows: "Rows", config: DecodeConfig, position: int) -> np.ndarray:
    from presto.kernels.search import linear

    return linear(problem, rows, drafted_ranks(problem.log_q, position, config))


def _beam(problem: "Problem", rows: "Rows", config: DecodeConfig, position: int) -> np.ndarray:
    from presto.kernels.search import beam

    return beam(problem, rows, config.budget, config.beam_width)


def _best_first(
    problem: "Problem", rows: "Rows", config: DecodeConfig, position: int
) -> np.ndarray:
    from presto.kernels.search import best_first

    return best_first(problem, rows, config.budget)


def drafted_ranks(log_q: np.ndarray, position: int, config: DecodeConfig) -> np.ndarray:
    """Which candidate linear drafting takes at each depth: the likeliest, or a sample.

    DFlash (arXiv 2602.06036) takes the likeliest. ``sampled_draft`` draws from the marginals at the
    run's temperature, as Nemotron-Labs-Diffusion's reference does, with noise of its own: the
    target's draw for the same position stays independent of it. ``log_q [D, K]`` are the marginals
    in units, ``position`` is the absolute position of the first drafted token.
    """
    from presto.kernels.noise import gumbel
    from presto.kernels.problem import PER_NAT

    length = min(config.budget, len(log_q))
    if not config.sampled_draft or config.temperature == 0:
        return np.zeros(length, np.int64)
    width = log_q.shape[1]
    places = np.arange(position, position + length)
    noise = gumbel(config.seed, places, width, stream=1)
    scores = log_q[:length] / PER_NAT / config.temperature + noise
    ranks: np.ndarray = scores.argmax(1)
    return ranks


BUILT_IN = (
    Search(
        "best_first",
        "Takes the best open node until the budget is used; with λ = 0 the heap of DDTree.",
        rows=lambda config: config.budget,
        plain=plain.best_first,
        compiled=_best_first,
        film=film.best_first,
        nested=True,
        preset=None,
    ),
    Search(
        "beam",
        "Keeps the best nodes of each depth, then the best of all (PRESTO's global retention).",
        rows=lambda config: config.draft_length * min(config.budget, config.beam_width),
        plain=plain.beam,
        compiled=_beam,
        film=film.beam,
        nested=True,
        preset=None,
    ),
    Search(
        "linear",
        "Takes one token per position: a single path, as DFlash drafts.",
        rows=lambda config: config.budget,
        plain=plain.linear,
        compiled=_linear,
        film=film.linear,
        single_path=True,
        nested=True,
        preset={"scorer": "blind"},
    ),
)
SEARCHES: Registry[Search] = Registry("search", "presto.searches", BUILT_IN)


def search(
    name: str,
    *,
    rows: Callable[[DecodeConfig], int] = lambda config: config.budget,
    summary: str = "",
    preset: Mapping[str, Any] | None = None,
) -> Callable[[Plain], Plain]:
    """Register the decorated function as the search ``name``.

    It is called with a ``presto.plain.Space`` and returns the nodes it chose, each after its
    parent, at most ``space.budget`` of them. ``space.children(node)`` opens a node: one row of
    scores, of which it may open ``rows(config)``. Keyword-only parameters with a default become
    settings of its own. ``preset``: settings under which it is compared with others.

    Example:
        >>> import presto
        >>> @presto.search("wide", rows=lambda config: 1)
        ... def wide(space):
        ...     '''Only the first level, best first.'''
        ...     children = space.children(space.root)
        ...     return sorted(children, key=lambda node: node.key)[: space.budget]
    """

    def register(function: Plain) -> Plain:
        said = summary or first_line(function) or f"{name}, from {function.__module__}"
        own = own_settings(function)
        SEARCHES.add(Search(name, said, rows, plain=function, settings=own, preset=preset or {}))
        return function

    return register


def preset_of(record: Search) -> dict[str, Any]:
    """Fields of ``DecodeConfig`` that choose the search as it is compared with others."""
    return {"search": record.name} | dict(record.preset or {})
