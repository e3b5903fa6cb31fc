"""The search of a round as a film: what it takes at every step, every score as a sum of its parts,
what waits, and what each row of the tree-attention mask sees.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from presto.film import Film, Level, Step
from presto.plain import UNITS
from presto.plain import Node as Candidate
from presto.records import ROOT, DecodeConfig, Piece
from presto.records.tree import paths_to
from presto.runs.states import States
from presto.scorers import SCORERS, Scorer, presto_weights
from presto.searches import SEARCHES
from viz.formula import ROUNDING, decimal
from viz.replayed import replayed_view
from viz.text import full_label, label, path_text
from viz.view import RoundView

SHOWN = 12  # nodes of a beam's frontier that are named
TOTAL = "path score"
FIRST = "first: looked up"


class FilmRow(NamedTuple):
    """A candidate: its token, its depth, its path score and the ``parts`` that it is the sum of,
    the path above it, and its node in the finished tree (``None``: it is not taken).
    """

    token: str
    depth: int
    parts: tuple[str, ...]
    above: str
    node: int | None


class FilmStep(NamedTuple):
    """A step: the row it takes (``None``: none), how many are taken then, the rows that come next
    and how many wait in all, depths that a beam has opened, and the step in words.
    """

    row: int | None
    taken: int
    queue: tuple[int, ...]
    waiting: int
    levels: int
    sentence: str


class FilmLevel(NamedTuple):
    """A depth that a beam has opened: the rows of its frontier, and how many more there are."""

    depth: int
    rows: tuple[int, ...]
    more: int


class FilmInfo(NamedTuple):
    """A film in words and rows.

    ``heads`` name the ``parts`` of the rows; ``sees`` are the nodes that each node may see, the
    root first, by node, and ``seen`` the same in words.
    """

    view: RoundView
    budget: int
    heads: tuple[str, ...]
    rows: tuple[FilmRow, ...]
    steps: tuple[FilmStep, ...]
    levels: tuple[FilmLevel, ...]
    queue: str
    sees: tuple[tuple[int, ...], ...]
    seen: tuple[str, ...]
    mask: str


class _Terms:
    """How a scorer's score of a candidate is summed up."""

    def __init__(self, config: DecodeConfig, film: Film) -> None:
        self.config, self.scorer = config, SCORERS.find(config.scorer)
        told = [*film.nodes, *(node for level in film.levels for node in level.frontier)]
        self._totals = {(): 0} | {node.ranks: node.aligned for node in told}
        queued = [node for step in film.steps for node in step.queue]
        self.normalised = config.normalised and self.scorer.corrects
        self.counts_apart = any(node.priority != node.aligned for node in (*told, *queued))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parts, the path score before this node first."""
        return ("before", *_weighted(self.scorer), *["normalised"] * self.normalised)

    @property
    def heads(self) -> tuple[str, ...]:
        return (TOTAL, *["counts as"] * self.counts_apart, *self.names)

    def parts(self, node: Candidate) -> tuple[float, ...]:
        """In nats."""
        a, b = self.scorer.weights(node.depth, self.config.lam)
        before = self._totals[node.ranks[:-1]]
        weighted = (a * node.log_q, b * node.log_rho)[: len(_weighted(self.scorer))]
        rest = node.aligned - before - sum(weighted)
        parts = (before, *weighted, *[rest] * self.normalised)
        return tuple(part / UNITS for part in parts)

    def cells(self, node: Candidate) -> tuple[str, ...]:
        last = FIRST if node.priority > 0 else decimal(node.priority / UNITS)
        parts = map(decimal, self.parts(node))
        return (decimal(node.aligned / UNITS), *[last] * self.counts_apart, *parts)

    def sum(self, node: Candidate) -> str:
        """The path score as a sum, in words."""
        total = decimal(node.aligned / UNITS)
        named = [*zip(self.parts(node), self.names, strict=True)][node.depth == 1 :]
        (first, name), *others = named
        terms = [f"{decimal(first)} ({name})"]
        for value, other in others:
            terms.append(f"{'−' if value < -ROUNDING else '+'} {decimal(abs(value))} ({other})")
        words = f"Path score {total} = {' '.join(terms)}."
        if node.priority > 0:
            return f"{words} Prompt lookup found it, so that it comes before all others."
        if node.priority != node.aligned:
            return f"{words} It counts as {decimal(node.priority / UNITS)}, the least on its path."
        return words


def _weighted(scorer: Scorer) -> tuple[str, ...]:
    """What log q and log ρ are called with their weights."""
    if not scorer.corrects:
        return ("log q",)
    if scorer.weights is presto_weights:
        return "log q", "λ·log ρ"
    return ("log q", "log ρ") if scorer.formula == "log q + log ρ" else ("a·log q", "b·log ρ")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _opening(step: Step, levels: Sequence[Level]) -> str:
    """A step that takes no node, in words."""
    if not step.levels:
        return f"The search opens the root: {_count(step.waiting, 'candidate')} below it."
    level = levels[step.levels - 1]
    nodes = _count(level.opened, "node") if level.depth > 1 else "the root"
    candidates = _count(level.offered, "candidate")
    opened = f"Depth +{level.depth}: the beam opens {nodes}, {candidates}"
    best = f"the best {len(level.frontier)} of them"
    if step.levels < len(levels):
        return f"{opened}; {best} are opened next."
    return f"{opened}. Now the best of all depths are taken."


def _taking(step: Step, node: Candidate, terms: _Terms, pieces: Mapping[int, Piece]) -> str:
    """A step that takes ``node``, in words."""
    above = f"“{full_label(pieces[node.path[-2]])}”" if node.depth > 1 else "the root"
    budget = terms.config.budget
    end = ""
    if step.taken == budget:
        end = " The budget is used."
    elif not step.waiting:
        end = " Nothing is left to take."
    token = full_label(pieces[node.path[-1]])
    return f"Node {step.taken}: “{token}” below {above}, at +{node.depth}. {terms.sum(node)}{end}"


class _Rows:
    """The rows of all candidates that a film tells of, each once."""

    def __init__(self, film: Film, terms: _Terms, pieces: Mapping[int, Piece]) -> None:
        self.terms, self.pieces = terms, pieces
        self.rows = list[FilmRow]()
        self._nodes = {node.ranks: number for number, node in enumerate(film.nodes, start=1)}
        self._known = dict[tuple[int, ...], int]()

    def of(self, nodes: Sequence[Candidate]) -> tuple[int, ...]:
        return tuple(map(self._row, nodes))

    def _row(self, node: Candidate) -> int:
        if node.ranks not in self._known:
            self._known[node.ranks] = len(self.rows)
            row = FilmRow(
                token=label(self.pieces[node.path[-1]]),
                depth=node.depth,
                parts=self.terms.cells(node),
                above=path_text([self.pieces[token] for token in node.path[:-1]], 40),
                node=self._nodes.get(node.ranks),
            )
            self.rows.append(row)
        return self._known[node.ranks]


def _steps(film: Film, terms: _Terms, rows: _Rows) -> Iterator[FilmStep]:
    for step in film.steps:
        node = step.node
        if node is None:
            said, row = _opening(step, film.levels), None
        else:
            said, (row,) = _taking(step, node, terms, rows.pieces), rows.of([node])
        queue = rows.of(step.queue)
        yield FilmStep(row, step.taken, queue, step.waiting, step.levels, said)


def seen_by(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The nodes that each node's row of the tree-attention mask may see, the root first: its
    ancestors and itself.
    """
    return tuple(tuple(dict.fromkeys(row)) for row in paths_to(parents).tolist())


def _seen_words(view: RoundView, sees: Sequence[Sequence[int]]) -> tuple[str, ...]:
    words = []
    for row in view.nodes[: len(sees)]:
        between = len(sees[row.node]) - 2
        nodes = "the node" if between == 1 else f"the {between} nodes"
        above = f", {nodes} between" * (between > 0)
        what = "itself" if row.node == ROOT else f"the root{above} and itself"
        words.append(f"Row {row.node}, “{row.full}”, sees {what}.")
    return tuple(words)


def _get_film_info(states: States, index: int, config: DecodeConfig) -> FilmInfo | None:
    """The film of ``config`` at round ``index``; ``None`` where nothing was drafted."""
    film, found = states.film(index, config), states.replay(index, config)
    if film is None or found is None or not film.steps:
        return None
    view = replayed_view(states, index, found, config)
    terms = _Terms(config, film)
    rows = _Rows(film, terms, view.pieces)
    steps = tuple(_steps(film, terms, rows))
    levels = tuple(
        FilmLevel(level.depth, rows.of(level.frontier[:SHOWN]), len(level.frontier[SHOWN:]))
        for level in film.levels
    )
    sees = seen_by(found.tree.parents)
    single = SEARCHES.find(config.search).single_path
    earlier = _count(states.root(index), "token")
    return FilmInfo(
        view=view,
        budget=config.budget,
        heads=terms.heads,
        rows=tuple(rows.rows),
        steps=steps,
        levels=levels,
        queue="Candidates of the next position" if single else "Waiting, best first",
        sees=sees,
        seen=_seen_words(view, sees),
        mask=(
            "Tree attention: rows and columns are the nodes in the tree’s order; a row sees the "
            f"filled columns, and the {earlier} before the root as far as its layer looks back."
        ),
    )
