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

    feature_layers: tuple[int, ...] = ()  # whose outputs the drafter reads

    def __init__(self, backbone: Backbone, prompt_ids: tuple[int, ...], capacity: int) -> None:
        self.backbone = backbone
        self.cache: TailCache = backbone.new_cache(capacity)
        self.features: torch.Tensor | None = None  # of the rows verified last [N + 1, layers · H]
        with torch.inference_mode():
            ids = torch.tensor(prompt_ids[:-1], dtype=torch.long, device=backbone.device)
            for features in backbone.prefill(ids, self.cache, self.feature_layers):
                self.observe(features)

    def observe(self, features: torch.Tensor) -> None:
        """Called with the features ``[rows, layers · H]`` of newly committed tokens, if the drafter reads any."""

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
        rows = embeds[None], plan.positions[None], plan.mask[None]
        hidden, features = self.backbone.hidden_and_features(*rows, self.cache, self.feature_layers)
        self.features = None if features is None else features[0]
        return self.backbone.logits(hidden[0])

    @torch.inference_mode()
    def commit(self, nodes: tuple[int, ...]) -> None:
        self.cache.keep([0, *nodes])
        if self.features is not None:
            self.observe(self.features[[0, *nodes]])


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
