"""The engine on a device that is not there: the same text, nothing on two devices, and no wait of
the host but those that are meant.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.simulated import ROOT

KINDS = ("dflash", "gated", "quadratic", "nemotron", "nemotron-quadratic")
# A round waits for the draft, for the decision and for its own end; a gated pass also decides the
# exact token, before a tree can be built.
WAITS = ["drafted", "_read", "wait"]
EXACT = ["drafted", "exact_choice", "_read", "wait"]
# Kernels per round of these tiny pairs, greedy and sampled: what is added must be worth it. A real
# model's layers come on top.
MOST_LAUNCHES = {
    "dflash": (526, 598),
    "gated": (298, 442),
    "quadratic": (195, 267),
    "nemotron": (304, 376),
    "nemotron-quadratic": (194, 266),
}


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    """In a process of its own: torch is another one there."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulated.figures"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", ["greedy", "greedy padded", "sampled", "sampled padded"])
def test_the_text_is_the_one_of_the_cpu(kind: str, run: str, figures: dict[str, Any]) -> None:
    assert figures[kind][f"{run} equal"] is True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", ["greedy", "sampled"])
def test_the_host_waits_for_results_only(kind: str, run: str, figures: dict[str, Any]) -> None:
    assert figures[kind][run]["waits"] == (EXACT if kind == "gated" else WAITS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("run", "place"), [("greedy", 0), ("sampled", 1)])
def test_a_round_launches_no_more_than_it_did(
    kind: str, run: str, place: int, figures: dict[str, Any]
) -> None:
    assert 0 < figures[kind][run]["launches"] <= MOST_LAUNCHES[kind][place]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", ["greedy", "sampled"])
def test_the_host_hands_over_the_anchor_the_tree_and_the_rows_kept(
    kind: str, run: str, figures: dict[str, Any]
) -> None:
    assert figures[kind][run]["uploads"] == (2 if "quadratic" in kind else 3)


def test_training_steps_lose_as_much_as_on_the_cpu(figures: dict[str, Any]) -> None:
    assert figures["losses"]["device"] == pytest.approx(figures["losses"]["host"], rel=1e-5)


def test_planted_faults_are_caught(figures: dict[str, Any]) -> None:
    assert figures["faults caught"]
    assert all(figures["faults caught"].values())
