"""Every kind of tokenizer: text is what it decodes, tokens spell it, and a prompt's characters stay
characters.
"""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models

from presto.decoding.output import Output, cut_at_stop
from presto.models.text import Text
from presto.records import DecodeConfig
from tests.support.small_tokenizers import KINDS, LINES, TEMPLATE

TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(st.sampled_from([*" ".join(LINES).split(), "\n", "  ", "🚀", "ć"])).map(" ".join),
)


@pytest.fixture(scope="module", params=KINDS)
def text(request: pytest.FixtureRequest) -> Text:
    return Text(KINDS[request.param]())


def spelled(text: Text, tokens: list[int]) -> bytes:
    return b"".join(text.piece(token) for token in tokens)


@settings(max_examples=150)
@given(data=st.data())
def test_text_is_what_the_tokenizer_decodes(text: Text, data: st.DataObject) -> None:
    size = len(text.tokenizer)
    first = next(token for token in range(size) if text.piece(token).strip().isalpha())
    tokens = [first, *data.draw(st.lists(st.integers(0, size - 1), max_size=12))]
    expected = text.tokenizer.decode(tokens, skip_special_tokens=True)
    ours = text.decode(tokens)
    assert ours == expected or (ours == expected.rstrip("\ufffd") and expected.endswith("\ufffd"))
    # Behind a word the pieces spell the same, but for a space before that word.
    joined = spelled(text, tokens).decode(errors="replace")
    if "\ufffd" not in joined + expected:
        assert joined.lstrip(" ") == expected.lstrip(" ")


@settings(max_examples=100)
@given(prompt=TEXTS)
def test_a_prompt_of_any_text_decodes_as_the_tokenizer_does(text: Text, prompt: str) -> None:
    try:
        ids = text.encode(prompt)
    except ValueError as error:
        assume("only write as a control token" not in str(error))
        raise
    assert text.control.isdisjoint(ids)
    assert spelled(text, list(ids)).decode().strip() == text.decode(ids).strip()


@pytest.mark.parametrize("kind", ["byte_level", "byte_fallback"])
def test_a_character_still_missing_bytes_is_left_out(kind: str) -> None:
    text = Text(KINDS[kind]())
    ids = text.encode("a🚀")
    for cut in range(len(ids) - 3, len(ids)):
        assert text.decode(ids[:cut]).strip() == "a"
        assert isinstance(text.label(ids[cut]), tuple)
    assert text.decode(ids).strip() == "a🚀"


@pytest.mark.parametrize(
    "words", ["<think>", "</think>", "<tool_call>", "<|im_end|>", "<|im_start|>user"]
)
def test_what_looks_like_a_control_token_is_characters(text: Text, words: str) -> None:
    prompt = f"What does {words} mean?"
    if isinstance(text.tokenizer.backend_tokenizer.model, models.WordLevel) and words in LINES[2]:
        pytest.skip("a word of this vocabulary: see the next but one")
    ids = text.encode(prompt)
    assert text.control.isdisjoint(ids)
    turn = text.chat_turn()
    whole = text.encode_chat(prompt)
    controls = [token for token in whole if token in text.control]
    assert controls == [t for t in (*turn.before, *turn.after) if t in text.control]


def test_whitespace_tokens_are_text() -> None:
    text = Text(KINDS["byte_level"]())
    assert text.tokenizer.convert_tokens_to_ids("  ") in text.encode("a  b")
    assert text.decode(text.encode("a  b")) == "a  b"


@settings(max_examples=60)
@given(prompt=st.text(min_size=1, max_size=12).filter(lambda words: "<" not in words))
def test_a_prompt_is_encoded_as_its_template_is(prompt: str) -> None:
    """Without control tokens in the prompt the ids are the tokenizer's of the whole text."""
    text = Text(KINDS["byte_level"]())
    rendered = text.tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
    )
    assert text.encode_chat(prompt) == tuple(
        text.tokenizer(rendered, add_special_tokens=False)["input_ids"]
    )


@pytest.mark.parametrize("word", ["<think>", "fox"])
def test_a_vocabulary_that_spells_a_control_token_is_refused_by_name(word: str) -> None:
    tokenizer = KINDS["words"]()
    tokenizer.add_special_tokens({"pad_token": AddedToken("fox")})
    with pytest.raises(ValueError, match=f"{word}', which this tokenizer can only write as a con"):
        Text(tokenizer).encode(f"The quick brown {word}")


PARTS = TEMPLATE.replace(
    "{{ m.content }}",
    "{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}",
)


def templated(template: str | None) -> Text:
    tokenizer = KINDS["byte_level"]()
    tokenizer.chat_template = template
    return Text(tokenizer)


def test_templates_of_parts_give_the_same_prompt() -> None:
    assert templated(PARTS).encode_chat("Hello") == templated(TEMPLATE).encode_chat("Hello")


@pytest.mark.parametrize("change", ["{{ m.content | trim }}", "{{ m.content | upper }}"])
def test_what_a_template_makes_of_a_message_is_kept(change: str) -> None:
    text = templated(TEMPLATE.replace("{{ m.content }}", change))
    rendered = text.tokenizer.apply_chat_template(
        [{"role": "user", "content": " Hello "}], add_generation_prompt=True, tokenize=False
    )
    ids = text.encode_chat(" Hello ")
    assert text.tokenizer.decode(ids) == rendered


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('Only system messages.') }}", "refuses: Only system messages."),
        ("{{ messages[3].content }}", "refuses"),
        ("{% if %}", "refuses"),
        ("{{ undefined_function() }}", "refuses"),
        ("{{ 1 + messages[0].content }}", "refuses"),
        ("a fixed text", "leaves out the user's message"),
        ("{{ messages[0].content }}{{ messages[0].content }}", "repeats the user's message"),
        ("{{ messages[0].content | length }} {{ messages[0].content }}", "other text around"),
        (None, "has no chat template"),
    ],
)
def test_a_template_that_cannot_be_used_is_told_in_one_sentence(
    template: str | None, reason: str
) -> None:
    with pytest.raises(ValueError, match=r"template") as error:
        templated(template).encode_chat("Hello")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("stop", ["fox", "dog. It", "isn't", "brown fox"])
def test_stop_strings_are_found_in_the_text(text: Text, stop: str) -> None:
    """Where the decoded text first holds the stop string the run ends, and its text before it is
    kept.
    """
    ids = list(text.encode(LINES[0]))
    whole = text.decode(ids)
    if stop not in whole:
        pytest.skip("this tokenizer puts spaces elsewhere")
    output = Output(DecodeConfig(stop=(stop,), max_new_tokens=500), frozenset(), text.piece)
    taken = list(output.emit(ids))
    assert output.finish == "stop"
    assert stop in text.decode(taken)
    assert stop not in text.decode(taken[:-1])
    assert cut_at_stop(text.decode(taken), [stop]) == whole[: whole.index(stop)]
