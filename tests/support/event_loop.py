"""Gradio outside of a running server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def in_a_loop(build: Callable[[], Any]) -> Any:
    """Call ``build`` inside an event loop of its own: outside of one, Gradio opens loops that it
    never closes.
    """

    async def call() -> Any:
        return build()

    with ThreadPoolExecutor(
        1
    ) as thread:  # the main thread may already be running Playwright's loop
        return thread.submit(lambda: asyncio.run(call())).result()
