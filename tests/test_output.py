"""Where output ends: EOS inside a path, the cap, stop strings; and what counts as committed."""

from itertools import islice
from typing import get_args

from presto.decoding.loop import autoregressive, decode
from presto.decoding.output import cut_at_stop
from presto.models.registry import Pair, find
from presto.records import DecodeConfig, Finish, Round
from presto.runs.events import collected
from presto.runs.runner import run_events
from tests.support.doubles import Letters, Scripted

EOS = 1


def following(script: list[int]):
    """A target that writes ``script`` after a one-token prompt, then counts up from 10."""
    return lambda prefix: (
        script[len(prefix) - 1] if len(prefix) <= len(script) else 10 + len(prefix) % 5
    )


def agreeing(script: list[int]):
    choose = following(script)
    return lambda prefix, depth: choose([0] * (len(prefix) + depth))


def run(system: Scripted, **settings: object) -> tuple[list[int], list[Round]]:
    config = DecodeConfig(**{"online_ngram": False, **settings})
    rounds = list(decode(system, (9,), config, pieces=lambda token: bytes([64 + token])))
    return [token for round_ in rounds for token in round_.committed], rounds


def test_eos_in_an_accepted_path_ends_the_run() -> None:
    script = [20, 21, EOS, 22, 23]
    out, rounds = run(Scripted(following(script), agreeing(script)), search="linear")
    assert out == [20, 21, EOS]
    assert sum(len(round_.committed) for round_ in rounds) == 3


def test_a_rejected_drafted_eos_does_not_end_the_run() -> None:
    script = [20, 21, 22, 23, 24, EOS]
    system = Scripted(following(script), lambda prefix, depth: EOS)
    out, _ = run(system, search="linear")
    assert out == script


def test_eos_as_the_only_child_of_the_root() -> None:
    out, rounds = run(Scripted(following([EOS]), lambda prefix, depth: EOS, width=1), budget=1)
    assert out == [EOS]
    assert len(rounds) == 1


def test_the_cap_is_exact() -> None:
    script = list(range(20, 40))
    for cap in (1, 2, 5, 8, 9):
        for exact in (False, True):
            system = Scripted(following(script), agreeing(script), exact=exact)
            out, _ = run(system, max_new_tokens=cap, search="linear", draft_length=8)
            assert out == script[:cap]


def test_a_stop_string_before_the_cap_wins() -> None:
    script = [20, 21, 22, 23, 24]
    stop = bytes([64 + 21, 64 + 22]).decode()
    config = DecodeConfig(max_new_tokens=5, stop=(stop,), search="linear", online_ngram=False)
    system = Scripted(following(script), agreeing(script))
    for method in (decode, autoregressive):
        rounds = list(method(system, (9,), config, pieces=lambda token: bytes([64 + token])))
        assert [token for round_ in rounds for token in round_.committed] == [20, 21, 22]
    assert cut_at_stop("TUVW", [stop]) == "T"


def test_any_stop_string_ends_the_run_also_across_tokens() -> None:
    script = [20, 21, 22, 23, 24]  # T U V W X
    system = Scripted(following(script), agreeing(script))
    for stops, length in (
        (("Z", "U"), 2),
        (("Z", "UVW"), 4),
        (("UVW", "Z"), 4),
        (("ZZZZ", "V"), 3),
    ):
        assert run(system, stop=stops, max_new_tokens=5)[0] == script[:length]


def test_text_is_cut_at_the_first_of_all_stop_strings() -> None:
    assert cut_at_stop("TUVW", ["W", "U"]) == "T"
    assert cut_at_stop("TUVW", ["T"]) == ""
    assert cut_at_stop("TUVW", ["U", "T"]) == ""
    assert cut_at_stop("TUVW", ["Z"]) == "TUVW"


def test_an_exact_eos_needs_no_verification() -> None:
    _, rounds = run(Scripted(following([EOS]), agreeing([EOS]), exact=True))
    assert [round_.forwards for round_ in rounds] == [1]
    assert rounds[0].tree.tokens == (EOS,)


def test_runs_end_in_every_way_that_a_record_can_name() -> None:
    script = [20, 21, 22, EOS]
    system = Scripted(following(script), agreeing(script))
    pair = Pair(find("smollm2-gated"), system, Letters(), None)

    def finish(most: int = 99, **settings: object) -> Finish:
        """Of a run that is closed after ``most`` events."""
        events = run_events(pair, "I", "linear", DecodeConfig(**settings))
        return collected(islice(events, most)).finish

    ends = {
        "eos": finish(),
        "stop": finish(stop=("U",)),
        "length": finish(max_new_tokens=2),
        "stopped": finish(most=1),
    }
    assert ends == {name: name for name in get_args(Finish)}


def test_tokens_of_a_round_cover_all_it_shows() -> None:
    _, rounds = run(Scripted(following([20, 21]), agreeing([20, 21])), max_new_tokens=2)
    shown = rounds[0].tokens()
    assert set(rounds[0].committed) <= shown
    assert {token for row in rounds[0].marginals.token_ids for token in row} <= shown
