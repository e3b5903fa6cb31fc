"""The states that a recorded run was in, one per round: a tree of any settings can be built there.

Exact and without a model: the marginals are recorded, the text is known, and an n-gram model counts
what the run's own had counted. Counting a text anew costs less than a millisecond per thousand
tokens, so a round in the middle of a run is as near as the first.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from presto.build import film_tree
from presto.film import Film
from presto.kernels.candidates import candidates_of
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Marginals, Round, Trace, Tree
from presto.records.measures import len_committed, output_ids
from presto.runs.replay import counterfactual

# What may differ. The other settings shape the text, the marginals (bidirectional: they depend on
# the draft's length) or the n-gram counts.
FREE = frozenset(
    (
        "scorer",
        "normalised",
        "search",
        "lam",
        "order",
        "budget",
        "top_k",
        "beam_width",
        "lookup",
        "correct_first",
        "sampled_draft",
        "scorer_settings",
        "search_settings",
    )
)


class Replayed(NamedTuple):
    """The tree of some settings at a round's state and the nodes the target would have accepted,
    root excluded.

    ``committed`` counts tokens: exact token (if any), accepted ones and bonus, cut at the end of
    the run's text.
    """

    tree: Tree
    accepted: tuple[int, ...]
    committed: int


def check_free(config: DecodeConfig, own: DecodeConfig) -> None:
    """``ValueError`` unless ``config`` differs from a run's ``own`` settings only in ``FREE``."""
    names = [field.name for field in fields(config)]
    other = {name for name in names if getattr(config, name) != getattr(own, name)}
    if fixed := sorted(other - FREE):
        raise ValueError(
            f"a replay cannot change {fixed[0]}, only {', '.join(sorted(FREE))}: decode it instead"
        )


class States:
    """The states of ``trace``, by the numbers of its rounds.

    ``table`` is the pair's, ``None`` if it has none: then ``vocab``, the size of its vocabulary,
    must be given. Not for two threads at once: the n-gram model goes along.
    """

    def __init__(self, trace: Trace, table: NgramTable | None, vocab: int | None = None) -> None:
        size = table.vocab if table is not None else vocab
        if size is None:
            raise ValueError("without an n-gram table the size of the vocabulary must be given")
        self.trace, self.vocab = trace, size
        self.text = _known_text(trace)
        self.end = len(trace.prompt_ids) + len_committed(trace)  # of the run's own text
        self._table = table if trace.config.static_ngram else None
        self._ngram, self._seen = self._uncounted(), 0

    def __len__(self) -> int:
        return len(self.trace.rounds)

    def replay(self, index: int, config: DecodeConfig) -> Replayed | None:
        """What ``config`` would have made of round ``index``; ``None`` if nothing was drafted.

        ``ValueError`` for tokens outside of the vocabulary. Whether a replay may change what
        ``config`` changes is ``check_free``'s to say.
        """
        if not self.is_drafted(index):
            return None
        root = self.root(index)
        ngram, config = self._counted(root + 1), self.recorded(config)
        tree, accepted = counterfactual(self.marginals(index), self.text, root, ngram, config)
        return Replayed(tree, accepted, self.committed(index, len(accepted)))

    def film(self, index: int, config: DecodeConfig) -> Film | None:
        """How the search of ``config`` builds its tree in round ``index``; as for ``replay``."""
        if not self.is_drafted(index):
            return None
        root, config = self.root(index), self.recorded(config)
        context = self.text[: root + 1]
        return film_tree(self.marginals(index), context, self._counted(root + 1), config)

    def recorded(self, config: DecodeConfig) -> DecodeConfig:
        """``config`` with no more candidates than the run had: behind them stands only what was
        looked up.
        """
        return replace(config, top_k=min(config.top_k, self.trace.config.top_k))

    def root(self, index: int) -> int:
        """The place in the text of the token below which round ``index`` drafts."""
        round_ = self.trace.rounds[index]
        return round_.start if round_.exact is not None else round_.start - 1

    def is_drafted(self, index: int) -> bool:
        """Whether there is something to replay: not in an autoregressive step, nor where a tree's
        marginals were left out; a last round may have none of either.
        """
        round_ = self.trace.rounds[index]
        drafted = len(round_.tree.tokens) > 1
        return bool(round_.marginals.token_ids) or (self.trace.method != "ar" and not drafted)

    def marginals(self, index: int) -> Marginals:
        """The candidates of round ``index``; none where the run ended with the drafting pass's
        exact token, because no tree is built there, whatever the settings.
        """
        round_ = self.trace.rounds[index]
        return Marginals() if _exact_only(round_) else round_.marginals

    def candidates(self, index: int, config: DecodeConfig) -> Sequence[Sequence[int]]:
        """``[D, K]`` the tokens that a tree of ``config`` may hold in round ``index``."""
        context = self.text[: self.root(index) + 1]
        return candidates_of(self.marginals(index), self.recorded(config), context).tokens

    def committed(self, index: int, accepted: int) -> int:
        """Tokens that round ``index`` commits when so many drafted ones are accepted."""
        start = self.trace.rounds[index].start
        return min(self.root(index) + accepted + 2, self.end) - start

    def _uncounted(self) -> NgramModel:
        config = self.trace.config
        return NgramModel(self.vocab, self._table, online=config.online_ngram, order=config.order)

    def _counted(self, length: int) -> NgramModel:
        """The n-gram model that has seen the text's first ``length`` tokens."""
        if length < self._seen:
            self._ngram, self._seen = self._uncounted(), 0
        self._ngram.extend(self.text[self._seen : length])
        self._seen = length
        return self._ngram


def _exact_only(round_: Round) -> bool:
    """Whether the run ended with the drafting pass's exact token: no tree was built, whatever the
    settings.
    """
    return round_.exact is not None and len(round_.committed) < 2


def _known_text(trace: Trace) -> list[int]:
    """Prompt and output, and what the last round tells of the text beyond: tokens accepted after
    the run's end.
    """
    text = [*trace.prompt_ids, *output_ids(trace)]
    if not trace.rounds or _exact_only(trace.rounds[-1]):
        return text
    last = trace.rounds[-1]
    exact = [] if last.exact is None else [last.exact]
    drawn = [*exact, *(last.tree.tokens[node] for node in last.accepted), last.choice.token]
    return [*text, *drawn[len(last.committed) :]]
