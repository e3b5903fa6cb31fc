"""The queue before the model: the place in it is shown, it is bounded, and full in words."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.utils import QueueError, Status
from playwright.sync_api import Page, expect

from tests.support.browser import DECODING, run, until
from tests.support.server import SERVE, served

pytestmark = pytest.mark.browser
WAITING = 3


@pytest.fixture(scope="module")
def small(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with room for ``WAITING`` requests in the queue, and a run that does not end."""
    folder = tmp_path_factory.mktemp("queue")
    hold = folder / "hold"
    hold.touch()
    settings = {"PRESTO_RUNS": str(runs), "HOLD": str(hold), "PRESTO_QUEUE": str(WAITING)}
    with served(SERVE, folder / "log", **settings) as url:
        yield url
        hold.unlink()


def test_the_place_in_the_queue_is_shown_and_a_full_queue_is_refused_in_words(
    visit: Callable[..., Page], small: str
) -> None:
    client = Client(small, verbose=False)
    page = visit(
        url=small, expected="status of 422"
    )  # how Gradio answers a refusal; browsers log it

    def submit(*statuses: Status) -> None:
        job = client.submit("hello", "presto", "", {}, api_name="/decode")
        until(lambda: job.status().code in statuses)

    submit(*DECODING)
    submit(Status.IN_QUEUE)
    run(page, "hello")
    expect(page.get_by_text("queue: 2/2").first).to_be_visible()
    submit(Status.IN_QUEUE)
    with pytest.raises(QueueError):
        client.predict("hello", "presto", "", {}, api_name="/decode")
    late = visit(url=small, expected="status of 422")
    run(late, "hello")
    expect(late.get_by_text("3 requests are waiting already").first).to_be_visible()
    expect(late.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    late.get_by_role("combobox", name="Recorded run").click()
    late.get_by_role("option", name="Large").click()
    expect(late.locator('[data-part="where"]')).to_have_text("round 1 / 3")
