"""A target on its own: prefill, tree verification and commit. Drafters add ``draft``."""

import torch

from presto import device as devices
from presto.cache import TailCache
from presto.models.backbone import Backbone
from presto.protocols import TreeInput
from presto.records import Tree
from presto.tree import ancestor_mask, depths


class TargetSession:
    """One sequence of a target. The cache holds all committed tokens but the last (the anchor)."""

    def __init__(self, backbone: Backbone, prompt_ids: tuple[int, ...], capacity: int) -> None:
        self.backbone = backbone
        self.cache: TailCache = backbone.new_cache(capacity)
        with torch.inference_mode():
            backbone.prefill(torch.tensor(prompt_ids[:-1], dtype=torch.long, device=backbone.device), self.cache)

    def plan(self, tree: Tree) -> TreeInput:
        """Position id = committed + depth; a row sees all committed positions, its ancestors and itself."""
        device, committed = self.backbone.device, self.cache.committed
        mask = torch.ones(len(tree.tokens), committed + len(tree.tokens), dtype=torch.bool)
        mask[:, committed:] = torch.from_numpy(ancestor_mask(tree.parents))
        positions = torch.tensor(depths(tree.parents)) + committed
        return TreeInput(torch.tensor(tree.tokens).to(device), positions.to(device), mask.to(device))

    @torch.inference_mode()
    def verify(self, plan: TreeInput) -> torch.Tensor:
        embeds = self.backbone.embeddings(plan.token_ids)
        hidden = self.backbone.hidden(embeds[None], plan.positions[None], plan.mask[None], self.cache)
        return self.backbone.logits(hidden[0])

    @torch.inference_mode()
    def commit(self, nodes: tuple[int, ...]) -> None:
        self.cache.keep([0, *nodes])


class TargetSystem:
    """What every pair shares: the loaded target and its limits."""

    def __init__(self, name: str, backbone: Backbone, eos_ids: frozenset[int]) -> None:
        self.name, self.backbone, self.eos_ids = name, backbone, eos_ids
        self.vocab = backbone.vocab
        self.context = int(backbone.model.config.max_position_embeddings)

    @property
    def device(self) -> torch.device:
        return self.backbone.device

    @property
    def dtype(self) -> torch.dtype:
        return self.backbone.dtype

    def synchronise(self) -> None:
        devices.synchronise(self.device)
