"""Finished runs that were not recorded, by the key that only their own page knows: the newest ones,
for as long as there is room.
"""

from collections import OrderedDict
from threading import Lock

from presto.records import Trace
from ui.environment import limit

KEPT = 500_000  # nodes and candidates of all of them together: PRESTO_KEPT_RUNS
_lock = Lock()
_runs: OrderedDict[str, Trace] = OrderedDict()


def keep(key: str, trace: Trace) -> None:
    """Keep a run; the oldest others go where there is no room for them."""
    with _lock:
        _runs[key] = trace
        _runs.move_to_end(key)
        room = limit("PRESTO_KEPT_RUNS", KEPT)
        while len(_runs) > 1 and sum(map(size_of, _runs.values())) > room:
            _runs.popitem(last=False)


def kept(key: str) -> Trace | None:
    """The run of that key, ``None`` if it is gone."""
    with _lock:
        return _runs.get(key)


def size_of(trace: Trace) -> int:
    """Nodes and candidates of a run, which take up nearly all of its memory."""
    return sum(
        len(round_.tree.tokens) + sum(map(len, round_.marginals.token_ids))
        for round_ in trace.rounds
    )
