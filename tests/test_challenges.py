"""The learning texts are complete in every language, and the challenges' answers come from
the run.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from presto.records import Tree
from presto.records.measures import acceptance_length
from presto.runs.counterfactuals import Alternative
from tests.support import synthetic
from ui.challenges import ANSWERS, answers
from viz.charts import REPLAY_CHARTS, ROUND_CHARTS, RUN_CHARTS

ASSETS = Path(__file__).parents[1] / "assets"
TEXTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in (ASSETS / "learn").glob("*.json")
}
CHARTS = {chart.name for chart in (*ROUND_CHARTS, *REPLAY_CHARTS, *RUN_CHARTS)}
LANES = {trace.method: trace for trace in synthetic.recording(rounds=6).traces}


def shape(value: Any) -> Any:
    """The structure of a text file without its words."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else type(value).__name__


def test_all_languages_have_the_same_parts() -> None:
    assert TEXTS.keys() == {"en", "ko"}
    assert shape(TEXTS["ko"]) == shape(TEXTS["en"])


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_tour_of_eight_pages_on_controls_that_exist(language: str) -> None:
    tour, page = (
        TEXTS[language]["tour"],
        (ASSETS / "player" / "player.html").read_text(encoding="utf-8"),
    )
    assert len(tour) == 8
    for one in tour:
        name, value = re.fullmatch(r"\[([\w-]+)=([\w-]+)\]", one["spot"]).groups()  # type: ignore[union-attr]
        assert f'{name}="{value}"' in page or (name == "data-view" and value in CHARTS)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_languages_differ_in_words_only(language: str) -> None:
    for part, key in (("tour", "done"), ("tour", "spot"), ("challenges", "answer")):
        assert [one[key] for one in TEXTS[language][part]] == [
            one[key] for one in TEXTS["en"][part]
        ]
    assert [one["answer"] for one in TEXTS[language]["challenges"]] == list(ANSWERS)
    placeholders = [set(re.findall(r"{\w+}", text)) for text in TEXTS[language]["predict"].values()]
    assert placeholders == [{"{round}"}, {"{count}"}, {"{guess}", "{count}"}, set()]


def test_answers_are_measured_on_the_run() -> None:
    trace = LANES["presto"]
    found = answers(trace, LANES["linear"], [])
    assert found.keys() == {"tau", "longest", "accepted", "speedup"}
    assert found["tau"] == pytest.approx(acceptance_length(trace), abs=1e-4)
    assert found["longest"] == max(len(round_.committed) for round_ in trace.rounds)
    assert answers(trace, None, []).keys() == {"tau", "longest", "accepted"}


def test_rescued_rounds_are_those_with_more_than_the_blind_tree() -> None:
    def round_(own: int, blind: int) -> tuple[Alternative, ...]:
        return Alternative("blind", Tree((0,)), (), blind), Alternative(
            "pmi", Tree((0,)), (), own, own=True
        )

    found = [round_(5, 3), round_(4, 4), round_(2, 3), ()]
    assert answers(LANES["presto"], None, found)["rescued"] == 1
