"""What a researcher types: ``import presto`` offers these functions, see ``presto.__init__``.

A loaded pair brings its tokenizer, chat template and n-gram table, so that the numbers are those of
the app and of the command line.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from presto.kernels.table import NgramTable
from presto.models.registry import Pair
from presto.models.tables import table_of
from presto.paths import ASSETS
from presto.records import DecodeConfig, Recording, Round, Trace, files
from presto.runs import runner
from presto.runs.counterfactuals import Alternative, replayed
from presto.runs.ends import RoundEnd
from presto.runs.ends import round_ends as ends_of
from presto.runs.requests import change_config, check_prompt, make_config, without_auto
from presto.runs.states import States
from presto.runs.sweep import BUDGETS, LAMS, SweepRow
from presto.runs.sweep import sweep as swept
from presto.runs.variants import Variant, find_variant


def _asked(pair: Pair, method: str, settings: dict[str, Any]) -> tuple[Variant, DecodeConfig, bool]:
    """The variant, its settings as the command line would have them for this pair, and whether
    budget and draft length are to be chosen.
    """
    variant = find_variant(method)
    settings, auto = without_auto(settings)
    given = {**pair.spec.usual, **variant.changes, **settings}
    if "stop" in given:
        given["stop"] = tuple(given["stop"])
    return variant, make_config(**given), auto


def decode(pair: Pair, prompt: str, *, method: str = "presto", **settings: Any) -> Iterator[Round]:
    """Decode ``prompt`` with ``pair``, one ``Round`` at a time; emits what the target would alone.

    ``method``: "presto", "presto+", "blind", "linear", "ar", or any scorer or search by name, which
    stands for PRESTO under its preset. ``settings`` are fields of ``DecodeConfig``; ``budget`` may
    be "auto": with the draft length it is chosen for this device. ``ValueError`` says in one
    sentence why a request cannot run, before any model call.

    Example:
        >>> import presto
        >>> pair = presto.load("smollm2-gated")
        >>> for round in presto.decode(pair, "Hi!", budget=16, max_new_tokens=8):
        ...     accepted = len(round.accepted)
    """
    variant, config, auto = _asked(pair, method, settings)
    return runner.rounds(pair, check_prompt(prompt), variant.method, config, auto)


def generate(pair: Pair, prompt: str, *, method: str = "presto", **settings: Any) -> Trace:
    """The same, as one finished ``Trace`` with ``.text``, ``.tau`` and ``.seconds``.

    Example:
        >>> import presto
        >>> pair = presto.load("smollm2-gated")
        >>> trace = presto.generate(pair, "Hi!", scorer="pmi", budget=16, max_new_tokens=8)
        >>> trace.tau >= 1
        True
    """
    variant, config, auto = _asked(pair, method, settings)
    return runner.finished(pair, check_prompt(prompt), variant.method, config, auto)


def _table(trace: Trace, pair: Pair | None) -> tuple[NgramTable | None, int | None]:
    """The n-gram table to replay ``trace`` with, and the size of the vocabulary if it is known."""
    if pair is None:
        return table_of(trace.system), None
    return pair.table, pair.system.vocab


def replay(trace: Trace, pair: Pair | None = None, **settings: Any) -> list[Alternative | None]:
    """What other settings would have had accepted at every state that a recorded run was in.

    Exact and without a model call; one entry per round, ``None`` where nothing was drafted. The
    n-gram table is that of ``pair``, by default the one that comes with the trace's pair.
    ``ValueError`` for a setting that would have changed the text or the marginals.

    Example:
        >>> import presto
        >>> trace = presto.load_recording("Fibonacci: code").traces[0]
        >>> own, blind = presto.replay(trace), presto.replay(trace, scorer="blind")
        >>> sum(r.committed for r in own) > sum(r.committed for r in blind)
        True
    """
    config = change_config(trace.config, settings)
    return list(replayed(trace, config, *_table(trace, pair)))


def sweep(
    trace: Trace,
    pair: Pair | None = None,
    *,
    lams: Sequence[float] = LAMS,
    budgets: Sequence[int] = BUDGETS,
    **settings: Any,
) -> list[SweepRow]:
    """Mean tokens per round over λ × budget at the states of a recorded run, a row per λ.

    Exact and without a model call, as ``replay`` is, with the same ``pair``, ``settings`` and
    errors. By default λ goes from 0 to 2 and the budget from 8 to 256.

    Example:
        >>> import presto
        >>> trace = presto.load_recording("Fibonacci: code").traces[0]
        >>> blind, own = presto.sweep(trace, lams=[0, 0.7], budgets=[16, 32])
        >>> own.lam, own.budgets, round(own.means[1], 2) == round(trace.tau, 2)
        (0.7, (16, 32), True)
    """
    config = change_config(trace.config, settings)
    return list(swept(States(trace, *_table(trace, pair)), config, lams, budgets))


def round_ends(trace: Trace, pair: Pair | None = None, **settings: Any) -> list[RoundEnd | None]:
    """Why each round of a recorded run ends: see ``presto.runs.ends`` for what each word means.

    Exact and without a model call, as ``replay`` is, with the same ``pair``, ``settings`` and
    errors; ``None`` where nothing was drafted.

    Example:
        >>> import presto
        >>> trace = presto.load_recording("Fibonacci: code").traces[0]
        >>> ends = presto.round_ends(trace)
        >>> len(ends) == len(trace.rounds), "top_k" in ends
        (True, True)
    """
    config = change_config(trace.config, settings)
    return list(ends_of(States(trace, *_table(trace, pair)), config))


def load_recording(source: str | Path) -> Recording:
    """A recording: a file that ``presto record`` wrote, or, by title, one that comes with us.

    ``ValueError`` says what is wrong with the file, or which titles there are.

    Example:
        >>> import presto
        >>> presto.load_recording("The sea: a poem").traces[0].method
        'presto'
    """
    if Path(source).is_file():
        return files.load_recording(Path(source))
    bundled = [files.load_recording(path) for path in sorted((ASSETS / "runs").glob("*.json.gz"))]
    found = next((recording for recording in bundled if recording.title == str(source)), None)
    if found is None:
        titles = ", ".join(repr(recording.title) for recording in bundled)
        raise ValueError(
            f"no file and no recorded run is called {str(source)!r}: there are {titles}"
        )
    return found
