"""What the panel "What if" asks while a control moves, answered beside Gradio's queue: a replay
needs no model, so it waits for no decoding run.

A question is a POST of JSON: the key of the run on the page, the settings that differ from its own,
for one round its index. One round is answered at once; all rounds and the sweep as lines of JSON,
each of which holds all that is known so far. A page that asks something else leaves, and the work
for it ends. Nothing is kept between questions.
"""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from presto.records import changed
from presto.runs.sweep import SweepRow, sweep
from ui.error_messages import reason
from ui.film_payload import film_value
from ui.lesson import LESSONS
from ui.payload import dump, sent
from ui.questions import Question, asked, check_work, find_run
from ui.streams import is_own_page
from ui.table_rows import table_rows
from viz.film import _get_film_info
from viz.replayed import NOT_DRAFTED, replayed_sentence, replayed_view, setting_words
from viz.rounds import _get_rounds_info, _get_rounds_plot, _get_rounds_sentence
from viz.sweep import (
    _get_sweep_info,
    _get_sweep_plot,
    _get_sweep_sentence,
    grid_of,
    sweep_table,
    swept_alike,
)
from viz.tree import _get_tree_info, _get_tree_plot
from viz.two_trees import _get_both_info, _get_both_plot, two_trees

ADDRESS = "/gradio_api/what-if/"
LARGEST = 1 << 14  # bytes of a question
SOON = 0.1  # seconds between two lines of an answer
AT_ONCE, BEHIND = 4, 1  # answers worked on at the same time: for a round, for all of them


def _checked(question: Question, index: object) -> int:
    rounds = len(question.trace.rounds)
    if type(index) is not int or not 0 <= index < rounds:
        raise ValueError(f"the round must be a whole number from 0 to {rounds - 1}")
    return index


def round_answer(question: Question, asked: object) -> dict[str, Any]:
    """One round: its tree under the question's settings, what it would commit, and in words."""
    states, config, index = question.states, question.config, _checked(question, asked)
    found = states.replay(index, config)
    sentence = replayed_sentence(states, index, found, config)
    if found is None:
        return {"problem": NOT_DRAFTED}
    view = replayed_view(states, index, found, config)
    return {
        "sentence": sentence,
        "committed": found.committed,
        "rows": table_rows(view),
        "tree": sent(_get_tree_plot(_get_tree_info(view))),
    }


def trees_answer(question: Question, asked: object) -> dict[str, Any]:
    """The blind tree of a round's state, and both trees on one layout, by the same numbers."""
    found = two_trees(question.states, _checked(question, asked))
    if found is None:
        return {"problem": NOT_DRAFTED}
    both, blind = _get_both_info(found), _get_tree_info(found.blind)
    return {
        "sentence": found.sentence,
        "both": {
            "rows": table_rows(found.both, marks=found.lost),
            "tree": sent(_get_both_plot(both)),
        },
        "blind": {"rows": table_rows(found.blind), "tree": sent(_get_tree_plot(blind))},
    }


def film_answer(question: Question, asked: object) -> dict[str, Any]:
    """The search that builds a round's tree under the question's settings, step by step."""
    check_work(question.config.budget)
    info = _get_film_info(question.states, _checked(question, asked), question.config)
    return {"problem": NOT_DRAFTED} if info is None else film_value(info)


def rounds_answers(question: Question) -> Iterator[dict[str, Any]]:
    """All rounds: their figure and sentence so far, again and again until all are known."""
    states, config = question.states, question.config
    check_work(len(states) * config.budget)
    counts, said = list[int | None](), time.monotonic()
    for index in range(len(states)):
        found = states.replay(index, config)
        counts.append(found and found.committed)
        done = len(counts) == len(states)
        if done or time.monotonic() - said >= SOON:
            said = time.monotonic()
            info = _get_rounds_info(question.trace, counts)
            yield {
                "figure": sent(_get_rounds_plot(info)),
                "remark": _get_rounds_sentence(info),
                "committed": counts,
                "done": len(counts),
                "of": len(states),
            }


def sweep_answers(question: Question) -> Iterator[dict[str, Any]]:
    """The sweep over λ and budget, row by row."""
    own, rows = question.trace.config, list[SweepRow]()
    lams, budgets = grid_of(own)
    check_work(len(question.trace.rounds) * len(lams) * budgets[-1])
    same = swept_alike(question.config, own)
    fixed = changed(question.config, {"lam": own.lam, "budget": own.budget})
    for row in sweep(question.states, question.config, lams, budgets):
        rows.append(row)
        info = _get_sweep_info(rows, own, same)
        yield {
            "figure": sent(_get_sweep_plot(info)),
            "remark": _get_sweep_sentence(info),
            "settings": setting_words(fixed, own),
            "table": sweep_table(rows),
            "done": len(rows),
            "of": info.of,
        }


ANSWERED: dict[str, Callable[[Question, object], dict[str, Any]]] = {
    "round": round_answer,
    "trees": trees_answer,
    "film": film_answer,
}
STREAMED: dict[str, Callable[[Question], Iterator[dict[str, Any]]]] = {
    "rounds": rounds_answers,
    "sweep": sweep_answers,
}


class WhatIf:
    """ASGI middleware that answers questions about the recordings in ``folder`` and about the runs
    that are kept.
    """

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        self.app, self.folder = app, folder
        self.at_once = anyio.CapacityLimiter(AT_ONCE)
        self.behind = anyio.CapacityLimiter(BEHIND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question; anything else is the application's own affair."""
        what = asked_for(scope)
        if not what:
            await self.app(scope, receive, send)
            return
        response = await self._answer(what, Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, what: str, request: Request) -> Response:
        body = await _body(request)
        if body is None or not is_own_page(request.headers):
            return Response("Not a question of this page", 400)
        if what in (*ANSWERED, *LESSONS):
            text = await run_sync(self._round, what, body, limiter=self.at_once)
            return Response(text, media_type="application/json")
        lines = self._lines(what, body)
        return StreamingResponse(lines, media_type="application/x-ndjson")

    def _question(self, body: bytes) -> tuple[Question, dict[str, Any]]:
        given = _object(body)
        trace = find_run(given.get("key"), self.folder)
        return asked(trace, given.get("settings", {})), given

    def _round(self, what: str, body: bytes) -> str:
        try:
            if what in LESSONS:
                return dump(LESSONS[what](self.folder, _object(body)))
            question, given = self._question(body)
            return dump(ANSWERED[what](question, given.get("round")))
        except Exception as error:
            return dump({"problem": reason(error)})

    async def _lines(self, what: str, body: bytes) -> AsyncIterator[str]:
        answers = self._told(what, body)
        while line := await run_sync(next, answers, "", limiter=self.behind):
            yield line + "\n"

    def _told(self, what: str, body: bytes) -> Iterator[str]:
        try:
            question, _ = self._question(body)
            for answer in STREAMED[what](question):
                yield dump(answer)
        except Exception as error:
            yield dump({"problem": reason(error)})


def asked_for(scope: Scope) -> str:
    """What a request asks for: one of those that are answered here; empty for any other request."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return ""
    _, address, what = scope["path"].rpartition(ADDRESS)
    return what if address and what in (*ANSWERED, *LESSONS, *STREAMED) else ""


def _object(body: bytes) -> dict[str, Any]:
    given = json.loads(body)
    if not isinstance(given, dict):
        raise ValueError("a question must be an object")
    return given


async def _body(request: Request) -> bytes | None:
    """The question's text, ``None`` if it is longer than any question."""
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)
