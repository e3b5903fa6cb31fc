"""The app as a visitor gets it: committed recordings at once, then a prompt really decoded by the
embedded pair.
"""

import json
import re
from collections.abc import Callable

import pytest
from gradio_client import Client
from playwright.sync_api import Page, expect

from presto.records import trace_from_json

pytestmark = [pytest.mark.browser, pytest.mark.weights]


def test_recorded_first_then_a_prompt_is_really_decoded(
    visit: Callable[..., Page], real_address: str
) -> None:
    page = visit(url=real_address)
    expect(page.locator('[data-part="badge"]')).to_have_text("recorded")
    page.get_by_label("Prompt", exact=True).fill("Write one sentence about the sea.")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator('[data-part="badge"]')).to_have_text("live")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled(timeout=180_000)
    expect(page.locator('[data-part="where"]')).to_have_text(re.compile(r"round (\d+) / \1"))
    expect(page.locator('[data-part="numbers"]')).to_contain_text("vs linear")
    expect(page.locator('[data-part="message"]')).to_be_hidden()


def test_the_api_returns_a_valid_trace(real_address: str) -> None:
    client = Client(real_address, verbose=False)
    try:
        answer = client.predict("Hello!", "presto", "", {"max_new_tokens": 8}, api_name="/decode")
    finally:
        client.close()
    trace = trace_from_json(json.dumps(answer))
    assert trace.prompt == "Hello!"
    assert 1 <= sum(len(round_.committed) for round_ in trace.rounds) <= 8
