"""Event streams over WebSockets: the same messages, the same end, and only for our own page."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from ui.streams import STREAM, StreamsOverSockets

OWN = {"origin": "http://testserver"}
ENDED: list[str] = []


async def stream(request: Request) -> Response:
    """As many messages as asked for; without a number it goes on until the visitor leaves."""
    session, count = request.query_params["session_hash"], request.query_params.get("count")
    assert request.headers["cookie"] == "a=b"

    async def messages() -> AsyncIterator[str]:
        number = 0
        try:
            while count is None or number < int(count):
                yield f"data: {session} é {number}\n\n"
                number += 1
                await asyncio.sleep(0.01)
        finally:
            ENDED.append(session)

    return StreamingResponse(messages(), media_type="text/event-stream")


async def elsewhere(request: Request) -> Response:
    return PlainTextResponse("no such session", 404)


@pytest.fixture
def client() -> Iterator[TestClient]:
    ENDED.clear()
    routes = [Route(STREAM, stream), Route(f"/other{STREAM}", elsewhere)]
    with TestClient(StreamsOverSockets(Starlette(routes=routes)), cookies={"a": "b"}) as made:
        yield made


def heard(socket: WebSocketTestSession) -> tuple[list[str], int]:
    """All messages, and the code with which the server closed."""
    told: list[str] = []
    while True:
        try:
            told.append(socket.receive_text())
        except WebSocketDisconnect as over:
            return told, over.code


def test_a_socket_carries_what_get_answers(client: TestClient) -> None:
    address = f"{STREAM}?session_hash=me&count=3"
    with client.websocket_connect(address, headers=OWN) as socket:
        told, code = heard(socket)
    assert (len(told), code) == (3, 1000)
    assert "".join(told) == client.get(address).text
    assert ENDED == ["me", "me"]


def test_a_visitor_who_leaves_ends_the_stream(client: TestClient) -> None:
    with client.websocket_connect(f"{STREAM}?session_hash=me", headers=OWN) as socket:
        assert socket.receive_text() == "data: me é 0\n\n"
    assert ENDED == ["me"]


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "http://evil.example"}, {"origin": "http://testserver.evil"}]
)
def test_pages_of_other_hosts_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        client.websocket_connect(f"{STREAM}?session_hash=me", headers=headers),
    ):
        pass
    assert refused.value.code == 1008
    assert ENDED == []


def test_a_refused_stream_is_no_end(client: TestClient) -> None:
    with client.websocket_connect(f"/other{STREAM}", headers=OWN) as socket:
        assert heard(socket)[1] == 1011


def test_other_sockets_are_the_applications_affair(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/other", headers=OWN):
        pass
