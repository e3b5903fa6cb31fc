"""Scripts and styles compressed once per process instead of once per visitor.

Gradio compresses every file anew for everybody, on the loop that also serves the live runs: of a
first visit that is nearly half of the server's work.
"""

import asyncio
import gzip
from collections.abc import Callable, Iterable

import brotli
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KINDS = (".js", ".css", ".json", ".svg")
COMPRESS: dict[str, Callable[[bytes], bytes]] = {  # by encoding, the better one first
    "br": lambda body: bytes(brotli.compress(body, mode=brotli.MODE_TEXT, quality=5)),
    "gzip": lambda body: gzip.compress(body, 6),
}


class CompressedOnce:
    """ASGI middleware that keeps compressed answers, for whole files under ``prefixes``, which must
    not change.
    """

    def __init__(self, app: ASGIApp, prefixes: Iterable[str]) -> None:
        self.app, self.prefixes = app, tuple(prefixes)
        self.kept: dict[tuple[str, str], tuple[Message, bytes]] = {}  # by path and encoding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept; anything but such a file is the application's own affair."""
        encoding = self._encoding(scope)
        if not encoding:
            await self.app(scope, receive, send)
            return
        key = scope["path"], encoding
        start, body = self.kept.get(key) or await self._ask(scope, receive)
        if key not in self.kept and start["status"] == 200:
            start, body = self.kept[key] = await _compressed(start, body, encoding)
        await send(
            {**start, "headers": [*start["headers"]]}
        )  # a copy: what is around this one adds to them
        await send({"type": "http.response.body", "body": body})

    def _encoding(self, scope: Scope) -> str:
        """The encoding to use for a request of a whole file under ``prefixes``; empty for any other
        request.
        """
        if scope["type"] != "http" or scope["method"] != "GET":
            return ""
        path, headers = scope["path"], Headers(scope=scope)
        if "range" in headers or not path.startswith(self.prefixes) or not path.endswith(KINDS):
            return ""
        accepted = headers.get("accept-encoding", "").replace(" ", "").split(",")
        return next((name for name in COMPRESS if name in accepted), "")

    async def _ask(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        """The application's whole answer."""
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, collect)
        return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


async def _compressed(start: Message, body: bytes, encoding: str) -> tuple[Message, bytes]:
    small = await asyncio.to_thread(COMPRESS[encoding], body)
    headers = MutableHeaders(raw=[*start["headers"]])
    headers.update(
        {"content-encoding": encoding, "content-length": str(len(small)), "vary": "accept-encoding"}
    )
    return {**start, "headers": headers.raw}, small
