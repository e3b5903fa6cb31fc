"""Static files are compressed once: what a client unpacks is the file, and nothing else is
touched.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.compressed import CompressedOnce

TEXT = "const greeting = 'hello, 안녕';\n" * 200
Seen = list[str]


class Watched:
    """Notes which requests come so far."""

    def __init__(self, app: ASGIApp, seen: Seen) -> None:
        self.app, self.seen = app, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.seen.append(f"{scope['method']} {scope['path']}")
        await self.app(scope, receive, send)


class Adding:
    """Adds to the headers in place, as CORS does."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"added", b"1"))
            await send(message)

        await self.app(scope, receive, add)


@pytest.fixture
def served(tmp_path: Path) -> tuple[TestClient, Seen]:
    """A client, and what of its requests went past the kept answers."""
    for name in ("a.js", "b.css", "picture.png"):
        (tmp_path / name).write_text(TEXT)
    seen = Seen()
    chain = [
        Middleware(Adding),
        Middleware(CompressedOnce, prefixes=["/assets/"]),
        Middleware(Watched, seen=seen),
    ]
    folders = [Mount(path, StaticFiles(directory=tmp_path)) for path in ("/assets", "/other")]
    return TestClient(Starlette(routes=folders, middleware=chain)), seen


@pytest.mark.parametrize(
    ("accepts", "encoding"), [("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip")]
)
def test_a_file_is_asked_for_once_and_arrives_whole_every_time(
    served: tuple[TestClient, Seen], accepts: str, encoding: str
) -> None:
    client, seen = served
    for _ in range(3):
        for name in ("a.js", "b.css"):
            answer = client.get(f"/assets/{name}", headers={"Accept-Encoding": accepts})
            assert answer.text == TEXT
            assert answer.headers["content-encoding"] == encoding
            assert int(answer.headers["content-length"]) < len(TEXT) / 10
            assert answer.headers["vary"] == "accept-encoding"
            assert answer.headers["etag"]
            assert answer.headers.get_list("added") == ["1"]
    assert seen == ["GET /assets/a.js", "GET /assets/b.css"]


@pytest.mark.parametrize(
    ("ask", "status"),
    [
        (lambda client: client.get("/assets/a.js", headers={"Accept-Encoding": "identity"}), 200),
        (lambda client: client.get("/assets/a.js", headers={"Range": "bytes=0-9"}), 206),
        (lambda client: client.head("/assets/a.js"), 200),
        (lambda client: client.post("/assets/a.js"), 405),
        (lambda client: client.get("/assets/picture.png"), 200),
        (lambda client: client.get("/other/a.js"), 200),
        (lambda client: client.get("/assets/none.js"), 404),
    ],
    ids=["identity", "range", "head", "post", "picture", "elsewhere", "missing"],
)
def test_any_other_request_gets_the_application_s_own_answer(
    served: tuple[TestClient, Seen], ask: Callable[[TestClient], object], status: int
) -> None:
    client, seen = served
    for _ in range(2):
        answer = ask(client)
        assert answer.status_code == status  # type: ignore[attr-defined]
        assert "content-encoding" not in answer.headers  # type: ignore[attr-defined]
    assert len(seen) == 2
