"""Quadratic self-speculation: one forward verifies a tree and already drafts behind every node of it.

Each node carries its own mask rows, which see the node's path and each other. Whichever node turns out to be the last
accepted one, its masks have drafted what follows the bonus token, so a round costs a single pass of N + 1 + (N + 1)·D
rows (Nemotron-Labs-Diffusion, arXiv 2607.05722, has this for a chain; here for a tree and a gated pair).
"""

import torch

from presto.marginals import marginals_from
from presto.models.selfspec import GatedSession, GatedSystem
from presto.protocols import Draft, TreeInput
from presto.records import Tree
from presto.tree import ancestor_mask, depths


class QuadraticSystem(GatedSystem):
    """A gated pair that drafts while it verifies."""

    mode = "quadratic"

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "QuadraticSession":
        return QuadraticSession(self, prompt_ids, capacity)


class QuadraticSession(GatedSession):
    """One sequence; between rounds it holds the hidden states of the last accepted node's masks ``[D, H]``."""

    def __init__(self, system: QuadraticSystem, prompt_ids: tuple[int, ...], capacity: int) -> None:
        super().__init__(system, prompt_ids, capacity)
        self.length = 0  # masks per node
        self.drafted: torch.Tensor | None = None  # by every node of the last tree [N + 1, D, H]
        self.waiting: torch.Tensor | None = None  # by its last accepted node [D, H]

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """The marginals drafted by the last verification; only the first round needs a pass of its own."""
        if self.waiting is None:
            self.length = length
            return super().draft(anchor, length, top_k)
        logits = self.backbone.logits(self.waiting[:length])
        return Draft(marginals_from(logits, top_k), None, forwards=0)

    def plan(self, tree: Tree) -> TreeInput:
        """The tree's rows, then ``length`` masks for each of them in node order."""
        plain, nodes, masks = super().plan(tree), len(tree.tokens), self.length
        if masks == 0:
            return plain
        owner = torch.arange(nodes).repeat_interleave(masks)
        ancestors = torch.from_numpy(ancestor_mask(tree.parents))
        committed = self.cache.committed
        mask = torch.zeros(nodes * (1 + masks), committed + nodes * (1 + masks), dtype=torch.bool)
        mask[:, :committed] = True
        mask[:nodes, committed : committed + nodes] = ancestors
        mask[nodes:, committed : committed + nodes] = ancestors[owner]
        mask[nodes:, committed + nodes :] = owner[:, None] == owner[None]
        ahead = torch.arange(1, masks + 1).repeat(nodes)
        places = torch.tensor(depths(tree.parents))[owner] + committed + ahead
        device = self.backbone.device
        return TreeInput(plain.token_ids, torch.cat([plain.positions, places.to(device)]), mask.to(device))

    @torch.inference_mode()
    def verify(self, plan: TreeInput) -> torch.Tensor:
        nodes, rows = len(plan.token_ids), len(plan.positions)
        embeds = torch.cat(
            [self.backbone.embeddings(plan.token_ids), self.system.mask_embedding.expand(rows - nodes, -1)]
        )
        gate = torch.ones(rows, 1, dtype=self.backbone.dtype, device=self.backbone.device)
        gate[:nodes] = 0
        with self.system.adapter.acting_on(gate):
            hidden = self.backbone.hidden(embeds[None], plan.positions[None], plan.mask[None], self.cache)[0]
        self.drafted = hidden[nodes:].reshape(nodes, self.length, hidden.shape[-1])
        return self.backbone.logits(hidden[:nodes])

    @torch.inference_mode()
    def commit(self, nodes: tuple[int, ...]) -> None:
        super().commit(nodes)
        assert self.drafted is not None
        self.waiting = self.drafted[nodes[-1] if nodes else 0]
