"""Which of Gradio's addresses this page has, and what every answer says."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.gate import HEADERS, Gate, is_used

USED = (
    *("/", "/config", "/theme.css", "/assets/index.js", "/static/img/logo.svg", "/robots.txt"),
    *("/gradio_api/info", "/gradio_api/info/", "/gradio_api/openapi.json", "/gradio_api/app_id"),
    *("/gradio_api/queue/join", "/gradio_api/queue/data", "/gradio_api/cancel"),
    *("/gradio_api/reset", "/gradio_api/call/decode", "/gradio_api/call/decode/ab12"),
    *("/gradio_api/startup-events", "/gradio_api/mcp/sse", "/gradio_api/file=/a/b.js"),
    *("/gradio_api/file=C:/a/b.js", "/gradio_api/what-if/round", "/gradio_api/what-if/sweep"),
)
ABSENT = (
    *("/gradio_api/upload", "/gradio_api/upload_progress", "/gradio_api/component_server"),
    *("/gradio_api/proxy=https://a.hf.space/", "/gradio_api/proxy=http://127.0.0.1/"),
    *("/gradio_api/file=http://a.example/", "/gradio_api/file=HTTPS://a.example/"),
    *("/gradio_api/file=ftp://a.example/", "/gradio_api/file=file:///etc/passwd"),
    *("/gradio_api/file/etc/passwd", "/gradio_api/deep_link", "/gradio_api/heartbeat/me"),
    *("/gradio_api/run-history/buckets", "/gradio_api/run-history/connect", "/gradio_api/runs"),
    *("/gradio_api/vibe-edit/", "/gradio_api/vibe-code", "/gradio_api/process_recording"),
    *("/gradio_api/stream/a/1/2/playlist.m3u8", "/gradio_api/custom_component/a/b/c/d"),
    *("/gradio_api/run/decode", "/gradio_api/api/decode", "/gradio_api/token"),
    *("/gradio_api/user", "/gradio_api/dev/reload", "/gradio_api/profiling/traces"),
    *(
        "/gradio_api/queue/data/more",
        "/gradio_api/what-if/",
        "/gradio_api/",
        "/monitoring",
        "/monitoring/summary",
    ),
    *("/monitoring/key/dashboard", "/login", "/login/huggingface", "/logout", "/svelte/a.js"),
)


@pytest.mark.parametrize("path", USED)
def test_what_the_page_uses_is_there(path: str) -> None:
    assert is_used(path)


@pytest.mark.parametrize("path", ABSENT)
def test_everything_else_of_gradio_is_not(path: str) -> None:
    assert not is_used(path)


async def asked(request: Request) -> Response:
    return PlainTextResponse("here", headers={"x-content-type-options": "else"})


@pytest.mark.parametrize("root", ["", "/under"])
def test_the_gate_answers_before_the_application(root: str) -> None:
    routes = [Route(path, asked, methods=["GET", "POST"]) for path in ("/", ABSENT[0])]
    with TestClient(Gate(Starlette(routes=routes)), root_path=root) as client:
        here, absent = client.get(f"{root}/"), client.post(f"{root}{ABSENT[0]}")
    assert (here.status_code, absent.status_code) == (200, 404)
    for answer in (here, absent):
        assert HEADERS.items() <= dict(answer.headers).items()
