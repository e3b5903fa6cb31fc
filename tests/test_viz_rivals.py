"""What the page says of other scorers at a round's state: which nodes are whose, in words and
paths.
"""

from dataclasses import replace
from pathlib import Path

from presto.records import Tree, load_recording
from presto.runs.counterfactuals import Rival
from tests.support import synthetic
from viz.rivals import missing_nodes, only_own, rivals_of, rivals_sentence

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


def rivals(own: int = 3, blind: int = 2, mixture: int = 3) -> tuple[Rival, ...]:
    return (
        Rival("blind", BLIND, (1,), blind),
        Rival("pmi", OURS, (1,), own, own=True),
        Rival("mixture", OURS, (1,), mixture),
    )


def test_nodes_are_compared_by_the_path_that_leads_to_them() -> None:
    assert only_own(ROUND, rivals()) == [2, 3]  # 6, and 7 after 5; the blind tree has 7 after 8
    assert missing_nodes(ROUND, rivals()) == [((8,), 2), ((8, 7), 3)]


def test_without_a_blind_tree_nothing_is_marked() -> None:
    assert only_own(ROUND, rivals()[1:]) == missing_nodes(ROUND, rivals()[1:]) == []


def test_the_sentence_names_who_would_have_done_better_and_worse() -> None:
    assert rivals_sentence(rivals()) == "This run committed 3; less with blind."
    assert (
        rivals_sentence(rivals(mixture=5))
        == "This run committed 3; more with mixture; less with blind."
    )
    assert rivals_sentence(rivals(2, 2, 2)) == "All settings would have committed 2 here."


def test_a_run_whose_table_is_not_here_is_not_replayed() -> None:
    assert rivals_of(synthetic.trace(rounds=2)) == []


def test_every_recorded_run_can_be_replayed() -> None:
    for path in sorted((Path(__file__).parents[1] / "assets" / "runs").glob("*.json.gz")):
        trace = load_recording(path).traces[0]
        found = rivals_of(trace)
        assert len(found) == len(trace.rounds)
        for round_, settings in zip(trace.rounds, found, strict=True):
            own = [rival for rival in settings if rival.own]
            assert not settings or own[0].committed == len(round_.committed)
