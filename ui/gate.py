"""What stands between the network and Gradio's routes: those that this page does not use are not
there, and every answer says what a page made of it may do.

Gradio serves every app the same routes: uploads, a proxy to other Spaces, files fetched from
addresses, states kept on disk, histories kept with the operator's token. This page needs none of
these, so what is found wrong with one of them is not wrong here.
"""

import re
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/gradio_api/"
# Calls and their streams, the description of the endpoints, our files, the tools for agents, and
# what the panel "What if" asks.
USED = re.compile(
    r"(info|openapi\.json|startup-events|app_id|theme\.css)/?"
    r"|queue/(join|data)|call/.+|cancel|reset/?|file=.+|mcp(/.*)?|what-if/\w+"
)
ADDRESS = re.compile(r"file=[^/]{2,}:")  # of another server; one letter is a disk of Windows
ABSENT = re.compile(r"/(monitoring|login|logout|svelte)(/.*)?")
# Gradio's page starts by inline scripts and makes functions of text; Plotly draws with inline
# styles and saves pictures by way of blobs. Nothing comes from another host, nothing goes there.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",  # a shared address holds the prompt
    "x-content-type-options": "nosniff",
}


class Gate:
    """ASGI middleware that answers 404 for what the page does not use, and adds ``HEADERS``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_headers(message)}
            await send(message)

        known = is_used(scope["path"].removeprefix(scope.get("root_path", "")))
        app = self.app if known else PlainTextResponse("Not found", 404)
        await app(scope, receive, answer)


def is_used(path: str) -> bool:
    """Whether this page uses what Gradio would serve at ``path``."""
    if not path.startswith(API):
        return not ABSENT.fullmatch(path)
    rest = path.removeprefix(API)
    return bool(USED.fullmatch(rest)) and not ADDRESS.match(rest)


def _with_headers(message: Message) -> list[Any]:
    headers = MutableHeaders(raw=[*message["headers"]])
    headers.update(HEADERS)
    return headers.raw
