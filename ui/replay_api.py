"""The endpoint ``replay``: what other settings would have committed at a run's states."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr

from presto.records import Trace, trace_from_json
from presto.runs.states import Replayed
from ui.error_messages import reason
from ui.files import check_size
from ui.questions import Question, asked, check_work, find_titled
from viz.alternatives import why_not


def replays(folder: Path) -> Any:
    """The endpoint over the recordings in ``folder``."""

    def replay(
        run: str = "", trace: dict[str, Any] | None = None, settings: dict[str, Any] | None = None
    ) -> Any:
        """Replay a run under other settings, without a model: per round the tree that they build at
        the run's own state, the nodes accepted and the tokens committed. Exact, and not a run of
        its own.

        Args:
            run: title of a recorded run, as in the page's list; or
            trace: a trace, as "decode" returns it.
            settings: fields of DecodeConfig that differ from the run's own, such as {"lam": 0.4}.
        """
        try:
            known = find_titled(run, folder) if run else _given(trace)
            return _answer(asked(known, settings or {}))
        except Exception as error:
            raise gr.Error(reason(error), print_exception=False) from None

    return replay


def _given(trace: object) -> Trace:
    if not isinstance(trace, dict):
        raise ValueError("name a recorded run by its title, or give a trace")
    known = trace_from_json(json.dumps(trace))
    check_size(known)
    if problem := why_not(known):
        raise ValueError(problem)
    return known


def _answer(question: Question) -> dict[str, Any]:
    states, config = question.states, question.config
    check_work(len(states) * config.budget)
    rounds = [states.replay(index, config) for index in range(len(states))]
    own = [len(round_.committed) for round_ in question.trace.rounds]
    pairs = zip(own, rounds, strict=True)
    return {
        "config": asdict(config),
        "rounds": [
            None if found is None else {"own": count, **_plain(found)} for count, found in pairs
        ],
    }


def _plain(found: Replayed) -> dict[str, Any]:
    tree = {name: list(values) for name, values in vars(found.tree).items()}
    return {"committed": found.committed, "accepted": list(found.accepted), "tree": tree}
