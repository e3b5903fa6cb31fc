"""What the page "Learn" asks: a chapter about a recorded run, what a tree grown by hand would have
had accepted, and what a setting would cost. Answered like the panel "What if", without a model.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import gradio as gr

from presto.models.tables import table_of
from presto.records import Method, Trace, load_recording
from presto.runs.counterfactuals import lineup
from presto.runs.replay import oracle_length
from presto.runs.states import States
from ui.challenges import answers
from ui.explore_payload import shown_first
from ui.player import LEARN
from ui.questions import asked, check_work, find_run
from ui.recordings import recordings_in
from ui.round_payload import SHARED
from viz.alternatives import replay
from viz.lesson.costs import costs, expected
from viz.lesson.course import Course, Lesson, another_round, telling_round
from viz.lesson.drafting import columns, draft_and_verify, marginals, nonsense, one_by_one
from viz.lesson.grown import grow
from viz.lesson.trees import budgets, mask, scores, search, verdict

CHAPTERS: dict[str, Callable[[Course], Lesson]] = {
    "pass": one_by_one,
    "draft": draft_and_verify,
    "marginals": marginals,
    "nonsense": nonsense,
    "tree": budgets,
    "score": scores,
    "search": search,
    "mask": mask,
    "verdict": verdict,
    "cost": costs,
}


LESSON = "learn"  # the tab
OFFERED = (12, 16)  # candidates and positions that a tree may be grown by hand of


def asked_tab(request: gr.Request) -> Any:
    """The tab that an address asks for: ``?learn=3`` opens the lesson."""
    return gr.Tabs(selected=LESSON) if "learn" in request.query_params else gr.skip()


def languages() -> dict[str, Path]:
    """``code -> file`` of the texts; a language is added by its file."""
    return {path.stem: path for path in sorted(LEARN.glob("*.json"))}


def lesson_value(folder: Path) -> dict[str, Any]:
    """What the page's component needs from the start: languages, chapters, recorded runs."""
    names = {code: _name(path) for code, path in languages().items()}
    runs = [[title, path.name] for title, path in recordings_in(folder).items()]
    shared = {name: SHARED[name] for name in ("dark", "fan", "columns")}
    first = _first(folder, runs[0][1]) if runs else None
    return shared | {
        "languages": names,
        "chapters": list(CHAPTERS),
        "runs": runs,
        "first": first,
    }


def _first(folder: Path, key: str) -> dict[str, Any] | None:
    """The first chapter on the first run, which then needs no question; none where that run cannot
    be replayed.
    """
    try:
        return lesson_answer(folder, {"key": key, "chapter": next(iter(CHAPTERS))})
    except ValueError:
        return None


@lru_cache(maxsize=16)
def _name(path: Path) -> str:
    return str(json.loads(path.read_text(encoding="utf-8"))["name"])


@lru_cache(maxsize=8)
def _lanes(path: Path) -> dict[Method, Trace]:
    return {trace.method: trace for trace in load_recording(path).traces}


@lru_cache(maxsize=32)
def _telling(path: Path) -> int:
    trace = shown_first(load_recording(path))
    return telling_round(trace, States(trace, table_of(trace.system)))


def _sampled(folder: Path) -> dict[Method, Trace]:
    """The lanes of the first recording whose tokens are drawn; none where there is none."""
    for path in recordings_in(folder).values():
        lanes = _lanes(path)
        if {"presto", "ar"} <= lanes.keys() and lanes["presto"].config.temperature > 0:
            return lanes
    return {}


def course(folder: Path, given: Mapping[str, Any]) -> Course:
    """The run under ``key`` and its round, from 1; by default the round that tells most.

    ``ValueError`` for a run that is not here or cannot be replayed, or a round it does not have.
    """
    key = given.get("key")
    shown = find_run(key, folder)
    title, path = next(
        ((title, path) for title, path in recordings_in(folder).items() if path.name == key),
        ("", None),
    )
    if path is None:
        raise ValueError("the lesson speaks of recorded runs only")
    number = given.get("round")
    states = States(shown, table_of(shown.system))
    index = _telling(path) if number is None else _checked(number, len(states)) - 1
    if not states.is_drafted(index) or len(shown.rounds[index].tree.tokens) < 2:
        raise ValueError(f"nothing was drafted in round {index + 1}: choose another one")
    return Course(title, path.name, shown, _lanes(path), states, index, _sampled(folder))


def _checked(number: object, rounds: int) -> int:
    if type(number) is not int or not 1 <= number <= rounds:
        raise ValueError(f"the round must be a whole number from 1 to {rounds}")
    return number


def lesson_answer(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """A chapter: what fills its texts, its picture, its questions."""
    name = given.get("chapter")
    if not isinstance(name, str) or name not in CHAPTERS:
        raise ValueError(f"the chapter must be one of {', '.join(CHAPTERS)}")
    found = course(folder, given)
    if name == "verdict" and given.get("round") is None:
        found = replace(found, index=another_round(found))
    lesson = CHAPTERS[name](found)
    own = {"run": found.title, "round": str(found.index + 1)}
    return {
        "chapter": name,
        "key": found.key,
        "run": found.title,
        "round": found.index + 1,
        "values": own | lesson.values,
        "picture": lesson.picture,
        "questions": [question._asdict() for question in lesson.questions],
        "why": lesson.why,
    }


def build_answer(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The candidates of a round, and the tree that ``paths`` of ranks grow out of them; with
    ``verify`` what the target would have accepted of it, beside the other trees of its size.
    """
    found = course(folder, given)
    offered, budget = columns(found, *OFFERED), found.shown.config.budget
    hand = grow(found, given.get("paths", []), offered, budget)
    answer: dict[str, Any] = {
        "columns": offered,
        "budget": budget,
        "round": found.index + 1,
        "nodes": hand.nodes,
    }
    if given.get("verify") is True:
        answer["verdict"] = _beside(found, hand.committed, len(hand.accepted), len(hand.nodes))
        answer["accepted"] = hand.accepted
        answer["why"] = hand.why
    return answer


def _beside(found: Course, committed: int, accepted: int, size: int) -> dict[str, Any]:
    """Tokens committed by the reader's tree and by those of blind, PRESTO and the oracle."""
    size = max(1, size)
    config = found.shown.config
    blind = lineup(config)["blind"]
    changes = {"scorer": blind.scorer, "lam": blind.lam, "normalised": blind.normalised}
    drafted = found.states.marginals(found.index)
    most = min(size, oracle_length(drafted, found.continuation, config.top_k) - 1)
    return {
        "size": size,
        "accepted": accepted,
        "you": committed,
        "blind": found.replay(**changes, budget=size).committed,
        "presto": found.replay(budget=size).committed,
        "oracle": found.states.committed(found.index, most),
    }


def cost_answer(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a setting would do by exact replay and the run's measured costs, and whether it is
    slower than plain decoding.
    """
    found = course(folder, given)
    question = asked(found.shown, given.get("settings", {}))
    check_work(len(found.states) * question.config.budget)
    told = expected(found, question.config)
    return {
        "tau": f"{told.tau:.1f}",
        "ms": f"{1000 * told.seconds:.0f}",
        "speed": f"{told.speed:.1f}",
        "plain": f"{told.plain:.1f}",
        "slower": told.speed < told.plain,
    }


def run_answer(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers behind the questions about a whole run."""
    found = course(folder, given)
    linear = found.lanes.get("linear")
    return {"answers": answers(found.shown, linear, replay(found.shown).rounds)}


LESSONS: dict[str, Callable[[Path, Mapping[str, Any]], dict[str, Any]]] = {
    "lesson": lesson_answer,
    "lesson_build": build_answer,
    "lesson_cost": cost_answer,
    "lesson_run": run_answer,
}
