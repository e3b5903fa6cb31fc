"""What a page or a program asks of a finished run: which run, which settings, and whether an exact
answer can be had.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from presto.models.tables import table_of
from presto.records import DecodeConfig, Trace, load_recording, quoted, settings
from presto.runs.requests import change_config
from presto.runs.states import States, check_free
from presto.scorers import SCORERS
from ui.explore_payload import shown_first
from ui.kept_runs import kept
from ui.limits import max_work
from ui.recordings import recordings_in
from viz.alternatives import why_not

GONE = "The server no longer holds this run: run it again, or open its file."


class Question(NamedTuple):
    """A finished run, and the settings to replay it with."""

    trace: Trace
    config: DecodeConfig

    @property
    def states(self) -> States:
        """The run's states, for one thread."""
        return States(self.trace, table_of(self.trace.system))


def find_run(key: object, folder: Path) -> Trace:
    """The run that a page shows under ``key``; ``ValueError`` if it is not here, or not exactly
    replayable.
    """
    recorded = {path.name: path for path in recordings_in(folder).values()}
    if not isinstance(key, str):
        raise ValueError(f"the run's key must be text, got {type(key).__name__}")
    if key in recorded:
        trace, problem = _recorded(recorded[key])
        if problem:
            raise ValueError(problem)
        return trace
    found = kept(key)
    if found is None:
        raise ValueError(GONE)
    return found


@lru_cache(maxsize=8)
def _recorded(path: Path) -> tuple[Trace, str]:
    trace = shown_first(load_recording(path))
    return trace, why_not(trace)


def find_titled(title: str, folder: Path) -> Trace:
    """The recorded run of that title; ``ValueError`` lists those there are."""
    titles = recordings_in(folder)
    if title not in titles:
        raise ValueError(
            f"no recorded run is called {quoted(title)}; there are: {', '.join(titles)}"
        )
    trace, problem = _recorded(titles[title])
    if problem:
        raise ValueError(problem)
    return trace


def asked(trace: Trace, changes: object) -> Question:
    """The run under ``changes`` of its own settings; ``ValueError`` names one that cannot be
    followed.
    """
    if not isinstance(changes, Mapping):
        raise ValueError(f"the settings must be fields by name, got {quoted(changes)}")
    if unknown := [name for name in changes if name not in settings()]:
        raise ValueError(f"there is no setting {quoted(unknown[0])}")
    config = change_config(trace.config, changes)
    check_free(config, trace.config)
    if SCORERS.find(config.scorer).reads_drafter:
        raise ValueError(f"{config.scorer} needs what the drafter knows, which no record holds")
    return Question(trace, config)


def check_work(nodes: int) -> None:
    """Refuse, as ``ValueError``, a replay of more nodes than a run may have."""
    if nodes > max_work():
        raise ValueError(
            f"the replay would build {nodes:,} nodes, at most {max_work():,} are allowed: lower "
            "the budget"
        )
