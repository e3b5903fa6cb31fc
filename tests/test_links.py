"""Shared addresses bring back what they were made from, and say what they cannot."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.models.catalogue import names
from presto.records import DecodeConfig
from presto.records.config import LEAST_TEMPERATURE
from presto.runs.requests import method_of
from presto.scorers import SCORERS
from ui.controls import usual
from ui.lanes import Lane
from ui.links import Asked, from_query, to_query

configs = st.builds(
    DecodeConfig,
    scorer=st.sampled_from(sorted(SCORERS.built_in)),
    normalised=st.booleans(),
    lam=st.floats(0, 4),
    budget=st.integers(1, 1024),
    online_ngram=st.booleans(),
    temperature=st.just(0.0) | st.floats(LEAST_TEMPERATURE, 4),
    seed=st.integers(0, 2**53),
)


@given(
    st.text(min_size=1, max_size=50),
    st.sampled_from(names()),
    configs,
    st.booleans(),
    st.booleans(),
)
def test_a_live_link_restores_prompt_pair_method_and_settings(
    prompt: str, system: str, config: DecodeConfig, auto: bool, plain: bool
) -> None:
    method = "ar" if plain else method_of(config)
    asked = from_query(to_query(prompt, system, Lane(method, config, auto)))
    # What is chosen has the pair's usual numbers until then.
    expected = replace(config, **usual(system)) if auto else config
    assert asked == Asked("", prompt, system, Lane(method, expected, auto), "")


def link(config: DecodeConfig, auto: bool = False) -> dict[str, str]:
    return to_query("hi", "smollm2-gated", Lane("presto", config, auto))


def test_a_link_may_name_a_method() -> None:
    assert from_query({"prompt": "hi", "method": "presto+"}).lane.config == DecodeConfig(
        scorer="learned", lookup=12
    )
    assert from_query({"prompt": "hi", "method": "blind", "lam": "0.4"}).lane == Lane(
        "blind", DecodeConfig(scorer="blind", lam=0.4), auto=True
    )


def test_only_changed_settings_are_in_the_link() -> None:
    assert link(DecodeConfig(budget=64)) == {
        "prompt": "hi", "system": "smollm2-gated", "budget": "64",
    }  # fmt: skip


def test_the_budget_is_in_every_link() -> None:
    usual_one = {"prompt": "hi", "system": "smollm2-gated", "budget": "32"}
    assert link(DecodeConfig()) == usual_one
    chosen = link(DecodeConfig(budget=7, draft_length=3), auto=True)
    assert chosen == usual_one | {"budget": "auto"}


@pytest.mark.parametrize(
    ("query", "auto"),
    [
        ({}, True),
        ({"budget": "auto"}, True),
        ({"temperature": "0.5"}, True),
        ({"budget": "32"}, False),
        ({"draft_length": "8"}, False),
    ],
)
def test_a_link_with_numbers_turns_auto_off(query: dict[str, str], auto: bool) -> None:
    asked = from_query({"prompt": "hi"} | query)
    assert (asked.lane.auto, asked.problem) == (auto, "")
    assert asked.lane.config.draft_length == int(query.get("draft_length", 12))


def test_a_recorded_link_names_the_run() -> None:
    assert from_query({"run": "Muffins", "round": "3"}).run == "Muffins"
    assert from_query({}).run == ""


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"budget": "many"}, "budget"),
        ({"budget": "0"}, "budget"),
        ({"budget": "auto", "draft_length": "8"}, "draft_length"),
        ({"normalised": "yes"}, "normalised"),
        ({"scorer": "magic"}, "scorer"),
        ({"system": "magic"}, "unknown pair"),
        ({"lam": "nan"}, "lam"),
        ({"method": "magic"}, "unknown method"),
    ],
)
def test_a_broken_link_keeps_the_prompt_and_names_the_problem(
    query: dict[str, str], named: str
) -> None:
    asked = from_query({"prompt": "hi", **query})
    assert asked.prompt == "hi"
    assert named in asked.problem
    assert asked.lane.config == DecodeConfig()
