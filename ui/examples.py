"""Recorded rounds worth a look, each one click away: found among the recordings by what they show,
so that an example is always what it says.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from presto.records import Trace, load_recording
from presto.records.measures import acceptance_length, speedup, spelled_output
from ui.explore_payload import shown_first
from ui.recordings import recordings_in

FEWEST_ROUNDS = 10  # of a run that can tell whether trees pay
LETTER, LATIN = re.compile(r"[^\W\d_]"), re.compile(r"[A-Za-zÀ-ɏ]")


class Example(NamedTuple):
    """``round`` (from 1) of a recorded ``run``, and in ``words`` what is to be seen there."""

    label: str
    run: str
    round: int
    words: str


class Candidate(NamedTuple):
    """A recording as the finders need it: the run that is shown, and linear drafting's."""

    title: str
    shown: Trace
    linear: Trace | None

    @property
    def longest(self) -> tuple[int, int]:
        """The most drafted tokens that one of its rounds accepts, and that round, from 1."""
        accepted = [len(round_.accepted) for round_ in self.shown.rounds]
        return max(accepted), 1 + accepted.index(max(accepted))

    @property
    def text(self) -> str:
        """What the run has written."""
        return spelled_output(self.shown)


def _long_accept(runs: Sequence[Candidate]) -> Example | None:
    run = max(runs, key=lambda run: run.longest)
    count, place = run.longest
    words = f"{count} drafted tokens accepted at once, checked by one pass of the target."
    return Example("A long accept", run.title, place, words)


def _does_not_pay(runs: Sequence[Candidate]) -> Example | None:
    slow = [
        (ratio, run)
        for run in runs
        if len(run.shown.rounds) >= FEWEST_ROUNDS
        and run.linear
        and (ratio := speedup(run.shown, run.linear)) is not None
        and ratio < 1
    ]
    if not slow:
        return None
    ratio, run = min(slow, key=lambda found: found[0])
    accepted = [len(round_.accepted) for round_ in run.shown.rounds]
    place = 1 + accepted.index(min(accepted))
    nodes = len(run.shown.rounds[place - 1].tree.tokens) - 1  # without the root
    words = (
        f"{min(accepted)} of {nodes} nodes accepted here; the whole run has {ratio:.2f}× the speed "
        "of linear drafting."
    )
    return Example("A tree that does not pay", run.title, place, words)


def _another_script(runs: Sequence[Candidate]) -> Example | None:
    def foreign(run: Candidate) -> float:
        letters = LETTER.findall(run.text)
        return sum(not LATIN.match(letter) for letter in letters) / max(1, len(letters))

    run = max(runs, key=foreign)
    if not foreign(run):
        return None
    words = (
        f"{foreign(run):.0%} of this text’s letters are not Latin; a character is shown when its "
        "last byte has come."
    )
    return Example("Another script", run.title, run.longest[1], words)


def _code(runs: Sequence[Candidate]) -> Example | None:
    found = [run for run in runs if re.search(r"\bdef \w+\(", run.text)]
    if not found:
        return None
    run = max(found, key=lambda run: acceptance_length(run.shown))
    tokens = acceptance_length(run.shown)
    words = f"Code is easy to draft: {tokens:.1f} tokens a round over the whole run."
    return Example("Code", run.title, run.longest[1], words)


FINDERS: tuple[Callable[[Sequence[Candidate]], Example | None], ...] = (
    _long_accept,
    _does_not_pay,
    _another_script,
    _code,
)


@lru_cache(maxsize=4)
def examples(folder: Path) -> list[Example]:
    """What there is to be seen among the recordings in ``folder``."""
    runs = [
        Candidate(title, shown_first(recording), linear)
        for title, path in recordings_in(folder).items()
        for recording in (load_recording(path),)
        for linear in (next((t for t in recording.traces if t.method == "linear"), None),)
    ]
    drafted = [run for run in runs if run.shown.rounds]
    if not drafted:
        return []
    return [example for finder in FINDERS if (example := finder(drafted)) is not None]


def example_buttons(
    folder: Path,
    open_run: Callable[..., tuple[Any, ...]],
    ticket: gr.State,
    opened: Sequence[Any],
    how: dict[str, Any],
) -> None:
    """A button for each. It opens its run by ``open_run(title, ticket)``, which fills ``opened``
    behind the run's title, at its round; ``how`` says how Gradio serves that.
    """
    for example in examples(folder):
        button = gr.Button(example.label, size="sm", scale=0, min_width=0)
        button.click(None, js=_wanted(example))
        button.click(_opens(example.run, open_run), ticket, opened, **how)


def _opens(title: str, open_run: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    def open_example(ticket: Any) -> tuple[Any, ...]:
        return title, *open_run(title, ticket)

    return open_example


def _wanted(example: Example) -> str:
    """Tells the player's script which round is to be shown as soon as its run is there."""
    detail = json.dumps({"run": example.run, "round": example.round, "words": example.words})
    return f"() => document.dispatchEvent(new CustomEvent('presto-want', {{ detail: {detail} }}))"
