"""The main property: speculative output is autoregressive output, whatever drafts, scores and
searches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import pytest
import torch
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from presto.decoding.loop import autoregressive, decode
from presto.decoding.protocols import System
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.models.quadratic import QuadraticGatedSystem
from presto.models.selfspec import GatedSystem
from presto.records import DecodeConfig, Round
from presto.records.config import LEAST_TEMPERATURE
from presto.searches import SEARCHES
from tests.support.doubles import tiny_gated
from tests.support.drafters import EOS, LOG_Q, PROPOSALS, Informed
from tests.support.examples import LARGEST, examples
from tests.support.plugins import OWN_SCORERS, OWN_SEARCHES, own_ones
from tests.support.scorers import USUAL

VOCAB = 23
TINY = 5e-324  # the smallest number above 0: its inverse overflows
NARROW, WIDE = 24, 256  # tokens of context
# Letters; a letter of two tokens, and two letters of one.
PIECES = (*(bytes([97 + token]) for token in range(VOCAB - 3)), b"\xc3", b"\xa9", b"ab")


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with own_ones():
        yield


@lru_cache(maxsize=64)
def system(seed: int, device: torch.device, context: int = WIDE) -> GatedSystem:
    return tiny_gated(seed, VOCAB, context=context, device=device)


@lru_cache(maxsize=64)
def pair(seed: int, device: torch.device, context: int, quadratic: bool) -> System:
    own = system(seed, device, context)
    if not quadratic:
        return own
    return QuadraticGatedSystem("q", own.backbone, own.eos_ids, own.adapter, own.mask_embedding)


@lru_cache(maxsize=4)
def table(seed: int) -> NgramTable:
    generator = torch.Generator().manual_seed(seed)
    texts = torch.randint(0, VOCAB, (6, 60), generator=generator).tolist()
    return NgramTable.build(texts, VOCAB)


def tokens(rounds: list[Round]) -> list[int]:
    return [token for round_ in rounds for token in round_.committed]


class Case(NamedTuple):
    """A run: pair and prompt, settings, and who drafts.

    ``end_at`` are places of the text whose tokens end it, beside ``EOS``; ``stop_at`` places (begin
    and length in tokens) whose pieces are stop strings, beside those of the settings.
    """

    model: int
    quadratic: bool
    context: int
    prompt: tuple[int, ...]
    config: DecodeConfig
    stop_at: tuple[tuple[int, int], ...]
    end_at: tuple[int, ...]
    proposal: str
    log_q: str
    static: int | None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    context = draw(st.sampled_from((NARROW, WIDE)))
    prompt = draw(
        st.lists(st.integers(2, VOCAB - 1), min_size=1, max_size=9)
        | st.lists(st.integers(2, VOCAB - 1), min_size=NARROW - 3, max_size=NARROW - 1)
    )
    room = context - len(prompt)
    usual = st.integers(1, min(14, room))
    most = draw(usual if context == WIDE else st.just(room) | usual)
    return draw(
        st.builds(
            Case,
            model=st.integers(0, 7),
            quadratic=st.booleans(),
            context=st.just(context),
            prompt=st.just(tuple(prompt)),
            config=configs(most),
            stop_at=st.just(()) | st.tuples(st.tuples(st.integers(0, most), st.integers(1, 3))),
            end_at=st.just(()) | st.tuples(st.integers(0, most - 1)),
            proposal=st.sampled_from(("right", "own", *PROPOSALS)),
            log_q=st.sampled_from(sorted(LOG_Q)),
            static=st.none() | st.integers(0, 3),
        )
    )


def configs(max_new_tokens: int) -> st.SearchStrategy[DecodeConfig]:
    return st.builds(
        DecodeConfig,
        scorer=st.sampled_from((*USUAL, *OWN_SCORERS)),
        normalised=st.booleans(),
        search=st.sampled_from((*sorted(SEARCHES.built_in), *OWN_SEARCHES)),
        lam=st.sampled_from((0.0, TINY, 0.2, 0.7, 1.0, 4.0)),
        order=st.sampled_from((2, 3)),
        budget=st.integers(1, 24),
        top_k=st.integers(1, 8),
        beam_width=st.integers(1, 8),
        lookup=st.sampled_from((0, 1, 3, 8)),
        draft_length=st.integers(1, 8),
        correct_first=st.booleans(),
        online_ngram=st.booleans(),
        sampled_draft=st.booleans(),
        temperature=st.sampled_from((0.0, 0.0, LEAST_TEMPERATURE, 0.5, 0.8, 1.3, 4.0)),
        top_p=st.sampled_from((1.0, 0.9, 0.4, TINY)),
        sample_top_k=st.sampled_from((0, 1, 5)),
        seed=st.integers(0, 2**32),
        max_new_tokens=st.just(max_new_tokens),
        stop=st.just(())
        | st.lists(st.text("abcdeé", min_size=1, max_size=2), max_size=2).map(tuple),
    )


def cut(text: Sequence[int], eos_ids: frozenset[int], stops: Sequence[str]) -> list[int]:
    """``text`` up to the first token that ends the run, as the settings describe it."""
    for end in range(1, len(text) + 1):
        said = b"".join(PIECES[token] for token in text[:end])
        if text[end - 1] in eos_ids or any(stop.encode() in said for stop in stops):
            return list(text[:end])
    return list(text)


def stops_of(case: Case, text: Sequence[int]) -> tuple[str, ...]:
    """The stop strings of a case: those of its settings, and some that stand in its ``text``."""
    found = [
        b"".join(PIECES[token] for token in text[begin : begin + length]).decode(errors="ignore")
        for begin, length in case.stop_at
    ]
    return (*case.config.stop, *filter(None, found))


@settings(max_examples=examples(LARGEST))
@given(case=cases())
def test_tree_decoding_emits_the_targets_own_text(device: torch.device, case: Case) -> None:
    check(device, case)


@pytest.mark.parametrize("scorer", ["dual", "learned"])
@settings(max_examples=examples(LARGEST))
@given(case=cases(), weight=st.floats(0, 4))
def test_so_does_every_scorer_over_counts(
    device: torch.device, scorer: str, case: Case, weight: float
) -> None:
    own = {"online": weight} if scorer == "dual" else {}
    config = replace(case.config, scorer=scorer, scorer_settings=own)
    check(device, case._replace(config=config))


def check(device: torch.device, case: Case) -> None:
    """Whatever a case drafts, its text is the target's own, within the budget."""
    endless = Informed(system(case.model, device, case.context), (), frozenset())
    free = replace(case.config, stop=())
    text = tokens(list(autoregressive(endless, case.prompt, free)))
    assert len(text) == free.max_new_tokens
    config = replace(case.config, stop=stops_of(case, text))
    eos_ids = frozenset({EOS, *(text[place] for place in case.end_at)})
    expected = cut(text, eos_ids, config.stop)

    inner = pair(case.model, device, case.context, case.quadratic)
    told = Informed(inner, (*case.prompt, *text), eos_ids, case.proposal, case.log_q)
    counts = None if case.static is None else table(case.static)
    ngram = NgramModel(VOCAB, counts, online=config.online_ngram, order=config.order)
    rounds = list(decode(told, case.prompt, config, ngram, PIECES.__getitem__))
    assert tokens(rounds) == expected
    assert tokens(list(autoregressive(told, case.prompt, config, PIECES.__getitem__))) == expected
    assert all(len(round_.tree.tokens) <= config.budget + 1 for round_ in rounds)
    record(case, rounds, expected, eos_ids)


def record(case: Case, rounds: list[Round], expected: list[int], eos_ids: frozenset[int]) -> None:
    """What hypothesis counts of a case (``--hypothesis-show-statistics``)."""
    cap, ended = case.config.max_new_tokens, expected[-1] in eos_ids
    event(f"scorer {case.config.scorer}, search {case.config.search}")
    event(f"drafter {case.proposal}")
    event("end token" if ended else "cap" if len(expected) == cap else "stop string")
    event("all of the context" if len(case.prompt) + len(expected) == case.context else "room left")
    event("sampled" if case.config.temperature else "greedy")
    dropped = any(len(r.committed) < len(r.accepted) + 1 for r in rounds)
    event("the end inside an accepted path" if dropped else "the end behind it")
    event("some drafted accepted" if any(round_.accepted for round_ in rounds) else "none accepted")


def test_the_property_draws_every_part_of_every_kind() -> None:
    drawn: list[Case] = []

    @settings(
        max_examples=400,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases())
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    configs = [case.config for case in drawn]
    assert {config.scorer for config in configs} == {*USUAL, *OWN_SCORERS}
    assert {config.search for config in configs} == {*SEARCHES.built_in, *OWN_SEARCHES}
    assert {case.proposal for case in drawn} == {"own", *PROPOSALS}
    assert {case.log_q for case in drawn} == set(LOG_Q)
    assert {case.quadratic for case in drawn} == {True, False}
    assert {bool(config.temperature) for config in configs} == {True, False}
    assert {len(config.stop) for config in configs} == {0, 1, 2}
    assert {len(case.stop_at) for case in drawn} == {0, 1}
    assert {len(case.end_at) for case in drawn} == {0, 1}
    rooms = {case.context - len(case.prompt) - case.config.max_new_tokens for case in drawn}
    assert {0, 1} <= rooms, "runs that use the whole context, and all of it but one token"
    assert min(config.budget for config in configs) == 1


@pytest.mark.parametrize("seed", range(4))
def test_greedy_reference_is_transformers_generate(device: torch.device, seed: int) -> None:
    backbone = system(seed, device).backbone
    prompt = (2, 5, 7, 3)
    ids = torch.tensor([prompt], device=device)
    expected = backbone.model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=30, do_sample=False, pad_token_id=1
    )[0, len(prompt) :].tolist()
    config = DecodeConfig(max_new_tokens=30)
    assert tokens(list(autoregressive(system(seed, device), prompt, config))) == expected
    assert tokens(list(decode(system(seed, device), prompt, config))) == expected


def test_the_seed_decides_the_sample(device: torch.device) -> None:
    texts = {
        tuple(
            tokens(
                list(
                    decode(
                        system(1, device),
                        (2, 3),
                        DecodeConfig(temperature=1.5, seed=seed, max_new_tokens=20),
                    )
                )
            )
        )
        for seed in range(6)
    }
    assert len(texts) > 1
