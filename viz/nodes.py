"""The rows behind every view of a round's tree: what is drawn, hovered, pinned and listed in the
table.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from presto.records import Piece, Round
from presto.records.tree import bonus_committed, depths, kept, path, ranks, verdicts
from viz.text import full_label, label, path_text
from viz.theme import Status

BONUS = -2  # the node of the bonus token, which was never drafted (-1 is the root's parent)
BONUS_WORD = "bonus: the target's own token"
CUT = "accepted, but cut: the run ended before it"


class Node(NamedTuple):
    """One token of a round's picture. Ranks are 1-based among the tree's nodes; the root and the
    bonus have none.
    """

    node: int
    token: int
    label: str  # short, for the tree
    full: str  # uncut, for cards and tables
    depth: int
    parent: int
    status: Status
    word: str
    log_q: float | None = None
    log_rho: float | None = None
    blind: float | None = None
    aligned: float | None = None
    blind_rank: int | None = None
    aligned_rank: int | None = None
    probability: float | None = None  # the target's, at temperature 1
    path: str = ""


def _words(round_: Round) -> dict[Status, str]:
    root = (
        "last committed token (anchor)"
        if round_.exact is None
        else "exact token, committed by the draft pass"
    )
    return {
        "root": root,
        "accepted": "accepted by the target",
        "rejected": "rejected: the target chose another token here",
        "beyond": "beyond: its parent was not reached",
    }


def node_rows(round_: Round, pieces: Mapping[int, Piece]) -> tuple[Node, ...]:
    """All nodes of a round in order of expansion, the root first, the bonus (if it was emitted)
    last.
    """
    tree, words = round_.tree, _words(round_)
    cut = set(round_.accepted) - set(kept(round_))
    texts = [pieces[token] for token in tree.tokens]
    depth, blind_rank, aligned_rank = depths(tree.parents), ranks(tree.blind), ranks(tree.aligned)
    rows = [
        Node(0, tree.tokens[0], label(texts[0]), full_label(texts[0]), 0, -1, "root", words["root"])
    ]
    for i, verdict in enumerate(verdicts(round_)[1:], start=1):
        row = Node(
            node=i,
            token=tree.tokens[i],
            label=label(texts[i]),
            full=full_label(texts[i]),
            depth=depth[i],
            parent=tree.parents[i],
            status=verdict,
            word=CUT if i in cut else words[verdict],
            log_q=tree.log_q[i],
            log_rho=tree.log_rho[i],
            blind=tree.blind[i],
            aligned=tree.aligned[i],
            blind_rank=blind_rank[i],
            aligned_rank=aligned_rank[i],
            probability=math.exp(min(round_.log_p[i], 0.0)),
            path=path_text([texts[j] for j in path(tree.parents, i)]),
        )
        rows.append(row)
    if bonus_committed(round_):
        rows.append(_bonus(round_, pieces, rows))
    return tuple(rows)


def _bonus(round_: Round, pieces: Mapping[int, Piece], rows: Sequence[Node]) -> Node:
    stop = rows[round_.accepted[-1] if round_.accepted else 0]
    token = round_.choice.token
    drafted = [pieces[round_.tree.tokens[j]] for j in round_.accepted]
    chances = dict(zip(round_.choice.top_ids, round_.choice.top_probs, strict=False))
    return Node(
        node=BONUS,
        token=token,
        label=label(pieces[token]),
        full=full_label(pieces[token]),
        depth=stop.depth + 1,
        parent=stop.node,
        status="bonus",
        word=BONUS_WORD,
        probability=chances.get(token),
        path=path_text([*drafted, pieces[token]]),
    )
