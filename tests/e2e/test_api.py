"""Programs that call a running server: answers, refusals, and clients that are killed."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.support.browser import until

pytestmark = pytest.mark.browser  # they need the served app, as the tests beside them
Release = Callable[[], None]
CALL = "/gradio_api/call/decode"
# A client as people write them. It tells when the first round has come.
PROGRAM = """
import sys, time
from gradio_client import Client
from gradio_client.utils import Status
client = Client(sys.argv[1], verbose=False)
if sys.argv[2] == "decode":
    job = client.submit("hello", "presto", "", {}, api_name="/decode")
else:
    job = client.submit("hello", [{"method": "presto"}, {"method": "ar"}], "", api_name="/compare")
while job.status().code is not Status.ITERATING:
    time.sleep(0.05)
print("decoding", flush=True)
time.sleep(600)
"""


def test_the_api_decodes_and_refuses_in_words(address: str) -> None:
    client = Client(address, verbose=False)
    trace = client.predict("hello", "linear", "", {"budget": 8}, api_name="/decode")
    assert trace["method"] == "linear"
    again = client.predict("hello", "linear", "", trace["config"], api_name="/decode")
    assert again["config"] == trace["config"]
    with pytest.raises(AppError, match="The prompt is blank"):
        client.predict(" ", "linear", "", {}, api_name="/decode")


def closed(closed_log: Path, release: Release) -> str:
    """Let the run go on; what the server's decoding says of its end."""
    closed_log.unlink(missing_ok=True)
    release()
    until(closed_log.exists)
    return closed_log.read_text()


@pytest.mark.parametrize("endpoint", ["decode", "compare"])
def test_a_client_killed_in_the_middle_ends_its_run_within_a_round(
    address: str, closed_log: Path, release: Release, endpoint: str
) -> None:
    command = [sys.executable, "-c", PROGRAM, address, endpoint]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "decoding\n"
        time.sleep(1)  # to the round after which runs wait
        program.kill()
    time.sleep(2)  # the server notices
    assert closed(closed_log, release) == "presto 5\n"


def join(address: str) -> tuple[str, str]:
    """Ask for a run as any program can; the server and the event to listen to."""
    host = urlsplit(address).netloc
    connection = http.client.HTTPConnection(host, timeout=60)
    body = json.dumps({"data": ["hello", "presto", "", {}]})
    connection.request("POST", CALL, body, {"Content-Type": "application/json"})
    event = json.loads(connection.getresponse().read())["event_id"]
    connection.close()
    return host, event


def test_a_program_that_hangs_up_ends_its_run_within_a_round(
    address: str, closed_log: Path, release: Release
) -> None:
    host, event = join(address)
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", f"{CALL}/{event}")
    stream = connection.getresponse()
    assert stream.readline() == b"event: generating\n"
    time.sleep(1)
    connection.sock.close()
    stream.close()
    time.sleep(2)
    assert closed(closed_log, release) == "presto 5\n"


def test_a_program_that_never_listens_ends_its_run(
    address: str, closed_log: Path, release: Release
) -> None:
    join(address)
    time.sleep(12)  # more than the server's patience
    assert closed(closed_log, release) == "presto 5\n"
