"""Token text: nothing invisible, nothing lost, nothing that reorders, no half characters."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presto.records import Choice, Marginals, Piece, Round, Stages, Trace, Tree
from presto.records.explain import BLANK, leaves_a_mark
from tests.support import synthetic
from tests.support.checks import some
from viz.text import (
    _WHITESPACE,
    LABEL_LIMITS,
    _visible_char,
    byte_label,
    join,
    label,
    labels,
    plotly_text,
    round_text,
    round_texts,
    running,
    shorten,
    visible,
)
from viz.view import view_of


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        (" the", "␣the"),
        ("\n\n", "⏎⏎"),
        ("\t", "⇥"),
        ("", "∅"),
        ((0xF0, 0x9F), "<F0 9F>"),
        ("\u202e", "<RLO>"),
        ("\u200b", "<ZWSP>"),
        ("\x00", "<NUL>"),
        ("\ue000", "<U+E000>"),
        ("🧑‍🚀", "🧑‍🚀"),
        ("\u200d", "<ZWJ>"),
        ("<|im_end|>", "<|im_end|>"),
        ("שלום", "\u2068שלום\u2069"),
    ],
)
def test_label(piece: Piece, shown: str) -> None:
    assert label(piece) == shown


def test_labels_are_cut_in_the_middle() -> None:
    assert shorten("abcdefghijkl", 7) == "abc…jkl"
    assert shorten("abcdefghijkl", 12) == "abcdefghijkl"
    assert len(label("x" * 50)) == 12


@pytest.mark.parametrize(
    "char", [chr(code) for code in (*range(0x20), *range(0x7F, 0xA1), *range(0x2000, 0x2070))]
)
def test_every_odd_character_shows(char: str) -> None:
    assert visible(char).strip()
    assert running(char).strip()


@given(st.characters() | st.sampled_from(sorted(BLANK)))
def test_no_label_is_blank(char: str) -> None:
    assert any(map(leaves_a_mark, label(char)))
    assert any(map(leaves_a_mark, running(char)))


@given(st.text(max_size=12))
def test_printable_text_is_spelled_as_any_other(text: str) -> None:
    last = len(text) - 1
    one_by_one = [
        _WHITESPACE.get(char) or _visible_char(char, 0 < i < last) for i, char in enumerate(text)
    ]
    assert visible(text) == ("".join(one_by_one) or "∅")


def test_selectors_show_although_python_prints_them() -> None:
    assert [visible(char) for char in ("\ufe0e", "\ufe0f")] == ["<VS15>", "<VS16>"]
    assert visible("a\ufe0fb") == "a\ufe0fb"


def test_running_text_keeps_spaces_and_breaks_lines() -> None:
    assert running(" the") == " the"
    assert running("  ") == "␣␣"
    assert running("a\nb") == "a⏎\nb"


def test_plotly_markup_and_formulas_are_spelled() -> None:
    assert plotly_text("<b> %{x} &lt; $x$") == "&lt;b&gt; %{x} &amp;lt; &#36;x&#36;"


def test_join_completes_characters_across_tokens() -> None:
    assert join([(0xF0, 0x9F), (0x9A, 0x80), "!"]) == "🚀!"
    assert join([(0xF0, 0x9F), "a", (0x9A,)]) == "<F0 9F>a<9A>"
    assert join([(0x41, 0xC3), (0xA9,)]) == "Aé"


def committed(*rounds: tuple[int, ...], pieces: dict[int, Piece]) -> Trace:
    start, made = 3, []
    for tokens in rounds:
        accepted = tuple(range(1, len(tokens)))
        tree = Tree(
            tokens=(0, *tokens[:-1]),
            parents=tuple(range(-1, len(tokens) - 1)),
            **{name: (0,) * len(tokens) for name in ("rank",)},
            **{name: (0.0,) * len(tokens) for name in ("log_q", "log_rho", "blind", "aligned")},
        )
        made.append(
            Round(
                start,
                None,
                Marginals(),
                tree,
                (0.0,) * len(tokens),
                accepted,
                Choice(tokens[-1]),
                tokens,
                1.0,
                2,
                Stages(),
            )
        )
        start += len(tokens)
    known = dict.fromkeys(range(4), "?") | pieces
    return replace(synthetic.trace(rounds=0), pieces=known, rounds=tuple(made))


ROCKET: dict[int, Piece] = {10: (0xF0, 0x9F), 11: (0x9A, 0x80), 12: "ok", 13: "🧑", 14: "\u200d🚀"}


def test_a_character_split_inside_a_round_is_one_unit_of_both_nodes() -> None:
    (text,) = round_texts(committed((10, 11, 12), pieces=ROCKET))
    assert [(unit.text, unit.kind, unit.nodes) for unit in text.units] == [
        ("🚀", "accepted", (1, 2)),
        ("ok", "bonus", ()),
    ]


def test_a_character_split_over_rounds_waits_as_bytes_and_completes() -> None:
    first, second = round_texts(committed((12, 10), (11, 12), pieces=ROCKET))
    assert first.pending == byte_label((0xF0, 0x9F))
    assert [unit.text for unit in first.units] == ["ok"]
    assert [unit.text for unit in second.units] == ["🚀", "ok"]
    assert second.pending == ""


def test_emoji_sequences_stay_together() -> None:
    (text,) = round_texts(committed((13, 14, 12), pieces=ROCKET))
    assert [unit.text for unit in text.units] == ["🧑\u200d🚀", "ok"]


@pytest.mark.parametrize("seed", range(20))
def test_no_replacement_character_and_no_empty_unit(seed: int) -> None:
    trace = synthetic.trace(seed, pieces=synthetic.HOSTILE, budget=12)
    for text in some(round_texts(trace)):
        assert all(running(unit.text).strip() for unit in text.units)
        assert "\ufffd" not in "".join(unit.text for unit in text.units) + text.pending


@given(st.text(max_size=30))
def test_the_forms_of_a_label_get_shorter_from_the_whole_one_on(text: str) -> None:
    forms = labels(text)
    assert forms[0] == label(text)
    assert list(forms[1:]) == [label(text, n) for n in LABEL_LIMITS[1:] if n < len(visible(text))]
    assert [len(form) for form in forms] == sorted({len(form) for form in forms}, reverse=True)


def test_a_rounds_text_continues_from_the_rest_of_the_one_before() -> None:
    trace = committed((12, 10), (11, 12), (10,), (11,), pieces=ROCKET)
    whole = round_texts(trace)
    assert [view_of(trace, index).text for index in range(4)] == whole
    rest = b""
    for index, round_ in enumerate(trace.rounds):
        text = round_text(round_, trace.pieces, rest)
        assert text == whole[index]
        rest = text.rest
    assert [bool(text.rest) for text in whole] == [True, False, True, False]
