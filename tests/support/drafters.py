"""Drafters that know the target's text: they help, they mislead, or they propose its end."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from presto.decoding.protocols import Draft, Session, System
from presto.records import Marginals

EOS = 1
# From the target's true token at a position, the depth and the number of tokens: who is proposed,
# the likeliest first.
Proposal = Callable[[int, int, int], Sequence[int]]


def _others(true: int, vocab: int) -> list[int]:
    return [token % vocab for token in range(true + 1, true + vocab)]


PROPOSALS: dict[str, Proposal] = {
    "right": lambda true, depth, vocab: [true, *_others(true, vocab)],
    "right for two": lambda true, depth, vocab: (
        [true, *_others(true, vocab)] if depth < 2 else _others(true, vocab)
    ),
    "right at last": lambda true, depth, vocab: [*_others(true, vocab)[:2], true],
    "wrong": lambda true, depth, vocab: _others(true, vocab),
    "the end first": lambda true, depth, vocab: list(
        dict.fromkeys((EOS, true, (true + 1) % vocab))
    ),
    "one token": lambda true, depth, vocab: [2],
}
LOG_Q: dict[str, Callable[[int, int], float]] = {  # of a rank among so many
    "steep": lambda rank, width: -0.1 - 2.0 * rank,
    "flat": lambda rank, width: round(-math.log(width), 5),
    "certain": lambda rank, width: -1e4 * (rank > 0),
}


@dataclass
class Informed:
    """A pair whose drafter is told what the target will say from position 0 on.

    Its own drafting passes run all the same; ``proposal`` and ``log_q`` name what stands in place
    of their marginals, ``"own"`` leaves them.
    """

    system: System
    text: Sequence[int]
    eos_ids: frozenset[int]
    proposal: str = "own"
    log_q: str = "steep"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.system, name)

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "InformedSession":
        return InformedSession(self, self.system.start(prompt_ids, capacity), len(prompt_ids) - 1)

    def marginals(self, first: int, own: Marginals) -> Marginals:
        """What is proposed for the positions from ``first`` on, as many of them as ``own`` has."""
        if self.proposal == "own" or not own.token_ids:
            return own
        ids = []
        for depth in range(len(own.token_ids)):
            place = first + depth
            true = self.text[place] if place < len(self.text) else 0
            ids.append(PROPOSALS[self.proposal](true, depth, self.system.vocab))
        width = min(len(row) for row in (*ids, own.token_ids[0]))
        row = tuple(LOG_Q[self.log_q](rank, width) for rank in range(width))
        return Marginals(tuple(tuple(tokens[:width]) for tokens in ids), (row,) * len(ids))


@dataclass
class InformedSession:
    """One sequence; ``cached`` counts the tokens before the anchor."""

    system: Informed
    session: Session
    cached: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        draft = self.session.draft(anchor, length, top_k)
        self.cached += draft.exact is not None
        return replace(draft, marginals=self.system.marginals(self.cached + 1, draft.marginals))

    def commit(self, nodes: tuple[int, ...]) -> None:
        self.session.commit(nodes)
        self.cached += 1 + len(nodes)
