"""What follows from a tree's parents, against the definitions."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from presto.records import Tree
from presto.records.tree import child_by_token, children, depths, path, paths_to, ranks, verdicts
from tests.support import synthetic

# root → 1, 2; 1 → 3, 4; 4 → 5
PARENTS = (-1, 0, 0, 1, 1, 4)


@st.composite
def parents(draw: st.DrawFn) -> tuple[int, ...]:
    nodes = draw(st.integers(0, 12))
    return (-1, *(draw(st.integers(0, i)) for i in range(nodes)))


def test_a_hand_made_tree() -> None:
    assert depths(PARENTS) == [0, 1, 1, 2, 2, 3]
    assert children(PARENTS) == [[1, 2], [3, 4], [], [], [5], []]
    assert [path(PARENTS, node) for node in range(6)] == [[], [1], [2], [1, 3], [1, 4], [1, 4, 5]]
    assert paths_to(PARENTS).tolist() == [
        [0, 0, 0, 0],
        [0, 1, 1, 1],
        [0, 2, 2, 2],
        [0, 1, 3, 3],
        [0, 1, 4, 4],
        [0, 1, 4, 5],
    ]
    named = child_by_token(PARENTS, (9, 5, 6, 5, 7, 9))
    assert named == {(0, 5): 1, (0, 6): 2, (1, 5): 3, (1, 7): 4, (4, 9): 5}


@given(parents())
def test_any_tree(parents: tuple[int, ...]) -> None:
    depth = depths(parents)
    assert [(parent, node) for parent, below in enumerate(children(parents)) for node in below] == [
        (parent, node) for parent, node in sorted(zip(parents, range(len(parents)), strict=True))
    ][1:]
    for node, row in enumerate(paths_to(parents).tolist()):
        chain = [0, *path(parents, node)]
        assert row == chain + [node] * (max(depth) - depth[node])
        assert len(chain) == depth[node] + 1
        assert chain[-1] == node
        assert all(parents[below] == above for above, below in pairwise(chain))


def test_ranks_are_by_score_then_by_expansion_and_leave_out_the_root() -> None:
    assert ranks((0.0, -1.0, -3.0, -1.0, 2.0)) == [0, 2, 4, 3, 1]
    assert ranks((9.0,)) == [0]


def test_verdicts_say_what_the_target_was_asked() -> None:
    zeros = (0.0,) * 6
    tree = Tree((9, 5, 6, 5, 7, 9), PARENTS, (0,) * 6, zeros, zeros, zeros, zeros)
    first = synthetic.trace(rounds=1).rounds[0]
    parts = {"exact": None, "tree": tree, "log_p": zeros}
    round_ = replace(first, **parts, accepted=(1,), committed=(5, 8))
    expected = ["root", "accepted", "rejected", "rejected", "rejected", "beyond"]
    assert verdicts(round_) == expected
    none = replace(round_, accepted=(), committed=(8,))
    assert verdicts(none)[1:] == ["rejected"] * 2 + ["beyond"] * 3
