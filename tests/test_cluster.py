"""A bench on a Ray cluster: equal to the local one, also where a worker is killed in the middle."""

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from presto import plugins
from presto.benchmarks import scorers, time_left
from presto.benchmarks.bench import Bench, measured_here, run_bench
from presto.benchmarks.measuring import Conditions, Measurer
from presto.benchmarks.result_file import ResultFile
from presto.benchmarks.results import parse_result
from presto.benchmarks.spread import checked, loader, measured_on, prepared
from presto.benchmarks.time_left import TimeLeft, duration
from presto.cluster import joining
from presto.cluster import pool as pool_module
from presto.cluster.joining import INSTALL, joined
from presto.cluster.pool import Pool, pool_of
from presto.commands.main import main
from presto.commands.options import PairChoice
from presto.models.registry import Pair
from presto.records import DecodeConfig
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop, StoppedError
from tests.support.benches import fatal_pair, tiny_pair
from tests.support.checks import some

ray = pytest.importorskip("ray")
ROOT = Path(__file__).resolve().parents[1]
LETTERS = "BCDEFGHIJKLMNOPQRSTUV"
PROMPTS = [Prompt("ab"[n > 6], LETTERS[n : n + 5], n + 1) for n in range(12)]
METHODS = ("ar", "linear", "presto")
CONFIG = DecodeConfig(max_new_tokens=24, budget=8, draft_length=4)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[str]:
    """The address of a cluster of two cores that all tests here share."""
    with joined():
        yield ray.get_runtime_context().gcs_address


def certain(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [run | {"seconds": 0} for run in json.loads(json.dumps(result["runs"]))]


@pytest.fixture(scope="module")
def local() -> list[dict[str, Any]]:
    """The runs of the bench in this process: token digests, rounds, forwards."""
    measurer = Measurer.loaded(tiny_pair, METHODS, CONFIG, False)
    bench = Bench(PROMPTS, METHODS, CONFIG, measurer.conditions())
    result = run_bench(bench, measured_here(measurer), ResultFile(None, False), Stop())
    assert len({run["text"] for run in result["runs"]}) == 12
    return certain(result)


def spread_bench(
    load: Callable[[], Any], path: Path, report: Callable[[int], None] = lambda number: None
) -> dict[str, Any]:
    with pool_of(loader(load, METHODS, CONFIG), 2) as pool:
        bench = Bench(PROMPTS, METHODS, CONFIG, checked(pool, PROMPTS))
        return run_bench(bench, measured_on(pool), ResultFile(path, False), Stop(), report)


def test_twelve_prompts_equal_the_local_bench_though_a_worker_is_killed(
    local: list[dict[str, Any]], tmp_path: Path
) -> None:
    """τ for τ and token for token; the killed worker's prompt is decoded again on another."""
    done: list[int] = []
    load = partial(fatal_pair, PROMPTS[5].text, tmp_path / "killed")
    result = spread_bench(load, tmp_path / "x.json", done.append)
    assert (tmp_path / "killed").exists()
    assert sorted(done) == list(range(12))
    assert certain(result) == local
    assert result["complete"]
    parse_result((tmp_path / "x.json").read_text())


def test_a_worker_has_the_plugins_of_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(
        "import pathlib; pathlib.Path(__file__).with_suffix('.ran').touch()"
    )
    monkeypatch.setattr(plugins, "_loaded", [])
    plugins.load_plugin(tmp_path / "own.py")
    (tmp_path / "own.ran").unlink()
    assert prepared(partial(int, 5))() == 5
    assert (tmp_path / "own.ran").exists()


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool[Pair]]:
    """One worker with the tiny pair."""
    with pool_of(tiny_pair, 1) as made:
        yield made


def test_scorers_are_compared_on_workers_as_here(pool: Pool[Pair]) -> None:
    comparison = scorers.Comparison(CONFIG, (4, 16))
    tasks = {n: prompt.text for n, prompt in enumerate(PROMPTS[:3])}
    here = dict(scorers.here(tiny_pair)(comparison, tasks, Stop()))
    there = dict(scorers.on_pool(pool)(comparison, tasks, Stop()))
    assert there == here
    lines = list(scorers.report([there[n] for n in range(3)], 16))
    assert len(lines) == len(dict(scorers.settings(CONFIG))) + len(scorers.ORACLES)


def encoded(pair: Pair, text: str) -> tuple[int, ...]:
    return pair.encode(text)


def killing(_: Pair) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_task_raises_is_raised_here_and_a_stop_ends_the_rest(pool: Pool[Pair]) -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        list(pool.results({1: partial(encoded, text=3)}))  # type: ignore[arg-type]
    tasks = {text: partial(encoded, text=text) for text in LETTERS}
    assert len(list(pool.results(tasks, lambda: True))) <= 1


def test_a_task_that_ends_every_worker_is_given_up_and_the_pool_works_on(
    pool: Pool[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "TRIES", 2)
    with pytest.raises(ValueError, match="task 7 ended 2 workers and is given up"):
        list(pool.results({7: killing}))
    assert dict(pool.results({"a": partial(encoded, text="BC")})) == {"a": (2, 3)}


@pytest.fixture
def presto(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    (tmp_path / "a.jsonl").write_text('{"text": "BC"}\n')

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["presto", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().err

    return run


BENCH = """
import sys
from presto.commands.main import main
from presto.commands.options import PairChoice
from tests.support.benches import tiny_pair
PairChoice.load = staticmethod(tiny_pair)
sys.argv = ["presto", "bench", "--ray", "--workers", "1", "--methods", "ar,presto", *sys.argv[1:]]
main()
"""


def test_the_command_stops_with_a_valid_file_and_goes_on(
    cluster: str,
    presto: Callable[..., tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    texts = [LETTERS[n : n + 6] for n in range(15)]
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    words = ("--data", str(tmp_path / "a.jsonl"), "--json", str(tmp_path / "x.json"))
    process = subprocess.Popen(
        [sys.executable, "-c", BENCH, *words],
        cwd=ROOT,
        env=os.environ | {"RAY_ADDRESS": cluster},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "of 15 done, about" in line:
            process.send_signal(signal.SIGINT)
            break
    _, told = process.communicate(timeout=180)
    assert process.returncode == 130, told
    assert "prompts are measured, kept in" in told
    partial_file = parse_result((tmp_path / "x.partial.json").read_text())
    assert 0 < len(partial_file.runs) < 30
    monkeypatch.setattr(PairChoice, "load", staticmethod(tiny_pair))
    assert presto("bench", "--resume", "--methods", "ar,presto", *words)[0] == 0
    whole = parse_result((tmp_path / "x.json").read_text())
    assert len(whole.runs) == 30
    assert [run for run in whole.runs if run in partial_file.runs] == [*partial_file.runs]


# Without a cluster


class Told(Pool[Measurer]):
    """A pool whose workers have told their results already."""

    def __init__(self, results: Mapping[Any, Any]) -> None:
        self._results = results

    def results(self, tasks: Mapping[Any, Any], stopped: Any = None) -> Iterator[tuple[Any, Any]]:
        yield from self._results.items()


def test_workers_that_measure_under_other_conditions_are_refused() -> None:
    one, two = (Conditions({"device": name}, {}, {}) for name in ("cpu", "tpu"))
    bench = Bench(PROMPTS, METHODS, CONFIG, one)
    with pytest.raises(ValueError, match=r"workers differ: .*tpu.* the first with .*cpu"):
        list(measured_on(Told({0: (two, [])}))(bench, Stop()))


def test_without_the_extra_one_sentence_says_what_to_install(
    presto: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = presto("bench", "--ray", "--data", str(tmp_path / "a.jsonl"))
    assert ended == (2, f"presto: {INSTALL}\n")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--ray", "--budget", "auto"), "--ray needs a number for --budget"),
        (("--workers", "2"), "--workers and --address need --ray"),
        (("--address", "auto"), "--workers and --address need --ray"),
    ],
)
def test_what_ray_cannot_be_asked_is_refused(
    presto: Callable[..., tuple[int, str]], tmp_path: Path, given: tuple[str, ...], named: str
) -> None:
    code, told = presto("bench", "--data", str(tmp_path / "a.jsonl"), *given)
    assert code == 2
    assert named in told


@pytest.mark.parametrize(("address", "tries"), [("127.0.0.1:9", 1), ("", joining.TRIES)])
def test_a_cluster_out_of_reach_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, address: str, tries: int
) -> None:
    asked: list[str] = []

    def fail(place: str, **_: object) -> None:
        asked.append(place)
        raise ConnectionError("nobody is there")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setattr(ray, "shutdown", lambda: None)  # of the cluster of these tests
    place = address or joining.OWN
    with pytest.raises(ValueError, match=f"no Ray cluster can be joined at {place}: nobody"):
        joined(address).__enter__()
    assert asked == [place] * tries


def test_one_cluster_at_a_time(cluster: str) -> None:
    with pytest.raises(ValueError, match="has joined a Ray cluster already"):
        joined(cluster).__enter__()
    assert ray.is_initialized()


def test_ray_is_imported_in_its_room_alone_and_only_inside_functions() -> None:
    found = []
    for path in some((ROOT / "presto").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "ray" for name in names):
                found.append((path.relative_to(ROOT).as_posix(), node in tree.body))
    assert {name.rsplit("/", 1)[0] for name, _ in some(found)} == {"presto/cluster"}
    assert not any(at_top for _, at_top in found)


def test_time_left_follows_from_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 10.0, 30.0, 33.0))
    monkeypatch.setattr(time_left.time, "monotonic", lambda: next(clock))
    job = TimeLeft(3)
    assert job.finished() == "1 of 3 done, about 20 s left"
    assert job.finished() == "2 of 3 done, about 15 s left"
    assert job.finished() == "3 of 3 done"
    assert [duration(s) for s in (0.2, 99.4, 99.6, 5940, 6000)] == [
        "0 s", "99 s", "2 min", "99 min", "1 h 40 min",
    ]  # fmt: skip


def test_a_stopped_comparison_keeps_the_drafts_that_no_earlier_one_lacks(tmp_path: Path) -> None:
    comparison = scorers.Comparison(CONFIG, (4,))
    tasks = {n: prompt.text for n, prompt in enumerate(PROMPTS[:4])}
    done = dict(scorers.here(tiny_pair)(comparison, tasks, Stop()))
    stop, path = Stop(), tmp_path / "r.npz"
    stop.signal = signal.SIGINT
    measured = ((number, done[number]) for number in (1, 0, 3))
    with pytest.raises(StoppedError, match=r"stopped; .*r\.npz has 2 prompts' drafts"):
        scorers.compared(measured, 4, path, stop)
    assert len(scorers.load_references(path)) == 2
    whole = scorers.compared(((n, done[n]) for n in (2, 3, 0, 1)), 4, path, stop)
    assert whole == [done[n] for n in range(4)]
    assert [r.text for r in scorers.load_references(path)] == [d.reference.text for d in whole]
