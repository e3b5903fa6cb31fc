"""A run nobody listens to ends."""

import asyncio
import sys
from collections.abc import Iterator
from itertools import count

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from presto.records import DecodeConfig
from tests.support import serve
from ui import listeners, serving
from ui.lanes import Lane
from ui.listeners import Attention, Listeners

ADDRESSES = {
    "/gradio_api/queue/data?session_hash=me": "me",
    "/gradio_api/call/decode/ab12": "ab12",
    "/gradio_api/call/v2/decode/ab12": "ab12",
    "/gradio_api/queue/data": "",
    "/gradio_api/info?session_hash=me": "",
    "/": "",
}


async def seen(request: Request) -> Response:
    return PlainTextResponse(" ".join(listeners._open))


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Listeners(Starlette(routes=[Route("/{path:path}", seen)]))) as made:
        yield made


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_session_is_listened_to_while_its_stream_is_open(
    client: TestClient, address: str
) -> None:
    assert client.get(address).text == ADDRESSES[address]
    assert not listeners._open


def test_a_stream_that_fails_is_open_no_more() -> None:
    async def fails(*_: object) -> None:
        raise ConnectionError

    scope = {"type": "http", "method": "GET", "path": "/gradio_api/call/decode/ab12"}
    with pytest.raises(ConnectionError):
        asyncio.run(Listeners(fails)(scope | {"query_string": b""}, None, None))  # type: ignore[arg-type]
    assert not listeners._open


def decoded(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many events of a run are told if every look at the clock finds it 3 s later."""
    monkeypatch.setattr(serve, "PACE", 0.0)
    monkeypatch.setitem(sys.modules, "presto.runs.runner", serve.double())
    monkeypatch.setattr(listeners, "current_session", lambda: "me")
    monkeypatch.setattr(listeners, "monotonic", count(0.0, 3.0).__next__)
    lane = Lane("presto", DecodeConfig())
    return len(list(serving.decode_lanes("smollm2-gated", "hello", [lane])))


def test_a_run_nobody_listens_to_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decoded(monkeypatch) == 3


def test_a_run_somebody_listens_to_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(listeners._open, "me", 1)
    assert decoded(monkeypatch) == 9


def test_outside_of_an_event_nobody_needs_to_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = Attention()
    monkeypatch.setattr(listeners, "monotonic", lambda: 1e9)
    assert not attention.is_lost()
