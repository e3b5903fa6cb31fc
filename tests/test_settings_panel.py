"""The panel of settings: methods, the settings by which they differ, and what is not as usual."""

from dataclasses import replace

import pytest
from hypothesis import given

from presto.models.catalogue import names
from presto.records import DecodeConfig, Method
from presto.runs.requests import METHODS, config_for, method_of, without_method
from tests.support.strategies import changes as some_changes
from ui.controls import FIELDS, METHOD, OWN, lane_of, values_of
from ui.settings_panel import (
    AS_USUAL,
    OF_METHODS,
    as_usual,
    changes,
    choose_method,
    name_method,
    show_changes,
)

PAIR = "smollm2-gated"


@pytest.mark.parametrize("method", list(METHODS))
def test_choosing_a_method_sets_what_it_differs_by(method: Method) -> None:
    values = choose_method(method)
    named = dict(zip(OF_METHODS, values, strict=True))
    assert replace(DecodeConfig(), **named) == config_for(method, DecodeConfig())
    assert name_method(*values) == ("presto" if method == "ar" else method)


@given(some_changes)
def test_a_method_is_known_by_its_settings_and_taken_out_again(given: dict[str, object]) -> None:
    config = replace(DecodeConfig(), **given)  # type: ignore[arg-type]
    method = method_of(config)
    assert config_for(method, config) == config
    assert method_of(without_method(config)) == "presto"
    for other in ("blind", "linear", "presto+"):
        assert method_of(config_for(other, config)) == other or other == "blind"


def test_nothing_is_drafted_only_where_plain_decoding_is_chosen() -> None:
    for method in METHODS:
        values = values_of(config_for(method, DecodeConfig()), method=method)  # type: ignore[arg-type]
        assert lane_of(values).method == method
    values = values_of(DecodeConfig(scorer="blind"), method="presto+")
    assert lane_of(values).method == "blind"


@pytest.mark.parametrize("system", names())
@pytest.mark.parametrize("method", list(METHODS))
def test_no_pair_and_no_method_is_a_change(system: str, method: str) -> None:
    named = dict(zip(FIELDS, as_usual(system), strict=True)) | METHODS[method] | {METHOD: method}
    assert changes(system, *named.values()) == {}
    told, back = show_changes(system, *named.values())
    assert (AS_USUAL in told, back.interactive) == (True, False)


def test_every_change_is_named_with_both_values_and_as_characters() -> None:
    named = dict(zip(FIELDS, as_usual(PAIR), strict=True))
    named |= {"lam": 0.4, "normalised": False, "lookup": 3, METHOD: "presto+", OWN: "<b>=1"}
    named["scorer"] = "learned"
    assert changes(PAIR, *named.values()) == {
        "Normalised": ("off", "on"),
        "λ": ("0.4", "0.7"),
        "Lookup": ("3", "12"),
        "Own settings": ("<b>=1", "none"),
    }
    told, back = show_changes(PAIR, *named.values())
    assert "&lt;b&gt;=1" in told
    assert back.interactive


def test_a_budget_that_is_chosen_for_the_device_is_no_change() -> None:
    config = DecodeConfig(budget=99, draft_length=3)
    assert changes(PAIR, *values_of(config, auto=True)) == {}
    assert set(changes(PAIR, *values_of(config))) == {"Budget", "Draft length"}
