"""The lesson: texts complete in every language and without a number of their own, every chapter
computed from the run that it speaks of, answers that hold, refusals in one sentence.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from presto.paths import ASSETS
from presto.records import load_recording, save
from presto.records.measures import output_ids
from presto.runs.states import States
from tests.support import synthetic
from tests.support.replayable import REAL
from ui.challenges import ANSWERS
from ui.explore_payload import shown_first
from ui.lesson import CHAPTERS, LESSONS, languages, lesson_value
from viz.charts import REPLAY_CHARTS, RESULT_CHARTS, ROUND_CHARTS, RUN_CHARTS
from viz.lesson.trees import LAMS

RUNS = ASSETS / "runs"
MUFFINS = "1-muffins.json.gz"
TEXTS = {code: json.loads(path.read_text("utf-8")) for code, path in languages().items()}
NAMES = re.compile(r"{(\w+)}")
# By tests of what adults read silently: English words and Korean eojeol per minute, taken slow.
PACE = {"en": 200, "ko": 150}
LONGEST = 90  # seconds that a chapter may take to read
EXEMPT = {"cite", "symbol", "term", "id", "answer", "language"}


def told(chapter: str, key: str = MUFFINS, folder: Path = RUNS, **more: Any) -> dict[str, Any]:
    return LESSONS["lesson"](folder, {"key": key, "chapter": chapter, **more})


def strings(value: Any, name: str = "") -> list[tuple[str, str]]:
    """All texts of a file, each with its nearest key."""
    if isinstance(value, dict):
        return [pair for key, part in value.items() for pair in strings(part, key)]
    if isinstance(value, list):
        return [pair for part in value for pair in strings(part, name)]
    return [(name, value)]


def shape(value: Any) -> Any:
    """The structure of a text file: its keys, how long its lists are."""
    if isinstance(value, dict):
        return {key: None if key == "forms" else shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else type(value).__name__


def read(chapter: dict[str, Any]) -> list[str]:
    """What is read of a chapter before and after its question."""
    asked = [text for one in chapter["questions"] for text in (one["ask"], one["why"])]
    return [chapter["title"], *chapter["text"], chapter["do"], *asked]


def test_every_language_has_the_same_keys_and_names_of_its_own() -> None:
    assert TEXTS.keys() >= {"en", "ko"}
    for texts in TEXTS.values():
        assert shape(texts) == shape(TEXTS["en"])
        assert [one["id"] for one in texts["chapters"]] == list(CHAPTERS)
        assert [one["answer"] for one in texts["challenges"]] == list(ANSWERS)
        words = [(one["id"], one["symbol"], one["term"]) for one in texts["glossary"]]
        assert words == [(o["id"], o["symbol"], o["term"]) for o in TEXTS["en"]["glossary"]]
        assert len(words) == 25


@pytest.mark.parametrize("language", TEXTS)
def test_no_number_is_typed_into_a_text(language: str) -> None:
    typed = [(name, text) for name, text in strings(TEXTS[language]) if name not in EXEMPT]
    assert [pair for pair in typed if re.search(r"\d", NAMES.sub("", pair[1]))] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_placeholder_is_filled_and_the_same_in_every_language(chapter: str) -> None:
    values = told(chapter)["values"]
    place = list(CHAPTERS).index(chapter)
    for texts in TEXTS.values():
        own, english = (t["chapters"][place] for t in (texts, TEXTS["en"]))
        assert {name for _, text in strings(own) for name in NAMES.findall(text)} <= values.keys()
        assert [len(own[part]) for part in ("text", "questions")] == [
            len(english[part]) for part in ("text", "questions")
        ]
        for ours, theirs in zip(own["questions"], english["questions"], strict=True):
            for part in ("ask", "why"):
                assert set(NAMES.findall(ours[part])) == set(NAMES.findall(theirs[part]))
        assert set(NAMES.findall(" ".join(own["text"]))) == set(
            NAMES.findall(" ".join(english["text"]))
        )


@pytest.mark.parametrize("language", TEXTS)
def test_the_pages_words_have_the_same_placeholders(language: str) -> None:
    for name, text in TEXTS["en"]["ui"].items():
        if isinstance(text, str):
            assert set(NAMES.findall(TEXTS[language]["ui"][name])) == set(NAMES.findall(text)), name


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_read_within_a_minute_and_a_half(chapter: str, language: str) -> None:
    text = " ".join(read(TEXTS[language]["chapters"][list(CHAPTERS).index(chapter)]))
    assert 60 * len(text.split()) / PACE[language] < LONGEST


@pytest.mark.parametrize("language", TEXTS)
def test_every_word_of_the_glossary_can_be_met_or_looked_up(language: str) -> None:
    texts = TEXTS[language]
    parts = ("chapters", "pages", "myths", "glossary", "challenges")
    whole = " ".join(text for part in parts for _, text in strings(texts[part])).lower()
    for entry in texts["glossary"]:
        assert any(form.lower() in whole for form in entry["forms"]), entry["id"]
        assert all(entry[part] for part in ("word", "term", "meaning"))


def test_korean_names_a_term_in_english_where_it_first_occurs() -> None:
    texts = " ".join(" ".join(read(one)) for one in TEXTS["ko"]["chapters"])
    for term in ("target", "drafter", "block", "marginal", "prefix-blind", "draft tree", "budget"):
        assert f"({term})" in texts
    for term in ("n-gram model", "best-first", "tree-attention mask", "bonus token", "lossless"):
        assert f"({term})" in texts


@pytest.mark.parametrize("language", TEXTS)
def test_controls_of_explore_are_named_as_the_page_shows_them(language: str) -> None:
    charts = (*ROUND_CHARTS, *REPLAY_CHARTS, *RESULT_CHARTS, *RUN_CHARTS)
    titles = {chart.title for chart in charts}
    known = titles | {"What if?", "build", "linear", "autoregressive"}
    for chapter in TEXTS[language]["chapters"]:
        assert set(re.findall("“([^”]+)”", chapter["where"])) <= known


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_another_run_has_other_numbers(chapter: str) -> None:
    first, other = (told(chapter, key) for key in (MUFFINS, "3-language.json.gz"))
    texts = " ".join(text for _, text in strings(TEXTS["en"]["chapters"]))
    used = set(NAMES.findall(texts)) & first["values"].keys()
    changed = {name for name in used if first["values"][name] != other["values"][name]}
    assert changed - {"run", "round"}
    on_demand = first["picture"]["kind"] in ("film", "knob")  # asked for apart
    on_demand |= chapter == "verdict"  # its lanes are those of the sampled run
    assert on_demand or first["picture"] != other["picture"]


def test_a_run_that_changes_changes_the_text(tmp_path: Path) -> None:
    slower = [
        replace(
            trace,
            rounds=tuple(
                replace(round_, seconds=replace(round_.seconds, verify=2 * round_.seconds.verify))
                for round_ in trace.rounds
            ),
        )
        for trace in REAL.traces
    ]
    save(REAL, tmp_path / "1.json.gz")
    save(replace(REAL, title="Slower", traces=tuple(slower)), tmp_path / "2.json.gz")
    before, after = (told("pass", f"{i}.json.gz", tmp_path)["values"]["ms"] for i in (1, 2))
    assert int(after) > 1.8 * int(before)
    cost = [told("cost", f"{i}.json.gz", tmp_path)["values"] for i in (1, 2)]
    assert int(cost[1]["tree"]) > 1.8 * int(cost[0]["tree"])


def test_the_answers_hold() -> None:
    run = load_recording(RUNS / MUFFINS)
    shown = shown_first(run)
    round_ = shown.rounds[told("score")["round"] - 1]
    stop = round_.accepted[-1]
    assert told("search")["questions"][0]["answer"] == stop
    assert told("mask")["questions"][0]["answer"] == len(round_.accepted) + 1
    best = [ids[0] for ids in round_.marginals.token_ids]
    text = output_ids(shown)[round_.start - len(shown.prompt_ids) + 1 :]
    same = [a == b for a, b in zip(best, text, strict=False)]
    assert told("nonsense")["questions"][0]["answer"] == [*same, False].index(False)
    linear = next(trace for trace in run.traces if trace.method == "linear")
    drafted = told("draft")
    place = int(drafted["values"]["round"]) - 1
    assert drafted["questions"][0]["answer"] == len(linear.rounds[place].accepted)


def test_the_smallest_budget_is_the_smallest() -> None:
    answer = told("tree")
    shown, states, index = _states(answer["round"])
    least, most = answer["questions"][0]["answer"], len(shown.rounds[index].accepted)

    def accepted(budget: int) -> int:
        found = states.replay(index, replace(shown.config, budget=budget))
        assert found is not None
        return len(found.accepted)

    assert accepted(least) == most > accepted(least - 1)


def _states(number: int) -> tuple[Any, States, int]:
    from presto.models.tables import table_of

    shown = shown_first(load_recording(RUNS / MUFFINS))
    return shown, States(shown, table_of(shown.system)), number - 1


def test_a_lambda_that_is_right_ranks_the_path_first_and_no_other_does() -> None:
    answer = told("score")
    shown, states, index = _states(answer["round"])
    depth, right = len(shown.rounds[index].accepted), answer["questions"][1]["answer"]
    assert right
    assert set(right) < set(LAMS)
    for lam in LAMS:
        found = states.replay(index, replace(shown.config, lam=lam))
        assert found is not None
        scores = _paths(found.tree, depth)
        nodes = found.accepted
        first = len(nodes) >= depth and found.tree.aligned[nodes[depth - 1]] == max(scores)
        assert first == (lam in right)


def _paths(tree: Any, depth: int) -> list[float]:
    level = [0]
    for parent in tree.parents[1:]:
        level.append(level[parent] + 1)
    return [score for score, at in zip(tree.aligned, level, strict=True) if at == depth]


def test_sampled_lanes_write_one_text() -> None:
    answer = told("verdict")
    assert answer["values"]["temperature"] == "0.8"
    assert answer["questions"][1]["answer"] == 0
    texts = [
        "".join(chip[0] for round_ in lane for chip in round_)
        for lane in answer["picture"]["lanes"]
    ]
    assert texts[0] == texts[1]


def test_the_verdict_is_of_a_round_that_no_chapter_has_told() -> None:
    assert told("verdict")["round"] != told("score")["round"]
    assert told("verdict", round=3)["round"] == 3


def test_a_tree_by_hand_is_followed_along_the_text() -> None:
    ask = {"key": MUFFINS, "round": 2, "verify": True}
    offered = LESSONS["lesson_build"](RUNS, ask)["columns"][1]
    rank = [candidate["labels"][0] for candidate in offered].index("␣break")
    answer = LESSONS["lesson_build"](RUNS, ask | {"paths": [[0], [0, rank], [0, 0], [1]]})
    assert answer["accepted"] == (1, 2)  # “to”, “break”
    assert answer["verdict"]["you"] == 4
    assert answer["verdict"]["size"] == 4
    assert answer["verdict"]["oracle"] >= answer["verdict"]["presto"] >= answer["verdict"]["blind"]
    assert [status for *_, status in answer["why"]] == ["accepted", "accepted", "bonus"]
    empty = LESSONS["lesson_build"](RUNS, {"key": MUFFINS, "round": 2, "paths": []})
    assert empty["nodes"] == ()
    assert "verdict" not in empty


def test_a_setting_is_judged_by_measured_costs() -> None:
    def judged(**settings: Any) -> dict[str, Any]:
        return LESSONS["lesson_cost"](RUNS, {"key": MUFFINS, "settings": settings})

    own, large = judged(), judged(budget=512)
    assert not own["slower"]
    assert large["slower"]
    shown = shown_first(load_recording(RUNS / MUFFINS))
    seconds = sum(_seconds(round_) for round_ in shown.rounds) / len(shown.rounds)
    assert int(own["ms"]) == pytest.approx(1000 * seconds, rel=0.02)


def _seconds(round_: Any) -> float:
    from presto.records.measures import round_seconds

    return round_seconds(round_)


@pytest.mark.parametrize(
    ("what", "given", "said"),
    [
        ("lesson", {"chapter": "other"}, "the chapter must be one of pass"),
        ("lesson", {"chapter": "pass", "key": 3}, "the run's key must be text, got int"),
        ("lesson", {"chapter": "pass", "round": 0}, "whole number from 1 to 25"),
        ("lesson", {"chapter": "pass", "round": "2"}, "whole number from 1 to 25"),
        ("lesson_build", {"paths": 3}, "the paths must be lists of ranks"),
        ("lesson_build", {"paths": [[0, 0]]}, "the paths must be lists of ranks"),
        ("lesson_build", {"paths": [[12]]}, r"the rank at \+1 must lie in 0..11"),
        ("lesson_build", {"paths": [[0]] * 40}, "the budget is 32 nodes, got 40"),
        ("lesson_build", {"paths": [[0], [0]]}, "the paths must be lists of ranks"),
        ("lesson_cost", {"settings": {"temperature": 1.0}}, "a replay cannot change temperature"),
    ],
)
def test_refusals_say_what_is_allowed(what: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LESSONS[what](RUNS, {"key": MUFFINS} | given)


def test_runs_that_cannot_tell_say_so(tmp_path: Path) -> None:
    save(synthetic.recording("Usual", rounds=6), tmp_path / "1.json.gz")
    shown = replace(REAL, title="Alone", traces=(shown_first(REAL),))
    save(shown, tmp_path / "2.json.gz")
    with pytest.raises(ValueError, match="no replay"):
        told("pass", "1.json.gz", tmp_path)
    with pytest.raises(ValueError, match="no lane “ar”"):
        told("pass", "2.json.gz", tmp_path)
    value = lesson_value(tmp_path)
    assert value["first"] is None
    assert [title for title, _ in value["runs"]] == ["Usual", "Alone"]


def test_the_page_carries_its_first_chapter() -> None:
    value = lesson_value(RUNS)
    assert value["first"]["chapter"] == next(iter(CHAPTERS))
    assert value["languages"] == {"en": "English", "ko": "한국어"}


def test_all_recorded_runs_tell_every_chapter_or_say_why_not() -> None:
    for _, key in lesson_value(RUNS)["runs"]:
        for chapter in CHAPTERS:
            answer = told(chapter, key)
            assert answer["questions"]
            json.dumps(answer, allow_nan=False)
