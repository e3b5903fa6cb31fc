"""A bench in parts: together they are the whole, and what is not one bench is refused by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.benchmarks.parts import Shard, merged, shard_of
from presto.benchmarks.result_file import ResultFile, content
from presto.benchmarks.results import parse_result
from tests.support.benches import METHODS, begun, certain, measurer, pair, ran
from viz.bench_info import where_line

Content = dict[str, Any]


@given(st.integers(0, 40), st.integers(1, 45))
def test_every_prompt_is_in_one_part(prompts: int, of: int) -> None:
    shards = [Shard(number, of).numbers(prompts) for number in range(1, of + 1)]
    assert sorted(number for shard in shards for number in shard) == list(range(prompts))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        *((text, f"I/N with .*got {text!r}") for text in ("", "3", "0/3", "4/3", "1/0", "-1/3")),
        *((text, "I/N with") for text in ("1/3/3", "1.0/3", "１/３", " 1/3", "1/99999")),
        ("1/4", "--shard 1/4 has parts without a prompt: there are 3 prompts"),
    ],
)
def test_a_shard_that_cannot_be_is_refused(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        shard_of(text, 3)
    assert shard_of("2/3", 3) == Shard(2, 3)


@pytest.fixture(scope="module")
def whole() -> Content:
    """The file's content of a bench that was measured in one go."""
    parsed: Content = json.loads(content(ran(None, pair())))
    return parsed


def cut(whole: Content, of: int, folder: Path) -> list[Path]:
    """The files that the parts of ``whole`` would have left with its very runs, the last first."""
    runs = parse_result(json.dumps(whole)).runs
    paths = []
    for number in range(of, 0, -1):
        bench = begun(measurer(pair()), Shard(number, of))
        for run in runs:
            if run.prompt in bench.numbers:
                bench.add(run)
        paths.append(folder / f"{number}.json")
        ResultFile(paths[-1], False).write(bench.result())
    return paths


@pytest.mark.parametrize("of", [2, 3])
def test_the_parts_of_a_bench_join_to_its_file(whole: Content, of: int, tmp_path: Path) -> None:
    assert content(merged(cut(whole, of, tmp_path))) == content(whole)


def test_parts_that_were_measured_on_their_own_join_to_the_whole(
    whole: Content, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.json" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        ran(path, pair(), shard=Shard(number, 3))
        part = parse_result(path.read_text())
        assert [run.prompt for run in part.runs] == [number - 1] * len(METHODS)
        assert f"part {number} of 3" in where_line(part)
    joined = json.loads(content(merged(paths)))
    assert certain(joined) == certain(whole)
    assert "part" not in joined
    assert joined["plan"] == whole["plan"]


def test_a_part_goes_on_where_it_stopped(whole: Content, tmp_path: Path) -> None:
    (path,) = (p for p in cut(whole, 2, tmp_path) if p.name == "1.json")
    done = json.loads(path.read_text())
    half = done | {
        "prompts": {},
        "complete": False,
        "runs": done["runs"][:2],
        "methods": {},
        "datasets": {},
    }
    path.unlink()
    (tmp_path / "1.partial.json").write_text(json.dumps(half))
    assert "stopped after 0 of 2 prompts" in where_line(parse_result(json.dumps(half)))
    with pytest.raises(ValueError, match=r"1\.partial\.json is not complete: finish it"):
        merged([tmp_path / "1.partial.json", tmp_path / "2.json"])
    ran(path, pair(), resume=True, shard=Shard(1, 2))
    joined = json.loads(content(merged([path, tmp_path / "2.json"])))
    assert certain(joined) == certain(whole)


def changed(*place: str | int, to: object) -> Callable[[Content], None]:
    """An edit of one field."""

    def edit(file: Content) -> None:
        inner: Any = file
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = to

    return edit


def without(place: str) -> Callable[[Content], None]:
    return lambda file: file.pop(place)


OTHER = "2.json does not belong to .*1.json: "
SETS = [["a", 1], ["b", 1], ["a", 1]]


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (changed("config", "budget", to=6), OTHER + "budget is 6, there it is 5"),
        (changed("where", "device", to="tpu"), OTHER + "device is tpu, there it is cpu"),
        (changed("where", "dtype", to="bfloat16"), OTHER + "dtype is bfloat16"),
        (changed("plan", "versions", "torch", to="9"), OTHER + "versions is .*'9'"),
        (changed("plan", "models", to={"target": "x"}), OTHER + "models is {'target': 'x'}"),
        (changed("plan", "data", to="0" * 16), OTHER + "data is 0000"),
        (changed("plan", "methods", to=["ar", "presto", "linear"]), OTHER + "methods is"),
        (changed("chosen", to={"presto": {"budget": 8, "draft_length": 4}}), OTHER + "chosen is"),
        (changed("part", "of", to=2), OTHER + "of is 2, there it is 3"),
        (changed("part", "sets", to=SETS), OTHER + "sets is"),
        (changed("part", "sets", to=[["a", 3]]), "2.json: the sets of its part are not"),
        (changed("part", "number", to=1), "are both part 1/3"),
        (
            changed("part", "number", to=4),
            "2.json: not a valid .*: part: number ≤ of",
        ),
        (without("part"), "2.json is no part of a bench"),
        (without("plan"), "2.json is no part of a bench"),
        (changed("complete", to=False), "2.json is not complete"),
        (lambda file: file["runs"].pop(), "2.json: runs lacks prompt 1 by presto"),
        (changed("runs", 0, "prompt", to=0), "2.json: runs has prompt 0 by ar of another part"),
        (changed("runs", 0, "method", to="blind"), "prompt 1 by blind of another part or method"),
        (lambda file: file["runs"].append(file["runs"][0]), "runs has prompt 1 by ar twice"),
        (changed("where", "device", to=3), "2.json: not a valid benchmark result: where.device"),
    ],
)
def test_what_is_not_one_bench_is_refused_by_file_and_field(
    whole: Content, edit: Callable[[Content], None], named: str, tmp_path: Path
) -> None:
    paths = cut(whole, 3, tmp_path)
    file = json.loads((tmp_path / "2.json").read_text())
    edit(file)
    (tmp_path / "2.json").write_text(json.dumps(file))
    with pytest.raises(ValueError, match=named) as refused:
        merged(paths)
    assert "\n" not in str(refused.value)


def test_every_part_is_wanted(whole: Content, tmp_path: Path) -> None:
    paths = cut(whole, 3, tmp_path)
    with pytest.raises(ValueError, match="part 1/3 is missing"):
        merged(paths[:2])
    with pytest.raises(ValueError, match=r"no such result file: .*4\.json"):
        merged([*paths, tmp_path / "4.json"])
