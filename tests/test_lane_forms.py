"""The lanes' forms: what a lane is to run, with settings of its own."""

from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from presto.records import DecodeConfig
from tests.support.event_loop import in_a_loop
from ui.lane_forms import (
    AS_CHOSEN,
    NO_LANE,
    OF_EXPLORE,
    VALUES,
    LaneForm,
    forms,
    lane_controls,
    lanes_of,
    values_of_lanes,
)
from ui.lanes import Lane

EXPLORE = Lane("presto", DecodeConfig(budget=7, temperature=0.5), auto=True)


def made(*wanted: LaneForm) -> dict[str, Lane]:
    return lanes_of([value for form in wanted for value in form], EXPLORE)


def test_a_lane_chosen_twice_runs_once_and_none_is_no_lane() -> None:
    assert list(lanes_of(values_of_lanes(("linear", "–", "linear", "magic")), EXPLORE)) == [
        "linear"
    ]


def test_a_lane_starts_from_the_settings_of_explore_without_its_method() -> None:
    plus = DecodeConfig(scorer="learned", lookup=12, budget=7)
    names = (OF_EXPLORE, "PRESTO", "blind tree", "PRESTO+")
    lanes = lanes_of(values_of_lanes(names), Lane("presto+", plus))
    usual = DecodeConfig(budget=7)
    assert [lane.method for lane in lanes.values()] == ["presto+", "presto", "blind", "presto+"]
    assert [lane.config for lane in lanes.values()] == [
        plus,
        usual,
        replace(usual, scorer="blind"),
        plus,
    ]


def test_a_lane_has_settings_of_its_own_and_is_named_by_them() -> None:
    lanes = made(
        LaneForm("PRESTO", lam="0.4", budget="64", search="beam"),
        LaneForm("PRESTO"),
        LaneForm("PRESTO", lam="0.0"),
        LaneForm("blind tree", budget="3"),
    )
    assert list(lanes) == [
        "PRESTO, λ 0.4, budget 64, beam",
        "PRESTO",
        "PRESTO, λ 0",
        "blind tree, budget 3",
    ]
    first, second, third, blind = lanes.values()
    own = EXPLORE.config
    assert first == Lane("presto", replace(own, lam=0.4, budget=64, search="beam"), auto=False)
    assert second == EXPLORE
    assert third == Lane("presto", replace(own, lam=0.0), auto=True)
    assert blind == Lane("blind", replace(own, scorer="blind", budget=3), auto=False)


def test_a_tree_that_is_given_the_linear_search_is_linear_drafting() -> None:
    (lane,) = made(LaneForm("blind tree", search="linear")).values()
    assert lane.method == "linear"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (
            LaneForm("autoregressive", budget="3"),
            "autoregressive has no use for",
        ),
        (LaneForm("linear", search="beam"), "linear has no use for a setting 'Search'"),
        (LaneForm("blind tree", lam="1.0"), "blind tree has no use for a setting 'λ'"),
        (LaneForm("PRESTO", lam="9.0"), "lam"),
        (LaneForm("PRESTO", budget="0"), "budget"),
        (LaneForm("PRESTO", lam="much"), "λ of a lane: expected a number, got 'much'"),
        (LaneForm("PRESTO", budget="1.5"), "Budget of a lane: expected a whole number, got '1.5'"),
        (LaneForm("PRESTO", lam="nan"), "lam: Input should be a finite"),
        (LaneForm("PRESTO", search="magic"), "magic"),
    ],
)
def test_a_setting_that_a_lane_cannot_have_is_refused_by_name(form: LaneForm, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(form)


def test_the_controls_are_the_forms_of_the_usual_lanes() -> None:
    def made_controls() -> list[Any]:
        with gr.Blocks():
            return lane_controls()

    controls = in_a_loop(made_controls)
    assert len(controls) == VALUES
    found = list(forms([control.value for control in controls]))
    assert [form.title for form in found] == ["autoregressive", "linear", "blind tree", OF_EXPLORE]
    assert all(not form.own and form.search == AS_CHOSEN for form in found)
    assert len({control.label for control in controls}) == VALUES  # each told apart
    assert NO_LANE in dict(controls[0].choices)
