"""Every round's counterfactual: what other settings would have committed at the very states a
recorded run was in.

Exact and without a model (see ``presto.runs.replay``): trees are rebuilt from the recorded
marginals, with an n-gram model that has seen what the run's own had seen, and followed along the
text that the run went on to emit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Marginals, Round, Trace, Tree, changed
from presto.records.measures import len_committed, output_ids
from presto.runs.replay import counterfactual
from presto.runs.variants import alternatives
from presto.searches import SEARCHES

Changes = Mapping[str, Any]  # fields of ``DecodeConfig`` that an alternative sets otherwise
OWN = "this run"  # the run's own settings where no alternative has them
# What may differ. The other settings shape the text, the marginals (bidirectional: they depend on
# the draft's length) or the n-gram counts.
_FREE = frozenset(
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


class Alternative(NamedTuple):
    """What one setting would have made of a round's state. ``accepted`` are nodes of its ``tree``,
    root excluded.

    ``committed`` counts tokens: exact token (if any), accepted ones and bonus, cut at the end of
    the run's text. ``own``: these are the run's own settings.
    """

    name: str
    tree: Tree
    accepted: tuple[int, ...]
    committed: int
    own: bool = False


def lineup(
    config: DecodeConfig, compared: Mapping[str, Changes] | None = None
) -> dict[str, DecodeConfig]:
    """The settings compared in a run of ``config``; exactly one has the run's own, put first as
    ``OWN`` if need be.

    ``compared``: by default all variants (``presto.runs.variants.alternatives``). One that names
    no search keeps the run's own, best-first where the run drafts a single path. ``ValueError``
    names a change that a replay cannot follow, because it would change the text, the
    marginals or the counts.
    """
    compared = alternatives() if compared is None else compared
    single = SEARCHES.find(config.search).single_path
    base = replace(config, search=DecodeConfig().search) if single else config
    for name, changes in compared.items():
        if fixed := sorted(changes.keys() - _FREE):
            raise ValueError(
                f"the alternative {name!r} changes {fixed[0]}; a replay can change only "
                f"{', '.join(sorted(_FREE))}"
            )
    settings = {name: changed(base, changes) for name, changes in compared.items()}
    return settings if config in settings.values() else {OWN: config, **settings}


def counterfactuals(
    trace: Trace,
    table: NgramTable | None,
    compared: Mapping[str, Changes] | None = None,
    vocab: int | None = None,
) -> Iterator[tuple[Alternative, ...]]:
    """One tuple per round, an ``Alternative`` per setting of ``lineup``; empty where no marginals
    were recorded.

    ``table`` is the pair's, ``None`` if it has none: then ``vocab``, the size of its vocabulary,
    must be given. With another table than the run's the answers are not the run's: ``reproduced``
    tells. A setting with a larger ``top_k`` than was recorded is cut to what was recorded (``dart``
    wants 25 candidates, a run of ``top_k`` 16 leaves it 16). In a run that was stopped,
    ``committed`` of the last rounds is a lower bound, since the text ends there. ``ValueError`` if
    the vocabulary is unknown or too small for the run.
    """
    return _replays(trace, lineup(trace.config, compared), _ngram(trace.config, table, vocab))


def replayed(
    trace: Trace, config: DecodeConfig, table: NgramTable | None, vocab: int | None = None
) -> Iterator[Alternative | None]:
    """What ``config`` would have committed at each round's state, ``None`` without marginals.

    Arguments and errors as in ``counterfactuals``.
    """
    names = [field.name for field in fields(config)]
    other = {name for name in names if getattr(config, name) != getattr(trace.config, name)}
    if fixed := sorted(other - _FREE):
        raise ValueError(
            f"a replay cannot change {fixed[0]}, only {', '.join(sorted(_FREE))}: decode it instead"
        )
    for found in _replays(trace, {OWN: config}, _ngram(config, table, vocab)):
        yield found[0] if found else None


def reproduced(trace: Trace, table: NgramTable | None, vocab: int | None = None) -> bool:
    """Whether the run's own settings rebuild every recorded tree and accepted path exactly.

    Arguments and errors as in ``counterfactuals``. True for an autoregressive run: it has nothing
    to rebuild.
    """
    for round_, own in zip(trace.rounds, replayed(trace, trace.config, table, vocab), strict=True):
        rebuilt = (own.tree, own.accepted) if own else (Tree(round_.tree.tokens[:1]), ())
        if rebuilt != (round_.tree, round_.accepted):
            return False
    return True


def disagreements(
    trace: Trace, per_round: Sequence[tuple[Alternative, ...]], a: str, b: str
) -> list[int]:
    """Rounds in which the settings named ``a`` and ``b`` would have committed differently many
    tokens.

    Nodes accepted beyond the end of the run's text make no difference. ``ValueError`` for a name
    that was not compared or if there is not one tuple per round of ``trace``.
    """
    if len(per_round) != len(trace.rounds):
        raise ValueError(
            f"expected alternatives of {len(trace.rounds)} rounds, got {len(per_round)}"
        )
    result = []
    for number, found in enumerate(per_round):
        committed = {one.name: one.committed for one in found}
        if missing := {a, b} - committed.keys() if found else set():
            raise ValueError(
                f"no setting named {min(missing)!r} was compared; there are {', '.join(committed)}"
            )
        if found and committed[a] != committed[b]:
            result.append(number)
    return result


def _ngram(config: DecodeConfig, table: NgramTable | None, vocab: int | None) -> NgramModel:
    size = table.vocab if table is not None else vocab
    if size is None:
        raise ValueError("without an n-gram table the size of the vocabulary must be given")
    static = table if config.static_ngram else None
    return NgramModel(size, static, online=config.online_ngram, order=config.order)


def _replays(
    trace: Trace, settings: Mapping[str, DecodeConfig], ngram: NgramModel
) -> Iterator[tuple[Alternative, ...]]:
    text, end, seen = _known_text(trace), len(trace.prompt_ids) + len_committed(trace), 0
    names, widest = list(settings), trace.config.top_k
    own = next((name for name in names if settings[name] == trace.config), None)
    settings = {n: replace(c, top_k=min(c.top_k, widest)) for n, c in settings.items()}
    for round_ in trace.rounds:
        root = round_.start if round_.exact is not None else round_.start - 1
        ngram.extend(text[seen : root + 1])
        seen = root + 1
        if not _replayable(trace, round_):
            yield ()
            continue
        marginals = Marginals() if _exact_only(round_) else round_.marginals
        found = []
        for name in names:
            tree, accepted = counterfactual(marginals, text, root, ngram, settings[name])
            committed = min(root + len(accepted) + 2, end) - round_.start
            found.append(Alternative(name, tree, accepted, committed, name == own))
        yield tuple(found)


def _replayable(trace: Trace, round_: Round) -> bool:
    """Not an autoregressive step, nor a tree whose marginals were left out; a last round may have
    none of either.
    """
    drafted = len(round_.tree.tokens) > 1
    return bool(round_.marginals.token_ids) or (trace.method != "ar" and not drafted)


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
