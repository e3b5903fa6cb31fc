"""The examples: recorded rounds that are what their buttons say."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from presto.paths import ASSETS
from presto.records import Recording, Trace, load_recording, save
from tests.support import synthetic
from ui.examples import Example, _opens, _wanted, examples
from ui.explore_payload import shown_first
from ui.recordings import recordings_in

RUNS = ASSETS / "runs"
LABELS = ["A long accept", "A tree that does not pay", "Another script", "Code"]


def named(label: str) -> tuple[Example, Trace, Trace]:
    """The example, the run that is shown of it, and its linear drafting."""
    (found,) = [example for example in examples(RUNS) if example.label == label]
    recording = load_recording(recordings_in(RUNS)[found.run])
    (linear,) = [trace for trace in recording.traces if trace.method == "linear"]
    return found, shown_first(recording), linear


def test_the_recordings_have_an_example_of_each_kind() -> None:
    assert [example.label for example in examples(RUNS)] == LABELS


def test_no_recorded_round_accepts_more_than_the_long_accept() -> None:
    found, run, _ = named("A long accept")
    lengths = [
        len(round_.accepted)
        for path in recordings_in(RUNS).values()
        for round_ in shown_first(load_recording(path)).rounds
    ]
    assert len(run.rounds[found.round - 1].accepted) == max(lengths) > 6
    assert found.words.startswith(f"{max(lengths)} drafted tokens")


def test_the_tree_that_does_not_pay_is_slower_than_linear_drafting() -> None:
    found, run, linear = named("A tree that does not pay")
    own, base = (
        sum(len(round_.committed) for round_ in trace.rounds)
        / sum(sum(vars(round_.seconds).values()) for round_ in trace.rounds)
        for trace in (run, linear)
    )
    assert own < base
    assert f"{own / base:.2f}× the speed" in found.words
    accepted, nodes = map(int, re.findall(r"\d+", found.words)[:2])
    shown = run.rounds[found.round - 1]
    assert (len(shown.accepted), len(shown.tree.tokens) - 1) == (accepted, nodes)


def test_the_other_script_is_one_and_the_code_is_code() -> None:
    script, run, _ = named("Another script")
    assert run.rounds[script.round - 1].accepted
    assert "Korean" in script.run
    code, run, _ = named("Code")
    assert "def " in "".join(run.pieces.values())
    tokens = sum(len(round_.committed) for round_ in run.rounds) / len(run.rounds)
    assert f"{tokens:.1f} tokens a round" in code.words


def test_other_recordings_have_only_the_examples_that_they_show(tmp_path: Path) -> None:
    assert examples(tmp_path / "none") == []
    empty = synthetic.recording("Empty", rounds=1)
    traces = tuple(replace(trace, rounds=()) for trace in empty.traces)
    save(Recording("Empty", "", traces), tmp_path / "1.json.gz")
    save(synthetic.recording("Usual", rounds=6), tmp_path / "2.json.gz")
    assert [(one.label, one.run) for one in examples(tmp_path)] == [("A long accept", "Usual")]


@pytest.mark.parametrize("title", ["Usual", 'a " b </script> ’'])
def test_a_button_opens_its_run_and_tells_the_page_its_round(title: str) -> None:
    opened = _opens(title, lambda run, ticket: (f"value of {run}", ticket))("ticket")
    assert opened == (title, f"value of {title}", "ticket")
    detail = re.search(r"detail: ({.*}) }\)", _wanted(Example("Label", title, 3, "words")))
    assert detail
    assert json.loads(detail[1]) == {"run": title, "round": 3, "words": "words"}
