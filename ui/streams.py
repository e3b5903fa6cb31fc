"""Gradio's event streams over WebSockets as well.

Over HTTP/1.1 a browser opens six connections to a host and shares them among all its tabs, and a
tab whose run decodes or waits in the line holds one for its stream of events: with six of these no
tab could press Stop any more, and another one stayed blank. WebSockets are not among the six. So
``assets/player/streams.js`` asks for a stream's address by WebSocket, and it is answered as if it
had been asked for by GET.
"""

import asyncio
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAM = "/gradio_api/queue/data"
REFUSED, OVER, FAILED = 1008, 1000, 1011  # close codes of RFC 6455


class StreamsOverSockets:
    """ASGI middleware that answers WebSockets at the address of the event stream."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry a stream; anything else is the application's own affair."""
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
        elif not is_own_page(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": REFUSED})
        else:
            await Carried(scope, receive, send).run(self.app)


class Carried:
    """A stream on its way through one WebSocket."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.gone = asyncio.Event()  # the visitor has left
        self.asked = False
        self.code = OVER

    async def run(self, app: ASGIApp) -> None:
        """Ask ``app`` for the stream and pass it on until it ends or the visitor leaves."""
        await self.receive()  # the wish to connect
        await self.send({"type": "websocket.accept"})
        watch = asyncio.create_task(self._watch())
        try:
            await app(_as_request(self.scope), self._ask, self._answer)
        finally:
            watch.cancel()
            if not self.gone.is_set():
                await self.send({"type": "websocket.close", "code": self.code})

    async def _watch(self) -> None:
        while (await self.receive())["type"] != "websocket.disconnect":
            pass
        self.gone.set()

    async def _ask(self) -> Message:
        if not self.asked:
            self.asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] != 200:
            self.code = FAILED
        elif (body := message.get("body")) and not self.gone.is_set():
            await self.send({"type": "websocket.send", "text": body.decode()})


def is_own_page(headers: Headers) -> bool:
    """Whether the page that asks came from this host: other pages may open a WebSocket anywhere."""
    return urlsplit(headers.get("origin", "")).netloc == headers.get("host")


def _as_request(scope: Scope) -> Scope:
    """The WebSocket's scope as that of a GET request, whose end is told by ``receive``."""
    schemes = {"ws": "http", "wss": "https"}
    about = {"type": "http", "method": "GET", "scheme": schemes[scope["scheme"]]}
    return {**scope, **about, "asgi": {"version": "3.0", "spec_version": "2.3"}}
