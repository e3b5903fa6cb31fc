"""Rounds timed behind prompts of several lengths."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from presto.benchmarks.context import lines, measure
from presto.benchmarks.statistics import Estimate
from presto.decoding.loop import Run
from presto.models.registry import Pair
from presto.runs.variants import find_variant
from tests.support.doubles import tiny_gated

PAIR = cast(
    Pair,
    SimpleNamespace(
        system=tiny_gated(0, context=512), table=None, encode=lambda text: tuple(map(int, text))
    ),
)
METHODS = [find_variant("ar"), find_variant("presto")]


def test_every_method_has_all_its_rounds_behind_every_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, int]] = []

    def counted(name: str) -> Any:
        own = getattr(Run, name)

        def take(run: Run) -> Any:
            seen.append((name, len(run.prompt_ids)))
            return own(run)

        return take

    for name in ("plain_round", "draft_round"):
        monkeypatch.setattr(Run, name, counted(name))
    figures = measure(PAIR, "234" * 20, METHODS, [8, 40], rounds=9)
    assert set(figures) == {(name, length) for name in ("ar", "presto") for length in (8, 40)}
    assert all(0 < figure.low <= figure.value <= figure.high for figure in figures.values())
    turn = [(name, length) for name in ("plain_round", "draft_round") for length in (8, 40)]
    assert seen == turn * 11


def test_a_text_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="the prompts have 6 tokens together, not 40"):
        measure(PAIR, "234234", METHODS, [8, 40], rounds=1)


def test_the_longest_is_told_as_a_multiple_of_the_shortest() -> None:
    figures = {
        ("presto", 8): Estimate(20.0, 19.0, 21.0),
        ("presto", 40): Estimate(25.0, 24.0, 26.0),
    }
    assert lines(figures, [8, 40]) == [
        "presto        20.0 [19.0, 21.0]     25.0 [24.0, 26.0]   × 1.25"
    ]
