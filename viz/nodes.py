"""The rows behind every view of a round's tree: what is drawn, hovered, pinned and listed in the
table.
"""

import math
from typing import NamedTuple

from presto.records import Piece, Round, Trace
from presto.records.tree import depths, path, ranks, verdicts
from viz.text import byte_label, isolate, label, path_text, visible
from viz.theme import Status

BONUS = (
    -2
)  # the bonus token stands beside the tree: it was never drafted (-1 is the parent of the root)
BONUS_WORD = "bonus: the target's own token"


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


def _full(piece: Piece) -> str:
    return isolate(visible(piece)) if isinstance(piece, str) else byte_label(piece)


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


def bonus_committed(round_: Round) -> bool:
    """Whether the target's own next token was emitted: not when EOS, a stop string or the token cap
    came first.
    """
    return len(round_.committed) == (round_.exact is not None) + len(round_.accepted) + 1


def _committed_nodes(round_: Round) -> frozenset[int]:
    return frozenset(round_.accepted[: max(0, len(round_.committed) - (round_.exact is not None))])


def node_rows(trace: Trace, index: int) -> list[Node]:
    """All nodes of round ``index`` in order of expansion, the root first, the bonus (if it was
    emitted) last.
    """
    round_ = trace.rounds[index]
    tree, words, kept = round_.tree, _words(round_), _committed_nodes(round_)
    pieces = [trace.pieces[token] for token in tree.tokens]
    depth, blind_rank, aligned_rank = depths(tree.parents), ranks(tree.blind), ranks(tree.aligned)
    root = Node(0, tree.tokens[0], label(pieces[0]), _full(pieces[0]), 0, -1, "root", words["root"])
    rows = [root]
    for i, verdict in enumerate(verdicts(round_)[1:], start=1):
        row = Node(
            node=i,
            token=tree.tokens[i],
            label=label(pieces[i]),
            full=_full(pieces[i]),
            depth=depth[i],
            parent=tree.parents[i],
            status=verdict,
            word=words[verdict]
            + (" (cut: the run ends before it)" if verdict == "accepted" and i not in kept else ""),
            log_q=tree.log_q[i],
            log_rho=tree.log_rho[i],
            blind=tree.blind[i],
            aligned=tree.aligned[i],
            blind_rank=blind_rank[i],
            aligned_rank=aligned_rank[i],
            probability=math.exp(min(round_.log_p[i], 0.0)),
            path=path_text([pieces[j] for j in path(tree.parents, i)]),
        )
        rows.append(row)
    return [*rows, *_bonus(trace, round_, rows)]


def _bonus(trace: Trace, round_: Round, rows: list[Node]) -> list[Node]:
    if not bonus_committed(round_):
        return []
    stop = rows[round_.accepted[-1] if round_.accepted else 0]
    token = round_.choice.token
    piece = trace.pieces[token]
    drafted = [trace.pieces[round_.tree.tokens[j]] for j in round_.accepted]
    row = Node(
        BONUS, token, label(piece), _full(piece), stop.depth + 1, stop.node, "bonus", BONUS_WORD
    )
    chances = dict(zip(round_.choice.top_ids, round_.choice.top_probs, strict=False))
    return [row._replace(path=path_text([*drafted, piece]), probability=chances.get(token))]


def round_sentence(trace: Trace, index: int) -> str:
    """What happened in the round, in words."""
    round_ = trace.rounds[index]
    drafted, taken = len(round_.tree.tokens) - 1, len(_committed_nodes(round_))
    choice = _full(trace.pieces[round_.choice.token])
    own = (
        f", then the target’s own “{choice}”" if bonus_committed(round_) else ", then the run ended"
    )
    checked = f"{taken} of {drafted} drafted accepted" if drafted else "nothing drafted"
    total = len(round_.committed)
    return f"{checked}{own}: {total} token{'' if total == 1 else 's'}."
