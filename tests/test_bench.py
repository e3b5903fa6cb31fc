"""The benchmark without a model: what is measured is kept, and goes on where it stopped."""

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from presto.benchmarks import bench as bench_module
from presto.benchmarks import measuring
from presto.benchmarks.bench import Bench, measured_here, run_bench
from presto.benchmarks.parts import Shard
from presto.benchmarks.result_file import ResultFile
from presto.benchmarks.results import parse_result
from presto.commands.main import main
from presto.commands.options import PairChoice
from presto.records import load_recording, load_trace
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop
from presto.scorers import SCORERS, scorer
from tests.support.benches import (
    CONFIG,
    METHODS,
    PROMPTS,
    begun,
    certain,
    measurer,
    pair,
    ran,
    stopping,
)
from viz.bench_info import where_line

CALLS = 85  # of the target, until a stop comes in the middle of the second prompt


def stop_in_the_middle(path: Path) -> list[dict[str, Any]]:
    """The runs of a bench that was stopped."""
    stop = Stop()
    pair = stopping(CALLS, lambda: setattr(stop, "signal", signal.SIGINT))
    return list(ran(path, pair, stop=stop)["runs"])


def test_a_stopped_bench_leaves_a_valid_file_that_says_so_and_goes_on(tmp_path: Path) -> None:
    whole = ran(tmp_path / "whole.json", pair())
    assert whole["complete"]
    stopped = stop_in_the_middle(tmp_path / "x.json")
    assert 3 < len(stopped) < 9
    partial = parse_result((tmp_path / "x.partial.json").read_text())
    assert not partial.complete
    assert sum(partial.prompts.values()) == 1
    assert partial.plan is not None
    assert partial.plan.prompts == {"a": 2, "b": 1}
    assert "stopped after 1 of 3 prompts" in where_line(partial)
    assert not (tmp_path / "x.json").exists()
    result = ran(tmp_path / "x.json", pair(), resume=True)
    assert [run for run in result["runs"] if run in stopped] == stopped
    assert certain(result) == certain(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["whole.json", "x.json"]
    assert parse_result((tmp_path / "x.json").read_text()).complete


def test_it_counts_why_every_round_of_a_drafting_method_ended() -> None:
    result = ran(None, pair())
    # The third candidates begin behind the right one; the cap leaves a last draft of one position.
    of_a_run, of_all = {"depth": 1, "top_k": 2}, {"depth": 3, "top_k": 6}
    for method in ("linear", "presto"):
        runs = [run["ends"] for run in result["runs"] if run["method"] == method]
        assert runs == [of_a_run] * len(PROMPTS)
        assert result["methods"][method]["ends"] == of_all
    assert result["methods"]["ar"]["ends"] == {}


def test_ends_of_a_scorer_that_reads_hidden_states_are_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SCORERS, "_records", dict(SCORERS._all()))
    scorer("reads_states", needs_hidden=True)(lambda drafted: 0 * drafted.tokens)
    own = measurer(pair())
    trace = own._decoded(own.methods[1], PROMPTS[0], CONFIG, Stop())
    assert len(own._ends(trace)) == len(trace.rounds)
    hidden = replace(trace, config=replace(trace.config, scorer="reads_states"))
    assert own._ends(hidden) == []


def test_nothing_is_measured_twice(tmp_path: Path) -> None:
    result = ran(tmp_path / "x.json", pair())
    untouched = stopping(1, lambda: pytest.fail("decoded again"))
    assert certain(ran(tmp_path / "x.json", untouched, resume=True)) == certain(result)


def test_an_unfinished_bench_is_not_overwritten(tmp_path: Path) -> None:
    stop_in_the_middle(tmp_path / "x.json")
    before = (tmp_path / "x.partial.json").read_bytes()
    with pytest.raises(ValueError, match=r"x\.partial\.json holds a bench that was stopped"):
        ResultFile(tmp_path / "x.json", False)
    assert (tmp_path / "x.partial.json").read_bytes() == before
    with pytest.raises(ValueError, match="--resume needs --json"):
        ResultFile(None, True)


def test_a_finished_one_stays_until_the_next_is_finished(tmp_path: Path) -> None:
    ran(tmp_path / "x.json", pair())
    before = (tmp_path / "x.json").read_bytes()
    stop_in_the_middle(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_bytes() == before
    assert (tmp_path / "x.partial.json").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda b: setattr(b, "config", replace(CONFIG, max_new_tokens=9)), "max_new_tokens was 8"),
        (lambda b: setattr(b, "methods", METHODS[:2]), "methods was"),
        (lambda b: setattr(b, "prompts", PROMPTS[:2]), "prompts was"),
        (lambda b: setattr(b, "prompts", [*PROMPTS[:2], Prompt("b", "AB")]), "data was"),
        (lambda b: setattr(b, "shard", Shard(2, 3)), "part was None, now it is .*'number': 2"),
    ],
)
def test_other_settings_are_refused_by_name(
    tmp_path: Path, change: Callable[[Bench], None], named: str
) -> None:
    stop_in_the_middle(tmp_path / "x.json")
    own = measurer(pair())
    bench = begun(own)
    change(bench)
    with pytest.raises(ValueError, match=named):
        bench.resume(ResultFile(tmp_path / "x.json", True))


@pytest.mark.parametrize("name", ["versions", "where", "mode"])
def test_other_versions_and_devices_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stop_in_the_middle(tmp_path / "x.json")
    other = pair()
    place = measuring.where(other.system) | {"device": "tpu"}
    told = {"versions": lambda: {"torch": "9"}, "where": lambda pair: place}
    if name == "mode":
        other.system.mode = "other"  # type: ignore[misc]
    else:
        monkeypatch.setattr(measuring, name, told[name])
    named = r"versions was|device was cpu, now it is tpu|mode was scripted, now it is other"
    with pytest.raises(ValueError, match=named):
        ran(tmp_path / "x.json", other, resume=True)


def test_what_was_measured_before_a_failure_is_kept(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("the device is gone")

    with pytest.raises(RuntimeError, match="the device is gone"):
        ran(tmp_path / "x.json", stopping(CALLS, fail))
    assert len(parse_result((tmp_path / "x.partial.json").read_text()).runs) > 3


def test_it_is_written_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_module, "WRITE_SECONDS", 0.0)
    seen: list[int] = []

    def look(_: int) -> None:
        path = tmp_path / "x.partial.json"
        seen.append(len(parse_result(path.read_text()).runs) if path.exists() else 0)

    ran(tmp_path / "x.json", pair(), report=look)
    assert seen == [0, 3, 6]


def test_a_prompt_beyond_the_context_is_refused_before_any_is_decoded() -> None:
    prompts = [*PROMPTS, Prompt("c", "A" * 600, 7)]
    untouched = measurer(stopping(1, lambda: pytest.fail("decoded")))
    with pytest.raises(ValueError, match=r"c, line 7: the prompt has 600 tokens"):
        untouched.check(prompts)


# The command


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def presto(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Ended]:
    """A command with the double for a pair, in an empty folder; ``after`` so many questions to its
    target it gets a TERM.
    """
    (tmp_path / "a.jsonl").write_text('{"text": "AB"}\n{"text": "C"}\n{"text": "ABC"}\n')
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, after: int = 0) -> Ended:
        made = stopping(after, lambda: signal.raise_signal(signal.SIGTERM))
        monkeypatch.setattr(PairChoice, "load", lambda self: made)
        monkeypatch.setattr(sys, "argv", ["presto", *arguments, *SHORT])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capsys.readouterr())

    return run


SHORT = ("--max-new-tokens", "8", "--budget", "5")
BENCH = ("bench", "--data", "a.jsonl", "--json", "x.json", "--methods", "ar,presto,ar")


def test_the_command_bench_stops_and_goes_on(presto: Callable[..., Ended], tmp_path: Path) -> None:
    stopped = presto(*BENCH, after=50)
    assert stopped.code == 143
    assert "of 3 prompts are measured, kept in x.partial.json: add --resume" in stopped.err
    refused = presto(*BENCH)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
    finished = presto(*BENCH, "--resume")
    assert finished.code == 0
    assert finished.out.startswith("method")
    assert parse_result((tmp_path / "x.json").read_text()).complete
    assert presto(*BENCH, "--resume").code == 0


def test_the_command_bench_measures_parts_and_merges_them(
    presto: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert presto(*BENCH).code == 0
    parts = [f"{number}.json" for number in (3, 1, 2)]
    for file in parts:
        ended = presto(
            *BENCH[:3], "--methods", "ar,presto", "--json", file, "--shard", f"{file[0]}/3"
        )
        assert ended.code == 0, ended.err
        assert f"prompt {file[0]} of 3, rounds" in ended.err
    monkeypatch.setattr("tests.test_bench.SHORT", ())
    ended = presto("bench", "merge", *parts, "--json", "all.json")
    assert ended.code == 0
    assert ended.out.startswith("method")
    joined, whole = (json.loads((tmp_path / name).read_text()) for name in ("all.json", "x.json"))
    assert certain(joined) == certain(whole)
    assert joined.keys() == whole.keys()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("bench",), "presto bench needs --data"),
        ((*BENCH, "--shard", "4/3"), "--shard must be I/N"),
        ((*BENCH[:3], "--shard", "1/3"), "--shard needs --json"),
        (("bench", "--data", "a.jsonl", "merge", "a", "--json", "b"), "leave out --data"),
        (("bench", "merge", "a.json", "--json", "./a.json"), "is one of the parts"),
        (("bench", "merge", "a.json", "--json", "no/x.json"), "there is no folder"),
        (("bench", "merge", "no.json", "--json", "x.json"), "no such result file: no.json"),
    ],
)
def test_parts_that_cannot_be_are_refused(
    presto: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.setattr("tests.test_bench.SHORT", ())
    ended = presto(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((*BENCH[:4], "no/x.json"), "cannot write no/x.json: there is no folder"),
        ((*BENCH[:3], "--resume"), "--resume needs --json"),
        (("bench", "--data", "bad.jsonl"), "bad.jsonl, line 2: half a surrogate pair"),
        (("bench", "--data", "."), "is a folder"),
        (("bench", "--data", ""), "the name of a prompt file is empty"),
        (("decode", "A", "--trace", "."), "cannot write .: it is a folder"),
        (("record", "A", "--title", "T", "--out", "no/x.json"), "there is no folder"),
        (("record", "A", "--title", "T" * 2000, "--out", "x.json"), "1,000 characters of title"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_the_work(
    presto: Callable[..., Ended], tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": "A"}\n{"text": "\\ud800"}\n')
    ended = presto(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err
    assert ended.err.count("\n") == 1


def test_decode_and_record_keep_what_is_decoded(
    presto: Callable[..., Ended], tmp_path: Path
) -> None:
    ended = presto("decode", "AB", "--trace", "run.json", "--method", "ar", after=4)
    assert ended.code == 143
    assert "4 of at most 8 tokens, the run so far is in run.json" in ended.err
    trace = load_trace(tmp_path / "run.json")
    assert (trace.finish, len(trace.rounds)) == ("stopped", 4)
    assert ended.out.strip() == trace.text
    record = ("record", "AB", "--title", "T", "--out", "two.json", "--methods", "ar,linear,presto")
    ended = presto(*record, after=40)
    assert ended.code == 143
    assert "of 3 methods were begun, two.json has what was decoded" in ended.err
    recording = load_recording(tmp_path / "two.json")
    assert 0 < len(recording.traces) < 3
    assert recording.traces[-1].finish == "stopped"
    assert presto("decode", "AB", "--trace", "run.json").code == 0
    assert load_trace(tmp_path / "run.json").finish == "length"


CHOSEN = [("--budget", "auto"), ("--budget", "5"), ("--draft-length", "4"), ()]


@pytest.mark.parametrize("given", CHOSEN, ids=" ".join)
def test_decode_chooses_unless_it_is_told(
    presto: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: tuple[str, ...],
) -> None:
    monkeypatch.setattr("tests.test_bench.SHORT", ("--max-new-tokens", "8"))
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path))
    assert presto("decode", "AB", "--trace", "run.json", *given).code == 0
    trace = load_trace(tmp_path / "run.json")
    if given in (CHOSEN[0], CHOSEN[3]):
        assert trace.tuning is not None
        assert trace.config.budget in trace.tuning.acceptance.budgets
        assert trace.config.draft_length in trace.tuning.acceptance.lengths
    else:
        assert trace.tuning is None
        own = {(): 0, CHOSEN[1]: (5, 12), CHOSEN[2]: (32, 4)}[given]
        assert (trace.config.budget, trace.config.draft_length) == own


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--budget", "many"), "budget must be a whole number or auto, got 'many'"),
        (("--budget", "auto", "--draft-length", "4"), "chooses the draft length too"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(
    presto: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.setattr("tests.test_bench.SHORT", ())
    ended = presto("decode", "AB", *given)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err


def test_a_bench_chooses_for_every_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path))
    own = measurer(pair(), auto=True)
    bench, file = begun(own), ResultFile(tmp_path / "x.json", False)
    result = run_bench(bench, measured_here(own), file, Stop())
    assert set(result["chosen"]) == {"linear", "presto"}
    read = parse_result((tmp_path / "x.json").read_text())
    assert read.chosen["presto"].budget == result["chosen"]["presto"]["budget"]
    other = {"presto": {"budget": 7, "draft_length": 3}}
    again = replace(bench, conditions=replace(bench.conditions, chosen=other), runs={})
    with pytest.raises(ValueError, match="cannot be gone on with: chosen was"):
        again.resume(ResultFile(tmp_path / "x.json", True))
    assert ran(None, pair())["chosen"] == {}


def test_progress_is_shown_on_a_terminal_only(
    presto: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("decode", "AB", "--method", "ar")
    assert presto(*arguments).err == ""
    monkeypatch.setattr("presto.commands.progress.PER_SECOND", 10**9)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown = presto(*arguments).err
    assert "\rar: 3 of at most 8 tokens, 3 rounds, " in shown
    assert shown.endswith("\r")
    assert json.dumps(shown).count("\\n") == 0
