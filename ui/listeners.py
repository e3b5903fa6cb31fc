"""Who listens to the answers of a run.

Gradio ends a run whose client stops listening. One that asked and never listened, because it was
killed in between, would keep the model to the run's end; ``Attention`` ends that run.
"""

import re
from collections import Counter
from time import monotonic
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

from ui.gradio_internals import current_session

PATIENCE = 10.0  # seconds between asking for a run and listening to it
# A page listens to its session; a program that called without one to its event, which is the name
# of its session then.
SESSION = re.compile(r"/gradio_api/(?:queue/data|call/(?:v2/)?[^/]+/(\w+))")
_open: Counter[str] = Counter()


class Listeners:
    """ASGI middleware that counts the open streams of every session."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count it while it is answered."""
        session = _session_of(scope)
        if not session:
            await self.app(scope, receive, send)
            return
        _open[session] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            _open[session] -= 1
            if not _open[session]:
                del _open[session]


def _session_of(scope: Scope) -> str:
    """The session whose stream a request asks for; empty for any other request."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ""
    found = SESSION.search(scope["path"])
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
    return (found[1] or asked) if found else ""


class Attention:
    """Whether anybody listens to the run whose event is being handled."""

    def __init__(self) -> None:
        self.session = current_session()  # ``None`` outside of an event
        self.since = monotonic()

    def is_lost(self) -> bool:
        """Whether nobody has listened for ``PATIENCE`` seconds."""
        if self.session is None or _open[self.session]:
            self.since = monotonic()
        return monotonic() - self.since > PATIENCE
