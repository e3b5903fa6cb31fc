"""The grid of marginals: one cell per token and position, whatever the prefixes the tree uses it
after.
"""

import math
from dataclasses import replace

import pytest

from presto.records import Choice, Marginals, Piece, Round, Stages, Trace, Tree
from tests.support import synthetic
from viz import marginals_figure
from viz.marginals import SHOWN, _get_marginals_info, _get_marginals_plot, _get_marginals_sentence
from viz.view import view_of

TOKENS = ((5, 6, 7), (8, 5, 9))
QS = ((0.5, 0.3, 0.1), (0.6, 0.2, 0.05))
# root 1 → 5, 6 at depth 1; 8 after both of them (nodes 3 and 4) and 9 after 5 at depth 2
TREE = Tree(
    tokens=(1, 5, 6, 8, 8, 9),
    parents=(-1, 0, 0, 1, 2, 1),
    rank=(0, 0, 1, 0, 0, 2),
    log_q=(0.0, -0.69, -1.2, -0.51, -0.51, -3.0),
    log_rho=(0.0, 0.1, 0.2, 1.5, -0.25, 0.7),
    blind=(0.0, -0.69, -1.2, -1.2, -1.71, -3.69),
    aligned=(0.0, -0.62, -1.06, -0.08, -1.75, -3.13),
)


def logs(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(math.log(q) for q in row) for row in rows)


def hand_made(marginals: Marginals | None = None, exact: int | None = None) -> Trace:
    marginals = marginals or Marginals(TOKENS, logs(QS))
    committed = (*(() if exact is None else (exact,)), 6, 8, 4)
    round_ = Round(
        3, exact, marginals, TREE, (0.0,) * 6, (2, 4), Choice(4), committed, 1.0, 1, Stages()
    )
    return replace(
        synthetic.trace(rounds=0), rounds=(round_,), pieces={i: f" t{i}" for i in range(60)}
    )


def random_marginals(trace: Trace, positions: int, width: int) -> Trace:
    """The trace with marginals whose tokens at every position are 0, 1, …, width - 1."""
    marginals = Marginals(
        (tuple(range(width)),) * positions, (tuple(-1.0 - i for i in range(width)),) * positions
    )
    return replace(
        trace, rounds=tuple(replace(round_, marginals=marginals) for round_ in trace.rounds)
    )


def test_a_token_is_one_cell_however_many_nodes_use_it() -> None:
    info = _get_marginals_info(view_of(hand_made(), 0))
    cells = {(cell.depth, cell.token): cell for row in info.rows for cell in row}
    assert len(cells) == 6
    shared = cells[2, 8]
    assert (shared.rank, shared.nodes, shared.log_rho, shared.accepted) == (
        1,
        (3, 4),
        (-0.25, 1.5),
        True,
    )
    assert shared.q == pytest.approx(0.6)
    assert [cells[key].nodes for key in ((1, 5), (1, 6), (1, 7), (2, 5), (2, 9))] == [
        (1,),
        (2,),
        (),
        (),
        (5,),
    ]
    assert {key for key, cell in cells.items() if cell.accepted} == {(1, 6), (2, 8)}
    assert cells[1, 7].log_rho is None
    assert info.below == 0


def test_rows_are_ranks_and_columns_positions() -> None:
    info = _get_marginals_info(view_of(hand_made(), 0))
    assert [[cell.token for cell in row] for row in info.rows] == [[5, 8], [6, 5], [7, 9]]
    grid = _get_marginals_plot(info).figure().data[0]
    assert [list(row) for row in grid.z] == [[0.5, 0.6], [0.3, 0.2], [0.1, 0.05]]
    assert grid.text[0][1] == "␣t8"
    assert grid.customdata[0][1][4] == "60.0%"
    assert (
        grid.customdata[0][1][-1]
        == "used by 2 nodes of the tree, log ρ −0.25 to 1.50; accepted by the target"
    )
    assert grid.customdata[2][0][-1] == "used by no node of the tree"
    assert grid.customdata[2][1][-1] == "used by 1 node of the tree, log ρ 0.70"


def test_depths_are_the_trees_with_an_exact_token_too() -> None:
    plain, exact = (
        _get_marginals_info(view_of(trace, 0)) for trace in (hand_made(), hand_made(exact=1))
    )
    assert exact.rows == plain.rows
    assert (plain.exact, exact.exact) == (False, True)
    assert "from the exact token" in _get_marginals_sentence(exact)
    assert "from the last committed token" in _get_marginals_sentence(plain)
    assert list(_get_marginals_plot(exact).figure().layout.xaxis.ticktext) == ["+1", "+2"]


def test_boxes_stand_around_the_used_cells() -> None:
    used, accepted = marginals_figure(hand_made()).data[1:]
    assert [used.x[i] + 0.45 for i in (0, 6)] == pytest.approx([1, 2])
    assert [used.y[i] + 0.45 for i in (0, 6)] == pytest.approx([1, 3])
    assert len(used.x) == len(accepted.x) == 12
    assert [accepted.x[0] + 0.45, accepted.y[0] + 0.45] == pytest.approx([2, 1])
    assert accepted.line.width > used.line.width
    assert (used.name, accepted.name) == ("used by the tree", "accepted")


def test_ranks_that_are_not_drawn_are_counted_once_per_token_and_position() -> None:
    wide = Marginals(((*range(10, 20), 5, 6), (*range(10, 20), 8, 9)), ((-1.0,) * 12,) * 2)
    info = _get_marginals_info(view_of(hand_made(wide), 0))
    assert len(info.rows) == SHOWN == 8
    assert info.below == 4  # 5 and 6 at depth 1, 8 (two nodes) and 9 at depth 2
    assert _get_marginals_sentence(info).endswith("+4 more of the tree rank lower.")
    assert "more" not in _get_marginals_sentence(_get_marginals_info(view_of(hand_made(), 0)))


@pytest.mark.parametrize("budget", [0, 8], ids=["autoregressive", "not recorded"])
def test_without_marginals_there_is_a_note(budget: int) -> None:
    trace = synthetic.trace(rounds=1, budget=budget)
    assert _get_marginals_info(view_of(trace, 0)).rows == ()
    figure = marginals_figure(trace)
    assert not figure.data
    assert "Nothing was drafted" in figure.layout.annotations[0].text


def test_large_trees() -> None:
    trace = random_marginals(synthetic.trace(rounds=2, budget=512, depth=15), 15, 32)
    info = _get_marginals_info(view_of(trace, 1))
    tree = trace.rounds[1].tree
    shown = sum(len(cell.nodes) for row in info.rows for cell in row)
    assert shown == sum(token < 8 for token in tree.tokens[1:])
    assert len(_get_marginals_plot(info).figure().to_json()) < 40_000


def test_hostile_tokens_are_spelled_and_the_hover_is_constant() -> None:
    pieces: list[Piece] = synthetic.HOSTILE
    for first in range(0, len(pieces), SHOWN):
        turned = pieces[first:] + pieces[:first]
        trace = random_marginals(
            synthetic.trace(5, rounds=1, budget=20, pieces=turned), 4, len(pieces)
        )
        grid = marginals_figure(trace).data[0]
        shown = str(grid.text).replace("<br>", "") + str(grid.customdata)
        assert all(mark not in shown for mark in ("<", ">", "$", "\u202e", "\u200b", "\x00"))
        assert grid.hovertemplate == marginals_figure(hand_made()).data[0].hovertemplate
        assert grid.texttemplate == "%{text}"
