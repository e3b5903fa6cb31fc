"""Rounds of realistic shape on random weights: what is measured is their time, never their
acceptance.

All work of a round is done (drafting, scores, search, verification, walk, commit). Two things are
put in: drafted probabilities that fall off as a trained drafter's do, so that trees reach their
usual depth, and accepted lengths drawn from a geometric law instead of decided by the target.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from presto.decoding.loop import Run
from presto.decoding.protocols import Draft, TreeInput
from presto.decoding.verify import Decision
from presto.records import Choice, Marginals, Tree
from presto.records.tree import depths, path

FIRST, KEPT = (
    0.85,
    0.93,
)  # probability of the likeliest token at depth 1, and its factor per further level


def profile(depth: int, width: int) -> tuple[tuple[float, ...], ...]:
    """``log_q [depth, width]``: the likeliest token's as above, the rest by Zipf's law over the
    ranks behind it.
    """
    zipf = 1 / np.arange(1, width)
    rows = []
    for level in range(depth):
        best = FIRST * KEPT**level
        rest = (1 - best) * zipf / max(zipf.sum(), 1)
        rows.append(
            tuple(round(math.log(p), 5) for p in sorted([best, *rest.tolist()], reverse=True))
        )
    return tuple(rows)


def geometric(mean: float, seed: int) -> Iterator[int]:
    """Accepted nodes per round, 0, 1, …: each further one with probability mean / (mean + 1)."""
    random = np.random.default_rng(seed)
    while True:
        yield int(random.geometric(1 / (mean + 1))) - 1


class DrawnRun(Run):
    """A run whose accepted lengths come from ``lengths``, cut where the tree ends."""

    lengths: Iterator[int]

    def draft(self) -> Draft:
        draft = super().draft()
        ids = draft.marginals.token_ids
        return replace(
            draft, marginals=Marginals(ids, profile(len(ids), len(ids[0])) if ids else ())
        )

    def decide(self, plan: TreeInput, tree: Tree) -> Decision:
        decision = super().decide(plan, tree)
        deepest = int(np.argmax(depths(tree.parents)))
        accepted = path(tree.parents, deepest)[: next(self.lengths)]
        return replace(decision, accepted=tuple(accepted), choice=Choice(decision.choice.token))
