"""Bad input is one sentence, before any model call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.decoding.loop import autoregressive, decode
from presto.records import DecodeConfig, to_json, trace_from_json
from presto.records.config import LEAST_TEMPERATURE
from presto.records.explain import leaves_a_mark
from presto.runs.requests import check_method, check_prompt, config_for, make_config
from presto.runs.runner import stream
from tests.support import synthetic
from tests.support.doubles import Scripted
from tests.support.limits import watched

# Default_Ignorable_Code_Point of Unicode 16 (UAX 44), then what else no font draws.
IGNORABLE = (
    "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F "
    "FEFF FFA0 FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
OTHERS = "0000-0020 007F-00A0 1680 2000-200A 2028-2029 202F 205F 2800 3000 FFF9-FFFB"
# Format characters that are drawn: signs before numbers in Arabic, Syriac and Kaithi.
DRAWN = "0600-0605 06DD 070F 0890-0891 08E2 110BD 110CD"


def characters(ranges: str) -> list[str]:
    bounds = [part.split("-") for part in ranges.split()]
    return [chr(i) for ends in bounds for i in range(int(ends[0], 16), int(ends[-1], 16) + 1)]


UNSEEN = st.sampled_from([*characters(IGNORABLE), *characters(OTHERS)])
SEEN = st.sampled_from([*characters(DRAWN), "a", "ㄱ", "\u0301", "\ue000", "🧑"])


@given(st.text(UNSEEN, max_size=9))
def test_a_prompt_of_which_nothing_can_be_seen_is_blank(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        check_prompt(blank)


@given(st.text(UNSEEN, max_size=3), SEEN, st.text(UNSEEN, max_size=3))
def test_one_visible_character_is_a_prompt(before: str, one: str, after: str) -> None:
    assert check_prompt(before + one + after) == before + one + after


def test_every_ignorable_character_is_known() -> None:
    ignorable = characters(IGNORABLE)
    assert len(ignorable) == 4174
    assert not any(map(leaves_a_mark, ignorable))


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
    with watched() as cost, pytest.raises(ValueError, match=named):
        check_prompt(prompt)
    assert cost.seconds < 1


@pytest.mark.parametrize("prompt", ["a\x00b", "\x1b[31mred", "\ufeffx\u2028y"])
def test_controls_in_a_prompt_are_recorded_as_they_are(prompt: str) -> None:
    data = to_json(synthetic.trace(rounds=1, prompt=check_prompt(prompt)))
    assert trace_from_json(data.decode("utf-8", errors="strict")).prompt == prompt


@given(st.floats(5e-324, LEAST_TEMPERATURE, exclude_max=True))
def test_temperatures_that_drown_or_overflow_are_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"^temperature: must be 0 \(greedy\) or at least 1e-06"):
        make_config(temperature=temperature)


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
