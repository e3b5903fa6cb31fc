"""What the panel "What if" is told: the numbers of ``presto.replay``, in words and figures, for
every recorded run; refusals in one sentence; nothing for other pages.
"""

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

import presto
from presto.paths import ASSETS
from presto.records import DecodeConfig, Trace, settings, to_json
from presto.runs.events import events_of
from presto.runs.states import FREE
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from tests.support import synthetic
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.runs import TABLE, run
from ui import kept_runs
from ui.error_messages import FAILED
from ui.explore_payload import ExplorePayload, shown_first
from ui.kept_runs import keep, kept, size_of
from ui.questions import GONE
from ui.recordings import recorded
from ui.replay_api import replays
from ui.table_rows import COLUMNS
from ui.what_if import ADDRESS, ANSWERED, LARGEST, WhatIf, asked_for
from ui.what_if_controls import ASKED, controls, options, values_of

RUNS = ASSETS / "runs"
FILES = sorted(RUNS.glob("*.json.gz"))
OWN_PAGE = {"origin": "http://testserver"}
FIBONACCI = "2-fibonacci.json.gz"


async def elsewhere(request: Request) -> Response:
    return PlainTextResponse("elsewhere")


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = Starlette(routes=[Route("/{path:path}", elsewhere, methods=["GET", "POST"])])
    with TestClient(WhatIf(app, RUNS)) as made:
        yield made


def ask(client: TestClient, what: str, **question: Any) -> list[dict[str, Any]]:
    """The values of an answer, line by line."""
    answer = client.post(f"{ADDRESS}{what}", json=question, headers=OWN_PAGE)
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


def drawn(rng: random.Random, own: DecodeConfig) -> dict[str, Any]:
    """Random values of some of the panel's controls."""
    wide = {
        "scorer": rng.choice(options("scorer")),
        "lam": round(rng.uniform(0, 2), 2),
        "normalised": rng.random() < 0.5,
        "search": rng.choice(options("search")),
        "budget": rng.randint(1, 96),
        "top_k": rng.randint(1, own.top_k),
        "beam_width": rng.randint(1, 32),
        "lookup": rng.choice((0, 0, 4)),
        "order": rng.choice((2, 3)),
        "correct_first": rng.random() < 0.5,
    }
    return {name: wide[name] for name in rng.sample(sorted(wide), rng.randint(0, len(wide)))}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_pages_numbers_are_those_of_replay(client: TestClient, path: Path) -> None:
    trace = shown_first(presto.load_recording(path))
    rng = random.Random(path.name)
    for _ in range(examples(4)):
        changes = drawn(rng, trace.config)
        found = presto.replay(trace, **changes)
        (*_, told) = ask(client, "rounds", key=path.name, settings=changes)
        assert told["committed"] == [one and one.committed for one in found]
        assert told["done"] == told["of"] == len(found)
        index = rng.randrange(len(found))
        (answer,) = ask(client, "round", key=path.name, settings=changes, round=index)
        check_round(answer, found[index])


def check_round(answer: dict[str, Any], found: Any) -> None:
    """The rows of a round are those of the replayed tree."""
    assert answer["committed"] == found.committed
    assert f" {found.committed} token" in answer["sentence"]
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in answer["rows"]]
    drafted = [row for row in rows if row["status"] != "bonus"]
    assert tuple(row["token"] for row in drafted) == found.tree.tokens
    assert tuple(row["parent"] for row in drafted) == found.tree.parents
    accepted = [row["node"] for row in rows if row["status"] == "accepted"]
    assert accepted == [*found.accepted][: len(accepted)]
    drawn_ids = {int(i) for part in answer["tree"]["data"] for i in part.get("ids", ())}
    assert drawn_ids == {row["node"] for row in rows}


def test_a_sweep_is_told_row_by_row_with_the_runs_own_point(client: TestClient) -> None:
    told = ask(client, "sweep", key=FIBONACCI, settings={"normalised": False, "lam": 0.3})
    assert [(one["done"], one["of"]) for one in told] == [(i, 21) for i in range(1, 22)]
    trace = shown_first(presto.load_recording(RUNS / FIBONACCI))
    rows = presto.sweep(trace, normalised=False)
    cells = [
        [row.lam, b, round(m, 4)]
        for row in rows
        for b, m in zip(row.budgets, row.means, strict=True)
    ]
    assert told[-1]["table"] == [["lambda", "budget", "tokens per round"], *cells]
    assert (told[-1]["settings"], len(told[-1]["figure"]["data"])) == ("normalised off", 1)
    own = ask(client, "sweep", key=FIBONACCI, settings={"budget": 9})[-1]
    point = own["figure"]["data"][1]
    assert (point["x"], point["y"]) == (["32"], ["0.7"])
    assert "★ is the run’s own point" in own["remark"]


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"key": "none"}, GONE),
        ({"key": 3}, "The run's key must be text, got int"),
        ({"settings": [1]}, "The settings must be fields by name, got [1]"),
        ({"settings": {"nothing": 1}}, "There is no setting 'nothing'"),
        ({"settings": {"lam": 9}}, "Lam: Input should be less than or equal to 4 (got 9)"),
        ({"settings": {"lam": "1"}}, "Lam: Input should be a valid number (got '1')"),
        ({"settings": {"scorer": "x"}}, "Scorer: 'x' is not installed here"),
        ({"settings": {"seed": 1}}, "A replay cannot change seed, only beam_width"),
        ({"round": 23}, "The round must be a whole number from 0 to 22"),
        ({"round": True}, "The round must be a whole number from 0 to 22"),
        ({}, "The round must be a whole number from 0 to 22"),
    ],
    ids=str,
)
def test_what_cannot_be_answered_is_refused_in_one_sentence(
    client: TestClient, question: dict[str, Any], problem: str
) -> None:
    (answer,) = ask(client, "round", **{"key": FIBONACCI, "settings": {}} | question)
    assert answer.keys() == {"problem"}
    assert answer["problem"].startswith(problem)
    assert "\n" not in answer["problem"]


def test_work_is_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESTO_MAX_WORK", "1000")
    for what in ("rounds", "sweep"):
        (answer,) = ask(client, what, key=FIBONACCI, settings={"budget": 64})
        assert "nodes, at most 1,000 are allowed: lower the budget" in answer["problem"]


def test_questions_of_other_pages_and_long_ones_are_turned_away(client: TestClient) -> None:
    address, question = f"{ADDRESS}round", {"key": FIBONACCI, "settings": {}, "round": 0}
    assert client.post(address, json=question).status_code == 400
    other = {"origin": "http://elsewhere.example"}
    assert client.post(address, json=question, headers=other).status_code == 400
    long = question | {"x": "x" * LARGEST}
    assert client.post(address, json=long, headers=OWN_PAGE).status_code == 400
    for broken in ("", "[]", "{"):
        answer = client.post(address, content=broken, headers=OWN_PAGE)
        assert answer.json().keys() == {"problem"}


def test_other_addresses_are_passed_on(client: TestClient) -> None:
    assert client.post("/gradio_api/queue/join").text == "elsewhere"
    assert client.get(f"{ADDRESS}round").text == "elsewhere"
    assert client.post(f"{ADDRESS}other").text == "elsewhere"
    scope = {"type": "http", "method": "POST", "path": f"/under{ADDRESS}sweep"}
    assert asked_for(scope) == "sweep"
    assert not asked_for({"type": "websocket", "path": f"{ADDRESS}round"})


def test_a_failure_of_ours_is_not_told(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setitem(ANSWERED, "round", fail)
    assert ask(client, "round", key=FIBONACCI, round=0) == [{"problem": FAILED}]


# ---- which runs ----------------------------------------------------------------------------------


@pytest.fixture
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    kept_runs._runs.clear()


@pytest.mark.usefixtures("_empty")
def test_a_live_run_is_kept_once_it_is_over_and_exactly_replayable(client: TestClient) -> None:
    recording = presto.load_recording(RUNS / FIBONACCI)
    for given, is_kept in ((recording, True), (synthetic.recording(rounds=2), False)):
        payload = ExplorePayload("live", "Your prompt")
        for event in events_of(shown_first(given)):
            payload.take(0, event)
        payload.value("running")
        assert kept(payload.key) is None
        head = json.loads(payload.value("done")["head"])
        assert (kept(payload.key) is not None) == is_kept == (head["own"] is not None)
    (answer,) = ask(client, "round", key=next(iter(kept_runs._runs)), settings={}, round=0)
    assert answer["sentence"].startswith("The run’s own settings: 9 tokens")


def test_a_recorded_run_is_known_by_its_file() -> None:
    value = recorded(RUNS / FIBONACCI).value
    assert value["key"] == FIBONACCI
    head = json.loads(value["head"])
    config = shown_first(presto.load_recording(RUNS / FIBONACCI)).config
    assert head["own"] == values_of(config)
    assert [control["name"] for control in head["controls"]] == list(head["own"]) == list(ASKED)


@pytest.mark.usefixtures("_empty")
def test_the_oldest_runs_go_when_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    traces: list[Trace] = [run(tiny_gated(5), DecodeConfig(budget=b), TABLE) for b in (4, 8, 9)]
    monkeypatch.setenv("PRESTO_KEPT_RUNS", str(sum(map(size_of, traces[1:]))))
    for key, trace in zip("abc", traces, strict=True):
        keep(key, trace)
    assert [kept(key) is not None for key in "abc"] == [False, True, True]
    monkeypatch.setenv("PRESTO_KEPT_RUNS", "1")
    keep("a", traces[0])
    assert [kept(key) is not None for key in "abc"] == [True, False, False]


# ---- controls ------------------------------------------------------------------------------------


def test_controls_are_those_fields_that_a_replay_can_change() -> None:
    assert set(ASKED) == FREE - {"sampled_draft", "scorer_settings", "search_settings"}
    for control in controls():
        setting = settings()[control["name"]]
        assert (control["title"], control["about"]) == (setting.title, setting.description)
        assert control.get("low") == setting.low
    able = [name for name, scorer in SCORERS.items() if not scorer.reads_drafter]
    assert controls()[0]["options"] == able
    assert controls()[3]["options"] == list(SEARCHES)


# ---- the endpoint --------------------------------------------------------------------------------


@cache
def fibonacci() -> Trace:
    return shown_first(presto.load_recording(RUNS / FIBONACCI))


def plain(trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(trace))
    return found


def test_the_endpoint_replays_recorded_and_given_runs() -> None:
    replay, changes = replays(RUNS), {"lam": 0.2, "budget": 16}
    told = replay("Fibonacci: code", None, changes)
    assert told == replay("", plain(fibonacci()), changes)
    json.dumps(told, allow_nan=False)
    assert (told["config"]["lam"], told["config"]["budget"]) == (0.2, 16)
    for one, found, round_ in zip(
        told["rounds"],
        presto.replay(fibonacci(), **changes),
        fibonacci().rounds,
        strict=True,
    ):
        assert found is not None
        assert one["own"] == len(round_.committed)
        assert (one["committed"], tuple(one["accepted"])) == (found.committed, found.accepted)
        assert tuple(one["tree"]["tokens"]) == found.tree.tokens


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("Nothing",), "No recorded run is called 'Nothing'; there are: "),
        (("", None), "Name a recorded run by its title, or give a trace"),
        (("", {"x": 1}), "Not a valid trace"),
        (("Fibonacci: code", None, {"draft_length": 3}), "A replay cannot change draft_length"),
        (("", plain(synthetic.trace(rounds=1))), "The n-gram table of this pair is not here"),
    ],
    ids=["title", "none", "broken", "setting", "table"],
)
def test_the_endpoint_refuses_in_words(arguments: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(gr.Error) as refused:
        replays(RUNS)(*arguments)
    assert str(refused.value.message).startswith(problem)


def test_the_endpoint_refuses_a_run_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.files.MAX_ROUNDS", 3)
    with pytest.raises(gr.Error, match="he run has 23 rounds"):
        replays(RUNS)("", plain(fibonacci()))
