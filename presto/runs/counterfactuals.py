"""Every round's counterfactual: what other settings would have committed at the very states a
recorded run was in.

Exact and without a model (see ``presto.runs.states``): trees are rebuilt from the recorded
marginals, with an n-gram model that has seen what the run's own had seen, and followed along the
text that the run went on to emit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Trace, Tree, changed
from presto.runs.states import FREE, States, check_free
from presto.runs.variants import alternatives
from presto.searches import SEARCHES

Changes = Mapping[str, Any]  # fields of ``DecodeConfig`` that an alternative sets otherwise
OWN = "this run"  # the run's own settings where no alternative has them


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
        if fixed := sorted(changes.keys() - FREE):
            raise ValueError(
                f"the alternative {name!r} changes {fixed[0]}; a replay can change only "
                f"{', '.join(sorted(FREE))}"
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
    return _replays(States(trace, table, vocab), lineup(trace.config, compared))


def replayed(
    trace: Trace, config: DecodeConfig, table: NgramTable | None, vocab: int | None = None
) -> Iterator[Alternative | None]:
    """What ``config`` would have committed at each round's state, ``None`` without marginals.

    Arguments and errors as in ``counterfactuals``.
    """
    check_free(config, trace.config)
    states = States(trace, table, vocab)
    for found in _replays(states, {OWN: config}):
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


def _replays(
    states: States, settings: Mapping[str, DecodeConfig]
) -> Iterator[tuple[Alternative, ...]]:
    names = list(settings)
    own = next((name for name in names if settings[name] == states.trace.config), None)
    for index in range(len(states)):
        found = []
        for name in names:
            if one := states.replay(index, settings[name]):
                found.append(Alternative(name, *one, own=name == own))
        yield tuple(found)
