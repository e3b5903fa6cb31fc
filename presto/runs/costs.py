"""What passes of a loaded pair cost on this device: measured once, in a second or two, and kept.

The file lies in the cache folder under a name made from all that the figures depend on. One that is
damaged is measured anew; a folder that cannot be written only costs the next process the same
seconds.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import torch
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from presto.decoding.protocols import Session, System
from presto.models.device import may_record
from presto.models.registry import Pair
from presto.paths import cache_folder
from presto.records import STRICT, DecodeConfig, Tree
from presto.records.tuning import Costs
from presto.records.writing import write_whole
from presto.runs.versions import versions, where

ROWS, LENGTHS = (1, 9, 17, 33, 65, 129), (4, 10, 16)  # of the trees and drafts that are timed
# Larger trees are left out once a pass costs so many times that of one row: doubling the budget
# gains a tenth more tokens at best.
FAR = 3.0
ALWAYS = 33  # rows that are timed all the same: one slow pass on a busy machine tells nothing
CONTEXT = 64  # tokens before the passes
PASSES = 3  # of every size, after one that is not counted
BRANCH = 8  # depth of the timed trees
ROOM = 1 + (PASSES + 1) * (len(ROWS) + len(LENGTHS))  # positions that the passes take up


@dataclass(frozen=True, config=STRICT)
class Kept:
    """A file of the cache: the figures, and all that they depend on."""

    of: dict[str, str]
    costs: Costs


_KEPT = TypeAdapter(Kept)
_known: dict[str, Costs] = {}  # by the text of ``Kept.of``


def costs_of(pair: Pair) -> Costs:
    """The pair's costs on this device, measured unless they are known."""
    of = _depends_on(pair)
    key = _key(of)
    _known[key] = _recalled(of, key) or _measured(pair, of, key)
    return _known[key]


def are_known(pair: Pair) -> bool:
    """Whether ``costs_of`` need not measure."""
    of = _depends_on(pair)
    return _recalled(of, _key(of)) is not None


def _recalled(of: dict[str, str], key: str) -> Costs | None:
    return _known.get(key) or _read(of, key)


def _key(of: dict[str, str]) -> str:
    return json.dumps(of, sort_keys=True)


def _depends_on(pair: Pair) -> dict[str, str]:
    system = pair.system
    return {
        **where(system),
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "graphs": str(may_record(system.device)),
        **{f"model {role}": source for role, source in pair.models},
        **{f"version {name}": version for name, version in versions().items()},
    }


def _path(key: str) -> Path:
    return cache_folder() / "costs" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _read(of: dict[str, str], key: str) -> Costs | None:
    """What the cache holds; ``None`` if that is nothing, damaged or of something else."""
    with suppress(OSError, ValueError):
        kept = _KEPT.validate_json(_path(key).read_bytes())
        return kept.costs if kept.of == of else None
    return None


def _measured(pair: Pair, of: dict[str, str], key: str) -> Costs:
    costs = measure(pair.system)
    with suppress(OSError, ValueError):
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _KEPT.dump_json(Kept(of, costs), indent=1) + b"\n")
    return costs


def measure(system: System) -> Costs:
    """Time drafts and target passes of all sizes in turn, and take the least of each: what else the
    machine does can only add to it.
    """
    prompt = tuple(token % system.vocab for token in range(CONTEXT))
    room = system.context - CONTEXT - ROOM
    session = system.start(prompt, CONTEXT + ROOM + ROWS[-1] + LENGTHS[-1] + 1)
    rows = list(_worth_timing(system, session, [n for n in ROWS if n <= max(1, room)]))
    lengths = sorted({min(length, system.max_draft) for length in LENGTHS})
    for length in lengths:
        _draft(system, session, length)
    spent = [
        (
            [_verify(system, session, size) for size in rows],
            [_draft(system, session, length) for length in lengths],
        )
        for _ in range(PASSES)
    ]
    verify, draft = (
        _rising([max(1e-3, round(min(times), 3)) for times in zip(*part, strict=True)])
        for part in zip(*spent, strict=True)
    )
    return Costs(tuple(rows), verify, tuple(lengths), draft)


def _rising(times: Sequence[float]) -> tuple[float, ...]:
    """Times by size; a smaller pass costs no more than a larger one, whatever was measured."""
    return tuple(min(times[i:]) for i in range(len(times)))


def _worth_timing(system: System, session: Session, sizes: list[int]) -> Iterator[int]:
    """The sizes up to the first that costs too much; each is run once on the way."""
    _verify(system, session, sizes[0])
    first = _verify(system, session, sizes[0])
    for size in sizes:
        yield size
        if _verify(system, session, size) > FAR * first and size >= ALWAYS:
            return


def _verify(system: System, session: Session, rows: int) -> float:
    """Milliseconds to verify a tree of ``rows`` nodes in branches below the root; its root alone
    stays.
    """
    parents = [0 if node % BRANCH == 0 else node for node in range(rows - 1)]
    zeros = (0.0,) * rows
    tree = Tree((1,) * rows, (-1, *parents), (0,) * rows, zeros, zeros, zeros, zeros)
    began = time.perf_counter()
    session.verify(session.plan(tree))
    session.commit(())
    system.synchronise()
    return 1000 * (time.perf_counter() - began)


def _draft(system: System, session: Session, length: int) -> float:
    """Milliseconds to draft ``length`` positions."""
    began = time.perf_counter()
    session.draft(1, length, DecodeConfig().top_k)
    system.synchronise()
    return 1000 * (time.perf_counter() - began)
