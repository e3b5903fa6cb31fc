"""Every scorer is one record: what it is called, what it computes and how.

A node t at depth d under the prefix c scores ``a·log q_d(t) + b·log ρ(t | c)``, summed over its
path; PRESTO (arXiv 2607.22634) takes a = 1 and b = λ. A scorer says what ρ is:

- from n-gram counts (``FromCounts``): compiled, row by row;
- *pairwise*: a function of the round that returns ``log ρ [D, K, K]``, once per round. The compiled
  searches read it as a plain table;
- *by path*: a function of the round and of the tokens of a whole path that returns ``log ρ [K]``.
  It runs in plain Python (``presto.plain``).

A script registers its own with ``@presto.scorer``; nothing else needs to know of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from presto.registry import OwnSetting, Range, Registry, first_line, own_settings

if TYPE_CHECKING:
    from presto.kernels.ngram import NgramModel

Reading = Literal["nothing", "ngram", "pair", "path"]  # what a scorer looks at beside the marginals
CountFormula = Literal["one", "unigram", "implied", "dual", "learned"]


class Drafted(NamedTuple):
    """One round as a scorer of a script sees it. D positions, K candidates each.

    ``context`` are all committed tokens, the anchor last. ``tokens`` and ``log_q`` are ``[D, K]``,
    likeliest first, ``log_q`` in nats. ``hidden [D, H]`` are the drafter's last hidden states and
    ``pairs`` its own scores (``presto.decoding.protocols.Draft``), for scorers that ask for them
    (``needs_hidden``, ``needs_pairs``), else ``None``. ``settings`` are the scorer's own.
    """

    context: tuple[int, ...]
    tokens: np.ndarray
    log_q: np.ndarray
    ngram: "NgramModel"
    hidden: np.ndarray | None
    settings: Mapping[str, float]
    pairs: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    @property
    def parents(self) -> np.ndarray:
        """``[D, K]`` what may stand before each position: the anchor, then the candidates."""
        anchor = np.full_like(self.tokens[:1], self.context[-1])
        return np.vstack([anchor, self.tokens[:-1]])


class FromCounts(NamedTuple):
    """A correction that follows from n-gram counts by one of the compiled formulas.

    ρ = p(t | c) over 1, over p(t) (``unigram``), or over what the drafter's previous marginal
    implies of t; ``dual`` multiplies the ratio over p(t) by that of this run's own text alone;
    ``learned`` is a small network over the counts.
    """

    formula: CountFormula


Pairwise = Callable[..., np.ndarray]  # (drafted, **own settings) → log ρ [D, K of the parent, K]
ByPath = Callable[..., np.ndarray]  # (drafted, path tokens, **own settings) → log ρ [K]
Weights = Callable[[int, float], tuple[float, float]]  # (depth from 1, λ) → a, b


def presto_weights(depth: int, lam: float) -> tuple[float, float]:
    """s = log q + λ·log ρ at every depth (PRESTO, arXiv 2607.22634)."""
    return 1.0, lam


def full_weights(depth: int, lam: float) -> tuple[float, float]:
    """s = log q + log ρ, where ρ itself knows what it is worth."""
    return 1.0, 1.0


def dart_weights(depth: int, lam: float) -> tuple[float, float]:
    """s = d^-0.7 · (0.9^(d-1)·log q + 0.5·log p), without λ (DART, arXiv 2601.19278, its code)."""
    return depth**-0.7 * 0.9 ** (depth - 1), depth**-0.7 * 0.5


@dataclass(frozen=True, eq=False)
class Scorer:
    """A scorer, for everything that lists, explains or runs one.

    ``rho`` and ``formula`` are the formulas as text. ``preset`` are the settings (fields of
    ``DecodeConfig``) under which it is compared with others; ``None``: it is not compared.
    """

    name: str
    summary: str
    reads: Reading
    rho: str = "1"
    formula: str = "log q + λ·log ρ"
    log_rho: FromCounts | Pairwise | ByPath | None = None
    settings: tuple[OwnSetting, ...] = ()
    uses_lam: bool = True
    corrects_first: bool = True  # whether ρ means anything on the tree's first level
    needs_hidden: bool = False
    needs_pairs: bool = False
    weights: Weights = presto_weights
    preset: Mapping[str, Any] | None = field(default_factory=dict)

    @property
    def reads_drafter(self) -> bool:
        """Whether it needs more of the drafter than a record holds."""
        return self.needs_hidden or self.needs_pairs

    @property
    def corrects(self) -> bool:
        """Whether it scores otherwise than the marginals alone do."""
        return self.reads != "nothing"


def _ngram(name: str, counted: CountFormula, summary: str, rho: str, **more: Any) -> Scorer:
    return Scorer(name, summary, "ngram", rho, log_rho=FromCounts(counted), **more)


def _markov(drafted: Drafted, *, ngram: float) -> np.ndarray:
    """The drafter's own pair scores, and ``ngram`` times the ratio of the last token alone."""
    assert drafted.pairs is not None
    own = drafted.pairs(drafted.parents, drafted.tokens)
    if not ngram:
        return own
    return own + ngram * drafted.ngram.pair_ratios(drafted.parents, drafted.tokens)


BUILT_IN = (
    Scorer(
        "blind",
        "The drafter's marginals alone; the ranking of DDTree.",
        "nothing",
        formula="log q",
        uses_lam=False,
        corrects_first=False,
        preset={},
    ),
    _ngram(
        "product",
        "one",
        "The n-gram probability itself as the correction.",
        "p(t|c)",
        preset={"lam": 0.5, "normalised": True},
    ),
    _ngram(
        "pmi",
        "unigram",
        "How much likelier the prefix makes the token: the pointwise mutual information.",
        "p(t|c) / p(t)",
        preset={"lam": 0.7, "normalised": True},
    ),
    _ngram(
        "mixture",
        "implied",
        "The n-gram probability over what the drafter's own previous marginal implies.",
        "p(t|c) / Σ_b q(b)·p(t|b)",
        corrects_first=False,
        preset={"lam": 1.0, "normalised": True},
    ),
    _ngram(
        "dart",
        "one",
        "DART's preset: n-gram log-probabilities that fade with depth (arXiv 2601.19278).",
        "p(t|c)",
        formula="d^−0.7 · (0.9^(d−1)·log q + 0.5·log ρ)",
        uses_lam=False,
        corrects_first=False,
        weights=dart_weights,
        preset={"normalised": False, "search": "beam", "beam_width": 20, "top_k": 25},
    ),
    _ngram(
        "dual",
        "dual",
        "Two ratios: of all text, and of this run's own text alone, which a large table drowns.",
        "p(t|c) / p(t) · (p_run(t|c) / p_run(t))^online",
        settings=(OwnSetting("online", 1.0, Range(0, 4, "Weight of the run's own ratio.")),),
        preset={"lam": 0.5, "normalised": True},
    ),
    _ngram(
        "learned",
        "learned",
        "A small network that learned what counts are worth, from text the target wrote.",
        "(p(t|c) / p(t))^0.7 · e^net(counts)",
        formula="log q + log ρ",
        uses_lam=False,
        weights=full_weights,
        preset={"normalised": True},
    ),
    Scorer(
        "markov",
        "The drafter's own score of a token after the one before it, where it has one (DSpark, "
        "DFlash 2).",
        "pair",
        "p_drafter(t|b) / q(t) · (p(t|b) / p(t))^ngram",
        log_rho=_markov,
        settings=(OwnSetting("ngram", 0.0, Range(0, 4, "Weight of the n-gram ratio beside it.")),),
        needs_pairs=True,
        preset={"lam": 1.0, "normalised": True},
    ),
)
SCORERS: Registry[Scorer] = Registry("scorer", "presto.scorers", BUILT_IN)


def scorer(
    name: str,
    *,
    by: Literal["pair", "path"] = "pair",
    summary: str = "",
    rho: str = "",
    **more: Any,
) -> Callable[[Callable[..., np.ndarray]], Callable[..., np.ndarray]]:
    """Register the decorated function as the scorer ``name``.

    ``by="pair"``: it is called once per round with a ``Drafted`` and returns ``log ρ [D, K, K]``:
    position, rank of the token before (0 at the first position), rank of the token.
    ``by="path"``: it is called per node with a ``Drafted`` and the tokens of the path below the
    anchor, and returns ``log ρ [K]`` of the next position's candidates. Both in nats; what is not
    finite is refused. Keyword-only parameters with a default become settings of its own. ``more``
    are further fields of ``Scorer``.

    Example:
        >>> import numpy as np
        >>> import presto
        >>> @presto.scorer("no_repeat")
        ... def no_repeat(drafted, *, cost: float = 2.0):
        ...     '''A token that repeats the one before it loses.'''
        ...     return -cost * (drafted.parents[:, :, None] == drafted.tokens[:, None, :])
    """

    def register(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        said = summary or first_line(function) or f"{name}, from {function.__module__}"
        own = own_settings(function)
        SCORERS.add(Scorer(name, said, by, rho or name, log_rho=function, settings=own, **more))
        return function

    return register


def preset_of(record: Scorer) -> dict[str, Any]:
    """Fields of ``DecodeConfig`` that choose the scorer as it is compared with others."""
    return {"scorer": record.name} | dict(record.preset or {})
