"""A running server asked for what it must not give: files, other servers, and who may frame it."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

import plotly
import pytest
from playwright.sync_api import Page

from presto.records import save
from tests.support import synthetic
from tests.support.server import SERVE, served
from ui.gate import HEADERS
from ui.queue import NO_FILES

pytestmark = pytest.mark.browser  # they need the served app, as the tests beside them
SECRET = b"a secret of this machine"
DECODE, JSON = "/gradio_api/call/decode", {"Content-Type": "application/json"}


class Inside(BaseHTTPRequestHandler):
    """A server that only this machine reaches; it counts who asks."""

    asked: list[str] = []  # noqa: RUF012 (of the class, since a handler is made per request)

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(SECRET)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def inside() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Inside) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/secret"
        server.shutdown()


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outside") / "secret.json"
    path.write_bytes(SECRET)
    return path


@pytest.fixture(scope="module")
def site(secret: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and runs folder of an app; in the folder lies a link that leads out of it."""
    folder = tmp_path_factory.mktemp("served")
    save(synthetic.recording("Usual", rounds=2), folder / "1.json.gz")
    (folder / "link.json").symlink_to(secret)
    with served(SERVE, tmp_path_factory.mktemp("log") / "log", PRESTO_RUNS=str(folder)) as url:
        yield url, folder


def ask(url: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes, dict]:
    """Status, body and headers of an answer to a path that nobody has tidied up."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    sent = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, sent, headers)
    answer = connection.getresponse()
    found = answer.status, answer.read(1 << 20), {k.lower(): v for k, v in answer.getheaders()}
    connection.close()
    return found


def traversals(secret: Path, folder: Path) -> list[str]:
    """Ways to ask for a file outside of what is served."""
    up, path = "../" * 12, secret.as_posix()
    scripts = Path(plotly.__file__).parent / "package_data"
    ways = [
        path,
        path.replace("/", "//"),
        f"{folder}/{up}{path}",
        f"{folder}/link.json",
        f"{scripts}/../../../{up}{path}",
        quote(path, safe=""),
        quote(quote(path, safe=""), safe=""),
        f"{folder}/" + quote(f"{up}{path}", safe=""),
        f"{folder}/" + f"{up}{path}".replace("../", "..%2f"),
        f"{folder}/" + f"{up}{path}".replace("../", "%2e%2e/"),
        f"{folder}/" + f"{up}{path}".replace("../", "..\\"),
        f"{folder}%00/{up}{path}",
        f"file://{path}",
        f"/proc/self/root{path}",
        "/proc/self/environ",
        "/etc/passwd",
        "/dev/stdin",
        ".",
        f"{folder}",
        "app.py",
        "~/.ssh/id_rsa",
    ]
    return [f"/gradio_api/file={way}" for way in ways] + [
        *(f"{start}{up}{path}" for start in ("/", "/static/", "/assets/", "/static/..%2f")),
        *(f"{start}{path}" for start in ("/static/", "/assets/", "/gradio_api/file/", "/file=")),
        f"/static/{quote(up + path, safe='')}",
        f"/gradio_api/custom_component/a/server/b{quote('/' + up + path, safe='')}",
        f"/gradio_api/stream/a/1/2/{quote(up + path, safe='')}",
    ]


def test_no_file_outside_of_what_is_served_comes_out(site: tuple[str, Path], secret: Path) -> None:
    url, folder = site
    for path in traversals(secret, folder):
        status, body, _ = ask(url, path)
        assert status in (400, 403, 404), path
        assert SECRET not in body
        assert b"root:" not in body
    assert ask(url, f"/gradio_api/file={folder}/1.json.gz")[0] == 200


def test_the_server_asks_no_other_server(site: tuple[str, Path], inside: str) -> None:
    url, folder = site
    host = urlsplit(inside).netloc
    for way in ("file=", "file%3D", "proxy=", "proxy%3D", "file/", f"file={folder}/../"):
        for address in (
            inside,
            inside.upper(),
            quote(inside, safe=""),
            quote(quote(inside, safe=""), safe=""),
            inside.replace("127.0.0.1", "localhost"),
            inside.replace("127.0.0.1", "[::1]"),
            inside.replace("127.0.0.1", "2130706433"),
            f"http://a.hf.space@{host}/secret",
            f"//{host}/secret",
            "http://169.254.169.254/latest/meta-data/",
        ):
            status, body, headers = ask(url, f"/gradio_api/{way}{address}")
            assert status in (400, 403, 404), (way, address)
            assert SECRET not in body
            assert "location" not in headers
    assert Inside.asked == []


def test_a_call_makes_the_server_fetch_nothing(
    site: tuple[str, Path], inside: str, secret: Path
) -> None:
    files = [{"path": str(secret)}, {"path": inside}, {"path": "x", "url": inside}]
    for file in [{**file, "meta": {"_type": "gradio.FileData"}} for file in files]:
        for data in ([file, "presto", "", None], ["hello", "presto", "", {"stop": [file]}]):
            status, body, _ = ask(site[0], DECODE, {"data": data}, **JSON)
            assert (status, json.loads(body)["detail"]) == (400, NO_FILES)
    assert Inside.asked == []


@pytest.mark.parametrize(
    "body", ["[" * 200_000, '{"data": ' + "[" * 200_000, '{"data": 7}', "\ud800"]
)
def test_a_broken_body_is_refused(site: tuple[str, Path], body: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(site[0]).netloc, timeout=30)
    connection.request("POST", DECODE, body.encode("utf-8", "surrogatepass"), JSON)
    assert connection.getresponse().status in (400, 413, 422)
    connection.close()


def test_every_answer_says_what_may_be_done_with_it(site: tuple[str, Path]) -> None:
    url, folder = site
    for path in ("/", "/config", f"/gradio_api/file={folder}/1.json.gz", "/gradio_api/upload"):
        _, _, headers = ask(url, path)
        assert HEADERS.items() <= headers.items(), path
        assert "x-frame-options" not in headers  # Spaces and papers show the page in a frame
        assert "set-cookie" not in headers
        assert headers.get("access-control-allow-origin") is None


def test_another_page_gets_no_answer_it_could_read(site: tuple[str, Path]) -> None:
    for path in ("/config", "/gradio_api/info"):
        _, _, headers = ask(site[0], path, Origin="http://elsewhere.example")
        assert headers.get("access-control-allow-origin") != "http://elsewhere.example"


def test_the_page_can_ask_no_other_server(visit: Callable[..., Page], address: str) -> None:
    page = visit(expected="Content Security Policy")
    asked = "fetch('http://elsewhere.example/').then(() => 'came', (error) => String(error))"
    assert "TypeError" in page.evaluate(asked)
    loaded = """new Promise((done) => {
        const image = new Image();
        image.onload = () => done('came');
        image.onerror = () => done('refused');
        image.src = 'http://elsewhere.example/x.png';
    })"""
    assert page.evaluate(loaded) == "refused"
