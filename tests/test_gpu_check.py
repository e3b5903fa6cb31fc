"""The GPU check runs to its end on the CPU with tiny sizes, and says what it left out."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from presto.benchmarks import engine_tests, gpu
from presto.benchmarks.drawn import geometric, profile
from presto.benchmarks.gpu import (
    BUDGETS,
    DRAFTING,
    SHRUNK_BUDGETS,
    STAGES,
    Check,
    run_check,
    sound,
    table,
)
from presto.benchmarks.random_pairs import NEMOTRON_8B, QWEN_8B, dflash_pair, nemotron_pair

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def result() -> dict[str, object]:
    made = run_check(Check(CPU, shrink=True, minutes=8, accepted=2), tests=False)
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def test_every_configuration_is_measured(result: dict) -> None:  # type: ignore[type-arg]
    assert result["skipped"] == []
    cases = {(row["pair"], row["passes"], row["budget"], row["method"]) for row in result["stages"]}
    assert len(cases) == len(result["stages"]) == 2 * 2 * len(SHRUNK_BUDGETS) * len(DRAFTING)
    for row in result["stages"]:
        assert tuple(row["milliseconds"]) == tuple(row["shares"]) == STAGES
        assert sum(row["shares"].values()) == pytest.approx(1, abs=1e-3)
        assert row["nodes"] <= row["budget"]
        assert row["committed"] >= 1
        assert row["peak_gigabytes"] is None
    assert {row["pair"] for row in result["commit"]} == {"qwen3-8b-dflash", "nemotron-8b"}
    assert BUDGETS == (32, 128, 256, 512)


def test_float32_is_exact_and_bfloat16_reported(result: dict) -> None:  # type: ignore[type-arg]
    assert sound(result)
    assert {(row["pair"], row["dtype"]) for row in result["lossless"]} == {
        (pair, dtype)
        for pair in ("dflash", "nemotron", "nemotron-quadratic")
        for dtype in ("float32", "bfloat16")
    }
    broken = [
        row | {"equal": row["equal"] - (row["dtype"] == "float32")} for row in result["lossless"]
    ]
    assert not sound(result | {"lossless": broken})
    assert not sound(result | {"tests": {"passed": False}})


def test_the_table_says_what_was_drawn_and_that_sizes_were_shrunk(result: dict) -> None:  # type: ignore[type-arg]
    printed = table(result)
    assert "Random weights accept nothing" in printed
    assert "geometric law with mean 2" in printed
    assert "SHRUNK" in printed
    assert "GB" in printed


def test_what_does_not_fit_the_time_is_named() -> None:
    made = run_check(Check(CPU, shrink=True, minutes=1e-9, accepted=2), tests=False)
    assert made["stages"] == []
    assert "lossless dflash float32: out of time" in made["skipped"]
    assert "nemotron-8b: out of time" in made["skipped"]
    assert "skipped: qwen3-8b-dflash: out of time" in table(made)


def test_memory_that_runs_out_is_named() -> None:
    def allocate() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    check = Check(CPU, shrink=True, minutes=1, accepted=2)
    assert check.attempt("B = 512", allocate) == []
    assert check.skipped == ["B = 512: out of memory"]


def test_the_engine_tests_run_on_the_device_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_tests, "FILES", ("timing",))
    done = engine_tests.run_tests("clock", 120)
    assert done["passed"], done
    assert "1 passed" in done["summary"]
    assert engine_tests.run_tests("clock", 0.01)["passed"] is None
    monkeypatch.setattr(engine_tests, "FILES", ("absent",))
    assert engine_tests.run_tests("cpu", 120)["passed"] is False


def test_drawn_lengths_and_drafts_follow_their_laws() -> None:
    drawn = list(islice(geometric(5.0, 0), 20_000))
    assert min(drawn) == 0
    assert np.mean(drawn) == pytest.approx(5, abs=0.2)
    rows = np.exp(np.array(profile(15, 32)))
    assert rows.sum(1) == pytest.approx(1, abs=1e-3)
    assert np.all(np.diff(rows, axis=1) <= 0)
    assert profile(2, 1)[0] == (round(float(np.log(0.85)), 5),)


def test_the_true_sizes_without_allocating() -> None:
    meta = torch.device("meta")
    qwen, nemotron = (
        dflash_pair(QWEN_8B, meta, torch.bfloat16),
        nemotron_pair(NEMOTRON_8B, meta, torch.bfloat16),
    )
    billions = [
        sum(p.numel() for p in s.backbone.model.parameters()) / 1e9 for s in (qwen, nemotron)
    ]
    assert billions == pytest.approx([8.19, 8.49], abs=0.01)
    assert sum(p.numel() for p in qwen.drafter.parameters()) / 1e9 == pytest.approx(1.05, abs=0.01)


def test_bad_requests_are_one_sentence(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(gpu.main)
    answer = CliRunner().invoke(app, ["--minutes", "0"])
    assert answer.exit_code == 2
    assert "minutes must be > 0" in answer.output
