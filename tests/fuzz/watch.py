"""What is wrong with an answer: the error, the time, the memory, the files written."""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr

from presto.models.catalogue import WeightsError
from tests.support.limits import watched
from ui.error_messages import FAILED

SECONDS, MEGABYTES, LONGEST = 2.0, 200.0, 600
REFUSALS = (ValueError, WeightsError, gr.Error)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_FOLDER = {
    "os.mkdir": 2,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
}  # argument: folder's number
_CHANGES = (*_FOLDER, "os.link", "os.symlink", "os.chmod")
_written: list[str] | None = None  # while a case runs: what it wrote


class HangError(BaseException):
    """A case took too long; no ``except Exception`` keeps it."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _written is None:
        return
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        _written.append(f"open {arguments[0]}")
    elif event in _CHANGES:
        number = arguments[_FOLDER[event]] if event in _FOLDER else -1
        folder = f"{os.readlink(f'/proc/self/fd/{number}')}/" if number >= 0 else ""
        _written.append(f"{event} {folder}{arguments[0]}")


sys.addaudithook(_audit)


@contextmanager
def _time_limit() -> Iterator[None]:
    """Interrupt Python code after ``SECONDS`` of processor time; compiled code is judged after."""

    def hang(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _writes() -> Iterator[list[str]]:
    global _written
    _written = []
    try:
        yield _written
    finally:
        _written = None


def sentence_problem(text: str) -> str:
    """Why a text is no refusal of one sentence; empty if it is one."""
    if not text.strip():
        return "an empty refusal"
    if "\n" in text or "Traceback" in text:
        return f"a refusal of several lines: {text[:300]!r}"
    if len(text) > LONGEST:
        return f"a refusal of {len(text)} characters: {text[:300]!r}"
    if text == FAILED:
        return "blamed on our side"
    return ""


@dataclass
class Tally:
    """How many cases of a kind were answered with a result, how many refused, and the most that
    one of them took.
    """

    answered: int = 0
    refused: int = 0
    slowest: float = 0.0  # seconds of processor time
    largest: float = 0.0  # megabytes of memory


def problem_of(run: Callable[[], object], tally: Tally, allowed: tuple[str, ...] = ()) -> str:
    """Run a case; what is wrong with its answer, empty if nothing is. ``allowed`` begins the paths
    that may be written.
    """
    problem = ""
    with watched() as cost, _writes() as written, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with _time_limit():
                run()
            tally.answered += 1
        except HangError:
            problem = "it hangs"
        except REFUSALS as error:
            tally.refused += 1
            ours = type(error) in REFUSALS
            problem = sentence_problem(str(getattr(error, "message", None) or error))
            problem = problem or ("" if ours else f"{type(error).__name__}: {error}")
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    tally.slowest = max(tally.slowest, cost.seconds)
    tally.largest = max(tally.largest, cost.megabytes)
    outside = [
        path for path in written if not path.split(" ", 1)[1].startswith(allowed or ("/dev/null",))
    ]
    if not problem and cost.seconds > SECONDS:
        problem = f"it took {cost.seconds:.1f} s"
    if not problem and cost.megabytes > MEGABYTES:
        problem = f"memory grew by {cost.megabytes:.0f} MB"
    if not problem and outside:
        problem = f"it wrote: {outside[:3]}"
    return problem
