"""The only seam between the engine and models.

A *system* is a target with its drafter (possibly one network). A *session* is one sequence being
decoded: it owns the K/V cache and knows how many tokens are in it. Tensors go in and out here and
nowhere else in the loop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from presto.records import Marginals, Tree

PairScores = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Draft:
    """One drafting step.

    ``exact`` are the target's own logits ``[vocab]`` for the token after the anchor when the
    drafting pass computed them too (gated self-speculation); then ``marginals`` start one position
    later. ``forwards`` counts passes of the target. ``hidden [D, H]`` are the drafter's last hidden
    states, ``logits [D, vocab]`` their logits and ``log_z [D]`` the log-sums of their exponentials.
    ``pairs(parents [D, P], tokens [D, K])`` are the drafter's own scores of a token after the one
    before it, ``log p(t | b) / q(t) [D, P, K]`` in nats, if it has any. All but the marginals are
    on the device and valid until the next pass.
    """

    marginals: Marginals
    exact: torch.Tensor | None
    forwards: int
    hidden: torch.Tensor | None = None
    logits: torch.Tensor | None = None
    log_z: torch.Tensor | None = None
    pairs: PairScores | None = None


@dataclass(frozen=True)
class TreeInput:
    """A tree on the target's device: ``token_ids``, ``positions``, ``parents [N + 1]`` (the root is
    its own).

    ``paths [N + 1, D + 1]`` are every node's ancestors, the root first, filled up with the node
    itself. ``mask [N + 1, cache + N + 1]`` is boolean, True where a row may look.
    """

    token_ids: torch.Tensor
    positions: torch.Tensor
    parents: torch.Tensor
    paths: torch.Tensor
    mask: torch.Tensor


class Session(Protocol):
    """One sequence. Between rounds the cache holds every committed token but the last, the
    anchor.
    """

    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """Marginals of the next ``length`` (≥ 0) positions. If the draft is exact, the anchor joins
        the cache.
        """
        ...

    def plan(self, tree: Tree) -> TreeInput:
        """The target's input for a tree: token ids, positions and the tree-attention mask."""
        ...

    def verify(self, plan: TreeInput) -> torch.Tensor:
        """The target's logits ``[N + 1, vocab]`` after the root and after every node, in one
        forward pass.
        """
        ...

    def commit(self, nodes: tuple[int, ...]) -> None:
        """Keep the K/V rows of the verified root and of these nodes (a path from the root), drop
        the others.
        """
        ...


class System(Protocol):
    """A target and its drafter, loaded on one device in one dtype."""

    name: str
    mode: str
    vocab: int
    context: int  # most positions a sequence may have
    max_draft: int  # most positions one draft can cover
    eos_ids: frozenset[int]
    scores_pairs: bool  # whether drafts come with ``pairs``

    @property
    def device(self) -> torch.device: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> Session:
        """Prefill all of the prompt but its last token, the first anchor; ``capacity`` bounds the
        cache positions.
        """
        ...

    def synchronise(self) -> None:
        """Wait for the work queued on the device."""
        ...
