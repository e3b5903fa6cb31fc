"""Bad input is one sentence, before any model call."""

import pytest

from presto.decoding.loop import autoregressive, decode
from presto.records import DecodeConfig
from presto.runs.requests import check_method, check_prompt, config_for
from presto.runs.runner import stream
from tests.support.doubles import Scripted


@pytest.mark.parametrize("blank", ["", "   ", "\n", "\u200b", " \u200b\n\ufeff "])
def test_blank_prompts(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        check_prompt(blank)


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        (None, "NoneType"),
        (3, "int"),
        (b"x", "bytes"),
        ("x" * 1_000_000, "1,000,000"),
        ("ab\ud83d", "U\\+D83D"),
    ],
)
def test_prompts_that_no_model_can_read(prompt: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        check_prompt(prompt)


def test_control_token_text_is_allowed() -> None:
    assert check_prompt("What does <|im_end|> mean?")


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ValueError, match="known methods are ar, linear, blind, presto"):
        check_method("medusa")
    with pytest.raises(ValueError, match="known pairs are smollm2-gated"):
        next(stream("gpt-9", "hello", "presto", DecodeConfig()))


def test_methods_are_settings() -> None:
    config = DecodeConfig(scorer="product", search="beam")
    assert config_for("presto", config) == config
    assert (config_for("linear", config).scorer, config_for("linear", config).search) == (
        "blind",
        "linear",
    )
    assert (config_for("blind", config).scorer, config_for("blind", config).search) == (
        "blind",
        "beam",
    )


class NoModel(Scripted):
    def start(self, prompt_ids: tuple[int, ...], capacity: int):
        raise AssertionError("the model was called")


@pytest.mark.parametrize(("prompt", "cap"), [(500, 13), (513, 1), (600, 5)])
def test_what_exceeds_the_context_is_refused_with_both_numbers(prompt: int, cap: int) -> None:
    system = NoModel(lambda prefix: 5, lambda prefix, depth: 5)
    for method in (decode, autoregressive):
        with pytest.raises(ValueError, match=f"{prompt} tokens.*{prompt + cap}.*512"):
            next(method(system, (3,) * prompt, DecodeConfig(max_new_tokens=cap)))
    with pytest.raises(ValueError, match="empty"):
        next(decode(system, (), DecodeConfig()))


def test_a_prompt_that_just_fits_decodes_to_the_end_of_the_context() -> None:
    system = Scripted(lambda prefix: 5, lambda prefix, depth: 5)
    rounds = list(decode(system, (3,) * 509, DecodeConfig(max_new_tokens=3, draft_length=8)))
    assert sum(len(round_.committed) for round_ in rounds) == 3
