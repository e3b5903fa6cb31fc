"""What the page says of other scorers at a round's state."""

from dataclasses import replace
from pathlib import Path

from presto.records import Tree, load_recording
from presto.runs.counterfactuals import Alternative
from tests.support import synthetic
from tests.support.checks import some
from viz.alternatives import (
    _get_alternatives_info,
    _get_alternatives_sentence,
    alternatives_of,
    replay,
)

# root → 5, 6; 5 → 7            root → 5, 8; 8 → 7
OURS = Tree(
    (1, 5, 6, 7),
    (-1, 0, 0, 1),
    (0, 0, 1, 0),
    (0.0,) * 4,
    (0.0,) * 4,
    (0.0, -1.0, -2.0, -3.0),
    (0.0,) * 4,
)
BLIND = Tree(
    (1, 5, 8, 7),
    (-1, 0, 0, 2),
    (0, 0, 1, 0),
    (0.0,) * 4,
    (0.0,) * 4,
    (0.0, -1.0, -1.5, -2.5),
    (0.0,) * 4,
)
ROUND = replace(synthetic.trace(rounds=1).rounds[0], tree=OURS, log_p=(0.0,) * 4, accepted=(1,))


def found(own: int = 3, blind: int = 2, mixture: int = 3) -> tuple[Alternative, ...]:
    return (
        Alternative("blind", BLIND, (1,), blind),
        Alternative("pmi", OURS, (1,), own, own=True),
        Alternative("mixture", OURS, (1,), mixture),
    )


def said(compared: tuple[Alternative, ...]) -> str:
    return _get_alternatives_sentence(_get_alternatives_info(compared))


def test_the_sentence_names_who_would_have_done_better_and_worse() -> None:
    assert said(found()) == "This run committed 3; less with blind."
    assert said(found(mixture=5)) == "This run committed 3; more with mixture; less with blind."
    assert said(found(2, 2, 2)) == "All settings would have committed 2 here."


def test_a_run_whose_table_is_not_here_is_not_replayed() -> None:
    found = replay(synthetic.trace(rounds=2))
    assert found.rounds == []
    assert "n-gram table" in found.problem


def test_every_recorded_run_can_be_replayed() -> None:
    for path in some((Path(__file__).parents[1] / "assets" / "runs").glob("*.json.gz")):
        trace = load_recording(path).traces[0]
        found = alternatives_of(trace)
        assert len(found) == len(trace.rounds)
        assert all(found[:-1])  # the last round may end with its exact token, without a tree
        for round_, settings in zip(trace.rounds, found, strict=True):
            own = [one.committed for one in settings if one.own]
            assert own == [len(round_.committed)] * bool(settings)
