"""The choice of budget and draft length, and the costs and curves it is made from."""

import json
import logging
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.benchmarks.curve import curve, curves, dumped
from presto.face import generate
from presto.models.catalogue import PAIRS, find
from presto.models.registry import Pair
from presto.paths import ASSETS
from presto.records import DecodeConfig, trace_from_json
from presto.records.files import to_json
from presto.records.tuning import Acceptance, Costs, Tuning
from presto.runs import budget, costs, runner, tuning
from presto.runs.budget import (
    CurveFile,
    Shape,
    choose,
    curve_name,
    largest,
    parse_curves,
    round_milliseconds,
    speeds,
)
from presto.runs.costs import ROWS, are_known, costs_of, measure
from presto.runs.events import DeviceMeasured, RunStarted
from presto.runs.references import write_reference
from presto.runs.runner import finished, stream
from presto.runs.tuning import tuned
from presto.runs.variants import variants
from tests.support.doubles import Letters, Scripted, tiny_gated
from tests.support.strategies import tunings


def between(x: int, xs: tuple[int, ...], ys: tuple[float, ...]) -> float:
    """The straight line through the two measured points around ``x``, the first below it."""
    if x <= xs[0]:
        return ys[0]
    right = next(i for i, at in enumerate(xs) if at >= x)
    share = (x - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])


@given(tunings(), st.booleans(), st.integers(1, 16))
def test_no_other_shape_within_what_was_measured_is_faster(
    tuning: Tuning, single: bool, most: int
) -> None:
    costs, curve = tuning.costs, tuning.acceptance
    expected = {}
    for i, length in enumerate(curve.lengths):
        for j, size in enumerate(curve.budgets):
            nodes = min(size, length) if single else size
            if nodes + 1 <= costs.rows[-1] and length <= min(most, costs.lengths[-1]):
                spent = between(nodes + 1, costs.rows, costs.verify)
                spent += between(length, costs.lengths, costs.draft)
                expected[size, length] = 1000 * curve.tau[i][j] / spent
    found = speeds(tuning, single, most)
    assert {tuple(shape): value for shape, value in found.items()} == pytest.approx(expected)
    chosen = choose(found)
    assert (chosen is None) == (not expected)
    if chosen is not None:
        best = max(found.values())
        assert found[chosen] == best
        assert chosen == min(shape for shape, value in found.items() if value == best)


@given(tunings(), st.sampled_from([0.5, 2.0, 8.0]))
def test_a_device_that_is_faster_at_everything_chooses_the_same(
    tuning: Tuning, factor: float
) -> None:
    then = tuning.costs
    now = replace(
        then,
        verify=tuple(factor * value for value in then.verify),
        draft=tuple(factor * value for value in then.draft),
    )
    chosen = [choose(speeds(replace(tuning, costs=c), False, 16)) for c in (then, now)]
    assert chosen[0] == chosen[1]


def test_larger_trees_are_chosen_where_rows_cost_nothing() -> None:
    curve = Acceptance((4, 8), (8, 64), ((2.0, 2.5), (2.6, 3.2)))

    def chosen(*verify: float) -> Shape | None:
        costs = Costs((1, 9, 65), verify, (4, 8), (10.0, 10.0))
        return choose(speeds(Tuning(costs, curve), False, 31))

    assert chosen(40, 40, 40) == (64, 8)
    assert chosen(40, 50, 160) == (8, 8)


def test_a_round_costs_its_draft_and_its_pass() -> None:
    costs = Costs((1, 9, 17), (10.0, 18.0, 34.0), (4, 8), (6.0, 8.0))
    assert round_milliseconds(costs, 12, 6) == pytest.approx(18 + 16 * 4 / 8 + 7)


CURVES = CurveFile(
    pair="smollm2-gated",
    texts="made up",
    tokens=100,
    dtype="float32",
    models={},
    lengths=(2, 3),
    drafted=(3, 3),
    budgets=(2, 4),
    tau={"presto": ((2.0, 2.1), (2.2, 2.6)), "linear": ((1.5, 1.5), (1.6, 1.7))},
)
FLAT = Costs((1, 9), (10.0, 10.0), (2, 3), (1.0, 1.0))


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(costs, "_known", {})


def pair(system: Any = None) -> Pair:
    def right(prefix: Any, depth: int = 0) -> int:
        return 2 + (len(prefix) + depth) % 7

    scripted = Scripted(right, lambda prefix, depth: right(prefix, depth + 1))
    return Pair(find("smollm2-gated"), system or scripted, Letters(), None)  # type: ignore[arg-type]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curves and costs above, for any pair."""
    monkeypatch.setattr(tuning, "curves_of", lambda system: CURVES)
    monkeypatch.setattr(tuning, "costs_of", lambda pair: FLAT)


@pytest.mark.usefixtures("known")
def test_a_run_has_what_was_chosen_and_records_why() -> None:
    config = DecodeConfig(max_new_tokens=8)
    own = finished(pair(), "AB", "presto", config)
    auto = finished(pair(), "AB", "presto", config, auto=True)
    assert (auto.config.budget, auto.config.draft_length) == (4, 3)
    assert auto.tuning == Tuning(FLAT, CURVES.of("presto"))
    assert own.tuning is None
    assert own.text == auto.text
    assert trace_from_json(to_json(auto)) == auto
    assert max(len(round_.tree.tokens) for round_ in auto.rounds) <= 5


@pytest.mark.usefixtures("known")
def test_the_face_takes_auto_for_a_budget() -> None:
    trace = generate(pair(), "AB", budget="auto", max_new_tokens=4)
    assert trace.tuning is not None
    assert (trace.config.budget, trace.config.draft_length) == (4, 3)
    assert generate(pair(), "AB", max_new_tokens=4).tuning is None
    with pytest.raises(ValueError, match="chooses draft_length too"):
        generate(pair(), "AB", budget="auto", draft_length=5)
    with pytest.raises(ValueError, match="budget"):
        generate(pair(), "AB", budget="many")


@pytest.mark.usefixtures("known")
def test_plain_decoding_chooses_nothing() -> None:
    trace = finished(pair(), "AB", "ar", DecodeConfig(max_new_tokens=4), auto=True)
    assert trace.tuning is None
    assert trace.config.budget == DecodeConfig().budget


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("changes", [{"scorer": "blind"}, {"scorer": "learned"}])
def test_a_method_without_a_curve_keeps_its_budget_and_says_so(
    caplog: pytest.LogCaptureFixture, changes: dict[str, Any]
) -> None:
    config = DecodeConfig(budget=21, **changes)
    with caplog.at_level(logging.INFO):
        assert tuned(pair(), config) == (config, None)
    assert "no acceptance curve: its budget stays 21" in caplog.text


@pytest.mark.usefixtures("known")
def test_a_prompt_that_does_not_fit_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "costs_of", lambda pair: pytest.fail("measured"))
    with pytest.raises(ValueError, match="context holds 512"):
        finished(pair(), "AB", "presto", DecodeConfig(max_new_tokens=512), auto=True)


def test_the_page_is_told_before_the_device_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, for a run that can begin, and not when nothing is to be chosen."""
    monkeypatch.setattr(tuning, "curves_of", lambda system: CURVES)
    monkeypatch.setattr(costs, "measure", lambda system: FLAT)
    drafting = pair()
    monkeypatch.setattr(runner, "load", lambda system, dtype: drafting)

    def told(method: str, auto: bool = True, tokens: int = 4) -> list[type]:
        config = DecodeConfig(max_new_tokens=tokens)
        events = stream("smollm2-gated", "AB", method, config, auto=auto)
        return [type(next(events)), type(next(events))]

    assert told("presto", auto=False)[0] is RunStarted
    assert told("ar")[0] is RunStarted
    assert told("blind")[0] is RunStarted  # of which there is no curve
    with pytest.raises(ValueError, match="context holds 512"):
        told("presto", tokens=512)
    assert not are_known(drafting)
    assert told("presto") == [DeviceMeasured, RunStarted]
    assert are_known(drafting)
    assert told("linear")[0] is RunStarted


def test_the_largest_that_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "curves_of", lambda system: CURVES)
    assert largest("smollm2-gated", DecodeConfig()) == (4, 3)
    assert largest("smollm2-gated", DecodeConfig(scorer="blind", budget=77)) == (77, 12)


def test_an_old_trace_has_no_tuning_and_a_wrong_one_is_refused() -> None:
    trace = finished(pair(), "AB", "presto", DecodeConfig(max_new_tokens=4))
    record = json.loads(to_json(trace))
    del record["tuning"]
    assert trace_from_json(json.dumps(record)) == trace
    told = {
        "costs": {"rows": [1, 9], "verify": [1.0, 2.0], "lengths": [4], "draft": [1.0]},
        "acceptance": {"lengths": [4], "budgets": [8, 16], "tau": [[2.0, 3.0]]},
    }
    trace_from_json(json.dumps(record | {"tuning": told}))
    for part, name, value, named in (
        ("costs", "rows", [9, 1], "rows must rise"),
        ("costs", "rows", [1, 9, 17], "one length each"),
        ("costs", "verify", [1.0, 0.0], "verify"),
        ("costs", "rows", [1, 4000], "rows"),
        ("acceptance", "budgets", [8], "tau must be"),
        ("acceptance", "tau", [[2.0, 99.0]], "tau"),
        ("acceptance", "lengths", [40], "lengths"),
        ("acceptance", "budgets", list(range(1, 40)), "budgets"),
    ):
        broken = told | {part: told[part] | {name: value}}  # type: ignore[operator]
        with pytest.raises(ValueError, match=named):
            trace_from_json(json.dumps(record | {"tuning": broken}))


def test_the_curve_of_the_nearest_method() -> None:
    base = DecodeConfig()
    named = {name: curve_name(v.config(base)) for name, v in variants().items()}
    assert {m: named[m] for m in ("linear", "blind", "presto", "presto+")} == {
        m: m for m in ("linear", "blind", "presto", "presto+")
    }
    assert named["dart"] == named["dual"] == "presto"


def test_a_curve_file_is_read_strictly() -> None:
    text = budget._CURVES.dump_json(CURVES)
    assert parse_curves(text) == CURVES
    for change, named in (
        ({"drafted": [3]}, "drafted"),
        ({"tau": {"magic": [[1.0, 1.0], [1.0, 1.0]]}}, "tau"),
        ({"tau": {"presto": [[1.0], [1.0]]}}, "tau must be"),
        ({"tau": {}}, "tau"),
        ({"more": 1}, "more"),
    ):
        with pytest.raises(ValueError, match=named):
            parse_curves(json.dumps(json.loads(text) | change))


def test_the_curve_is_that_of_runs_with_these_settings() -> None:
    """At T = 0 a replay over one text gives the rounds that decoding has."""
    drafting = pair()
    config = DecodeConfig(max_new_tokens=24, draft_length=4)
    drafts = {4: [write_reference(drafting, prompt, config) for prompt in ("AB", "CAB")]}
    for method in ("linear", "presto"):
        (row,) = curve(drafting, drafts, method, [4])  # type: ignore[arg-type]
        for size, tokens_per_round in zip(budget.BUDGETS, row, strict=True):
            settings = replace(config, budget=size)
            runs = [finished(drafting, p, method, settings) for p in ("AB", "CAB")]  # type: ignore[arg-type]
            rounds = sum(len(run.rounds) for run in runs)
            assert tokens_per_round == pytest.approx(48 / rounds, abs=1e-3)


def test_shorter_drafts_are_cut_from_the_next_longer_ones_and_the_file_says_so() -> None:
    drafting = pair()
    config = DecodeConfig(max_new_tokens=12)
    drafts = {
        length: [write_reference(drafting, "AB", replace(config, draft_length=length))]
        for length in (6, 10)
    }
    made = curves(drafting, drafts, "a text")
    assert made.lengths == (4, 6, 8, 10)
    assert made.drafted == (6, 6, 10, 10)
    assert made.tokens == 12
    assert parse_curves(dumped(made)) == made


CURVE_FILES = sorted((ASSETS / "curves").glob("*.json"))


@pytest.mark.parametrize("path", CURVE_FILES, ids=lambda path: path.stem)
def test_bundled_curves_are_whole_and_small(path: Path) -> None:
    curves = parse_curves(path.read_bytes())
    assert path.stat().st_size <= 5000
    assert curves.pair == path.stem
    assert curves.pair in PAIRS
    assert curves.budgets == budget.BUDGETS
    assert set(curves.tau) == {"linear", "blind", "presto", "presto+"}
    for name, rows in curves.tau.items():
        for row in rows:
            # Another round boundary may cost a little; a larger tree never costs much.
            assert all(b >= 0.98 * a for a, b in pairwise(row)), name
    assert curves.tau["presto+"] > curves.tau["blind"] > curves.tau["linear"]


def test_every_pass_is_measured_and_the_session_holds_them() -> None:
    system = tiny_gated(0, context=512)
    found = measure(system)
    assert found.lengths == (4, 10, 16)
    assert found.rows[:4] == ROWS[:4]
    assert all(value > 0 for value in (*found.verify, *found.draft))


def test_sizes_are_left_out_once_they_cost_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_verify", lambda system, session, rows: 10.0 + rows)
    assert measure(pair().system).rows == (1, 9, 17, 33)
    monkeypatch.setattr(costs, "_verify", lambda system, session, rows: 1.0 + 99 * (rows > 1))
    assert measure(pair().system).rows == (1, 9, 17, 33)
    monkeypatch.setattr(costs, "_verify", lambda system, session, rows: 10.0)
    assert measure(pair().system).rows == ROWS


def test_a_drafter_of_few_positions_and_a_short_context() -> None:
    short = Scripted(lambda prefix: 2, lambda prefix, depth: 2, max_draft=4, context=110)
    found = measure(short)
    assert found.lengths == (4,)
    assert found.rows == (1, 9)


@given(st.lists(st.lists(st.floats(1, 1e3), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_busy_machine_cannot_make_a_small_pass_the_dear_one(times: list[list[float]]) -> None:
    found = costs._rising([min(measured) for measured in times])
    assert list(found) == sorted(found)
    assert all(cost <= min(measured) for cost, measured in zip(found, times, strict=True))
    assert set(found) <= {min(measured) for measured in times}


def test_costs_are_measured_once_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def counted(system: Any) -> Costs:
        asked.append(system)
        return FLAT

    monkeypatch.setattr(costs, "measure", counted)
    assert costs_of(pair()) == costs_of(pair()) == FLAT
    assert len(asked) == 1
    costs._known.clear()
    assert costs_of(pair()) == FLAT  # from the file
    assert len(asked) == 1
    (file,) = (tmp_path / "cache" / "costs").iterdir()
    for broken in ("{", "{}", file.read_text().replace('"threads"', '"thread"')):
        file.write_text(broken)
        costs._known.clear()
        assert costs_of(pair()) == FLAT
    assert len(asked) == 4
    costs._known.clear()
    monkeypatch.setattr(costs.torch, "get_num_threads", lambda: 77)
    costs_of(pair())
    assert len(asked) == 5


def test_a_cache_that_cannot_be_written_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(costs, "measure", lambda system: FLAT)
    assert costs_of(pair()) == FLAT
    assert costs_of(pair()) == FLAT
