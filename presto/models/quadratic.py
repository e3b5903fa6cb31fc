"""Quadratic self-speculation: one forward verifies a tree and already drafts behind every node of
it.

Each node carries its own mask rows, which see the node's path and each other. Whichever node turns
out to be the last accepted one, its masks have drafted what follows the bonus token, so a round
costs a single pass of N + 1 nodes with their masks (Nemotron-Labs-Diffusion, arXiv 2607.05722, has
this for a chain; here for a tree).
"""

from dataclasses import replace

import torch

from presto.decoding.marginals import drafted
from presto.decoding.protocols import Draft, TreeInput
from presto.models.nemotron import NemotronSession, NemotronSystem
from presto.models.selfspec import GatedSession, GatedSystem
from presto.records import ROOT, Tree


class QuadraticSession:
    """One sequence; between rounds it holds the hidden states of the last accepted node's masks.

    ``own`` is the session of the same pair that drafts in passes of their own: it has the target's
    cache, and drafts the first round. The first ``bonus_masks`` masks of a node predict the bonus
    token itself, which the node's own row decides exactly.
    """

    def __init__(self, own: GatedSession | NemotronSession, bonus_masks: int) -> None:
        self.own, self.bonus_masks = own, bonus_masks
        self.masks = 0  # per node
        self.drafted: torch.Tensor | None = None  # by every node of the last tree [N + 1, masks, H]
        self.waiting: torch.Tensor | None = None  # by its last accepted node [D, H]

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """The marginals drafted by the last verification; only the first round needs a pass of its
        own.
        """
        if self.waiting is None:
            self.masks = length + self.bonus_masks if length else 0
            return self.own.draft(anchor, length, top_k)
        hidden = self.waiting[:length]
        logits = self.own.backbone.logits(hidden)
        return drafted(logits, top_k, hidden)

    def plan(self, tree: Tree) -> TreeInput:
        """The tree's rows, then the masks of each of them in node order."""
        plain, nodes, masks = self.own.plan(tree), len(tree.tokens), self.masks
        if masks == 0:
            return plain
        device, seen = self.own.backbone.device, plain.mask.shape[1]
        owner = torch.arange(nodes, device=device).repeat_interleave(masks)
        mask = torch.zeros(
            nodes * (1 + masks), seen + nodes * masks, dtype=torch.bool, device=device
        )
        mask[:nodes, :seen] = plain.mask
        mask[nodes:, :seen] = plain.mask[owner]
        mask[nodes:, seen:] = owner[:, None] == owner[None]
        ahead = torch.arange(1, masks + 1, device=device).repeat(nodes)
        positions = torch.cat([plain.positions, plain.positions[owner] + ahead])
        return replace(plain, positions=positions, mask=mask)

    @torch.inference_mode()
    def verify(self, plan: TreeInput) -> torch.Tensor:
        """The target's logits ``[N + 1, vocab]`` of the tree's own rows; their masks draft
        besides.
        """
        system, backbone = self.own.system, self.own.backbone
        nodes, rows = len(plan.token_ids), len(plan.positions)
        embeds = torch.cat(
            [
                backbone.embeddings(plan.token_ids),
                system.mask_embedding.expand(rows - nodes, -1),
            ]
        )
        gate = torch.ones(rows, 1, dtype=backbone.dtype, device=backbone.device)
        gate[:nodes] = 0
        rows_ = embeds[None], plan.positions[None], plan.mask[None]
        hidden = backbone.hidden(*rows_, self.own.cache, (system.adapter, gate))[0]
        self.drafted = hidden[nodes:].reshape(nodes, self.masks, hidden.shape[-1])
        return backbone.logits(hidden[:nodes])

    @torch.inference_mode()
    def commit(self, nodes: tuple[int, ...]) -> None:
        """Keep the rows of the root and of ``nodes``, and what the last of them drafted."""
        self.own.commit(nodes)
        assert self.drafted is not None
        self.waiting = self.drafted[nodes[-1] if nodes else ROOT, self.bonus_masks :]


class QuadraticGatedSystem(GatedSystem):
    """A gated pair that drafts while it verifies."""

    mode = "quadratic"

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> QuadraticSession:
        """Mask 1 of a gated pair predicts the token after the bonus: none is wasted."""
        return QuadraticSession(GatedSession(self, prompt_ids, capacity), bonus_masks=0)


class QuadraticNemotronSystem(NemotronSystem):
    """Nemotron-Labs-Diffusion drafting while it verifies."""

    mode = "quadratic"

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> QuadraticSession:
        """Mask 1 stands where the bonus token will and predicts it; the masks behind it draft."""
        return QuadraticSession(NemotronSession(self, prompt_ids, capacity), bonus_masks=1)
