"""The draft tree of a round: the settings' scorer and search, run on a drafter's marginals."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from presto import film, plain
from presto.kernels.candidates import Candidates, as_recorded, candidates_of
from presto.kernels.counts import check_tokens
from presto.kernels.learned import NETWORK_FILE, Networks, load_networks
from presto.kernels.ngram import NgramModel
from presto.kernels.problem import FORMULAS, LEARNED, NOTHING, PER_NAT, Problem, Rule, problem_of
from presto.kernels.rows import NO_WEIGHTS, Rows, blind_rows, known_row, ngram_rows, table_rows
from presto.kernels.scoring import compute_row
from presto.kernels.search import ALIGNED, BLIND, DEPTH, LOG_RHO, PARENT, RANK
from presto.paths import ASSETS
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.bounds import MAX_DEPTH
from presto.registry import checked
from presto.scorers import SCORERS, Drafted, FromCounts, Scorer
from presto.searches import SEARCHES, Search, drafted_ranks

LIMIT = 1e4  # nats: a larger correction is cut, as in records
NO_PAIRS = (
    "needs a drafter that scores a token by the one before it: a recording or this pair has none"
)
PairScores = Callable[[np.ndarray, np.ndarray], np.ndarray]


def check_installed(config: DecodeConfig) -> None:
    """``ValueError`` unless scorer and search are installed here and have the settings named."""
    checked(SCORERS.find(config.scorer), config.scorer_settings)
    checked(SEARCHES.find(config.search), config.search_settings)


class SearchTimes(NamedTuple):
    """Seconds of one ``build_tree``: ``score`` for arrays and rows, ``search`` for the rest."""

    score: float
    search: float


@dataclass(frozen=True)
class Task:
    """What a tree is built from, checked."""

    candidates: Candidates
    context: Sequence[int]
    ngram: NgramModel
    config: DecodeConfig
    scorer: Scorer
    search: Search
    hidden: np.ndarray | None = None
    pairs: PairScores | None = None


def build_tree(
    marginals: Marginals,
    context: Sequence[int],
    ngram: NgramModel,
    config: DecodeConfig,
    hidden: np.ndarray | None = None,
    pairs: PairScores | None = None,
) -> tuple[Tree, SearchTimes]:
    """The draft tree below ``context[-1]``, the last committed token.

    It has at most ``budget`` nodes below the root. ``hidden [D, H]`` are the drafter's hidden
    states and ``pairs`` its own scores, for scorers that need them. ``ValueError`` for a scorer or
    search that is not installed, tokens outside the vocabulary, and scores or trees of a script
    that are none.
    """
    began = time.perf_counter()
    task = _task(marginals, context, ngram, config, hidden, pairs)
    if task is None:
        return Tree(tokens=(context[-1],)), SearchTimes(0.0, 0.0)
    tree, scored = _grow(task)
    tree = as_recorded(tree, task.candidates)
    return tree, SearchTimes(scored, time.perf_counter() - began - scored)


def film_tree(
    marginals: Marginals,
    context: Sequence[int],
    ngram: NgramModel,
    config: DecodeConfig,
    hidden: np.ndarray | None = None,
    pairs: PairScores | None = None,
) -> film.Film:
    """How the search comes to the tree of ``build_tree``, step by step; without steps where nothing
    was drafted. Arguments and errors are the same.
    """
    task = _task(marginals, context, ngram, config, hidden, pairs)
    if task is None:
        return film.Film(())
    space, search = _space(task, _row(task)), task.search
    if search.film is not None:
        return search.film(space)
    own = checked(search, config.search_settings)
    return film.watched(space, lambda space: search.plain(space, **own))


def _task(
    marginals: Marginals,
    context: Sequence[int],
    ngram: NgramModel,
    config: DecodeConfig,
    hidden: np.ndarray | None,
    pairs: PairScores | None,
) -> Task | None:
    """What the tree is built from; ``None`` where nothing was drafted."""
    if not len(context):
        raise ValueError("the context must hold at least the last committed token")
    scorer, search = SCORERS.find(config.scorer), SEARCHES.find(config.search)
    if not any(marginals.token_ids):
        return None
    candidates = candidates_of(marginals, config, context)
    return Task(candidates, context, ngram, config, scorer, search, hidden, pairs)


def _grow(task: Task) -> tuple[Tree, float]:
    """The tree and the seconds spent on scores."""
    if task.search.compiled is None or task.scorer.reads == "path":
        return _in_python(task)
    began = time.perf_counter()
    problem = _problem(task)
    rows = _rows(task, problem)
    prepared = time.perf_counter() - began
    nodes = task.search.compiled(problem, rows, task.config, len(task.context))
    return _tree(problem, nodes), prepared + float(rows.spent[0])


def _problem(task: Task) -> Problem:
    """The kernels' view of the round."""
    counts = task.ngram.counts
    if task.config.order != counts.order:
        counts = counts._replace(order=task.config.order)
    return problem_of(task.candidates, task.context, counts, _rule(task))


def _rule(task: Task) -> Rule:
    scorer, config = task.scorer, task.config
    ratio = scorer.log_rho
    return Rule(
        weights=_weights(scorer, config.lam)[: len(task.candidates.tokens)],
        correct_first=config.correct_first and scorer.corrects_first,
        normalised=config.normalised and ratio is not None,
        ngram=FORMULAS[ratio.formula] if isinstance(ratio, FromCounts) else NOTHING,
        online=checked(scorer, config.scorer_settings).get("online", 0.0),
    )


@cache
def count_networks() -> Networks:
    """The weights of the scorer ``learned`` that come with the project."""
    return load_networks(ASSETS / "ngram" / NETWORK_FILE)


@lru_cache(maxsize=64)
def _weights(scorer: Scorer, lam: float) -> np.ndarray:
    """The weights of log q and log ρ at every depth there may be."""
    return np.array([scorer.weights(depth, lam) for depth in range(1, MAX_DEPTH + 1)])


def _rows(task: Task, problem: Problem) -> Rows:
    """The scores: computed as the search asks for them, or all at once where they are a table."""
    if task.scorer.reads == "ngram":
        weights = NO_WEIGHTS
        if problem.ngram == LEARNED:
            weights = count_networks()[0 if problem.counts.total else 1]
        return ngram_rows(problem, task.search.rows(task.config), weights)
    if task.scorer.reads == "pair":
        return table_rows(problem, _pair_table(task))
    return blind_rows(problem)


def _drafted(task: Task) -> Drafted:
    """The round as a script's scorer sees it."""
    if task.scorer.needs_hidden and task.hidden is None:
        raise ValueError(
            f"the scorer {task.scorer.name} needs the drafter's hidden states, "
            "which are not there: a recording or this pair does not hold them"
        )
    if task.scorer.needs_pairs and task.pairs is None:
        raise ValueError(f"the scorer {task.scorer.name} {NO_PAIRS}")
    return Drafted(
        context=tuple(task.context),
        tokens=check_tokens(task.candidates.tokens, task.ngram.counts.vocab),
        log_q=np.array(task.candidates.log_q, np.float64),
        ngram=task.ngram,
        hidden=None if task.hidden is None else task.hidden[: len(task.candidates.tokens)],
        settings=checked(task.scorer, task.config.scorer_settings),
        pairs=task.pairs,
    )


def _pair_table(task: Task) -> np.ndarray:
    drafted = _drafted(task)
    depth, width = drafted.tokens.shape
    log_rho = _scores(task.scorer, (depth, width, width), drafted)
    # Whatever the order of a script's array: the kernels are compiled for this one.
    table: np.ndarray = np.ascontiguousarray(np.rint(log_rho * PER_NAT), np.int64)
    return table


def _scores(scorer: Scorer, shape: tuple[int, ...], drafted: Drafted, *more: object) -> np.ndarray:
    """What a script's scorer returns: log ρ of ``shape`` in nats, finite, within ``LIMIT``."""
    assert callable(scorer.log_rho)
    result = np.asarray(scorer.log_rho(drafted, *more, **drafted.settings), np.float64)
    if result.shape != shape:
        raise ValueError(
            f"the scorer {scorer.name} must return log ρ of shape {shape}, got {result.shape}"
        )
    if not np.isfinite(result).all():
        raise ValueError(f"the scorer {scorer.name} returned a log ρ that is not finite")
    clipped: np.ndarray = result.clip(-LIMIT, LIMIT)
    return clipped


def _in_python(task: Task) -> tuple[Tree, float]:
    """A script's search, or a search over a script's scores of whole paths."""
    spent = 0.0
    row = _row(task)

    def timed(node: plain.Node) -> plain.Row:
        nonlocal spent
        began = time.perf_counter()
        result = row(node)
        spent += time.perf_counter() - began
        return result

    space = _space(task, timed)
    nodes = task.search.plain(space, **checked(task.search, task.config.search_settings))
    return plain.tree_of(task.context[-1], list(nodes), task.config.budget), spent


def _row(task: Task) -> Callable[[plain.Node], plain.Row]:
    """The scores of a node's children, for a search in plain Python."""
    return _path_rows(task) if task.scorer.reads == "path" else _compiled_rows(task)


def _space(task: Task, row: Callable[[plain.Node], plain.Row]) -> plain.Space:
    offered, config = task.candidates, task.config
    log_q = plain.in_units(offered.log_q)
    ranks = drafted_ranks(np.array(log_q), len(task.context), config)
    most = task.search.rows(config)
    return plain.Space(offered.tokens, log_q, row, config, most, offered.found, ranks.tolist())


def _path_rows(task: Task) -> Callable[[plain.Node], plain.Row]:
    """Rows of a scorer that is given whole paths."""
    drafted, config, scorer = _drafted(task), task.config, task.scorer
    log_q = plain.in_units(task.candidates.log_q)
    first = config.correct_first and scorer.corrects_first

    def row(node: plain.Node) -> plain.Row:
        width = len(log_q[node.depth])
        known = node.depth > 0 or first
        log_rho = _scores(scorer, (width,), drafted, node.path) if known else np.zeros(width)
        weights = scorer.weights(node.depth + 1, config.lam)
        return plain.formula_row(log_q[node.depth], log_rho.tolist(), weights, config.normalised)

    return row


def _compiled_rows(task: Task) -> Callable[[plain.Node], plain.Row]:
    """Rows of any other scorer, from the store that the compiled searches read."""
    problem = _problem(task)
    rows = _rows(task, problem)

    def row(node: plain.Node) -> plain.Row:
        grand, parent = (0, 0, *node.ranks)[-2:]
        index = known_row(rows, node.depth, grand, parent)
        if index < 0:
            index = compute_row(problem, rows, node.depth, grand, parent)
        return plain.Row(rows.log_rho[index].tolist(), rows.increment[index].tolist())

    return row


def _tree(problem: Problem, nodes: np.ndarray) -> Tree:
    places = (nodes[DEPTH, 1:] - 1) * problem.tokens.shape[1] + nodes[RANK, 1:]
    scores = nodes[[LOG_RHO, BLIND, ALIGNED]] / PER_NAT
    return Tree(
        (problem.anchor, *problem.tokens.take(places).tolist()),
        tuple(nodes[PARENT].tolist()),
        tuple(nodes[RANK].tolist()),
        (0.0, *(problem.log_q.take(places) / PER_NAT).tolist()),
        *map(tuple, scores.tolist()),
    )


def warm_up() -> None:
    """Compile all kernels, or load them from the cache on disk."""
    ngram, drafted = NgramModel(2), Marginals(((0, 1),), ((-0.69315, -0.69315),))
    ngram.extend([0] * 1000)  # enough to outgrow the first hash table
    ngram.logprob([0], 1)
    config = DecodeConfig(budget=1, lookup=1)
    for name, search in SEARCHES.items():
        if search.compiled is not None:
            build_tree(drafted, [0], ngram, replace(config, search=name))
    # A script's search reads rows one by one.
    scripted = replace(SEARCHES["linear"], compiled=None)
    candidates, scorer = candidates_of(drafted, config, [0]), SCORERS[config.scorer]
    _grow(Task(candidates, [0], ngram, config, scorer, scripted))
