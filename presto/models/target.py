"""A target on its own: prefill, tree verification and commit. Drafters add ``draft``."""

import numpy as np
import torch
from torch import nn

from presto.decoding.protocols import System, TreeInput
from presto.models import device as devices
from presto.models.backbone import Backbone
from presto.models.cache import TailCache
from presto.records import ROOT, Tree
from presto.records.tree import depths, paths_to


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
        """Called with the features ``[rows, layers · H]`` of newly committed tokens, if the drafter
        reads any.
        """

    def plan(self, tree: Tree) -> TreeInput:
        """Position id = committed + depth; a row sees all committed positions, its ancestors and
        itself.
        """
        nodes, committed = len(tree.tokens), self.cache.committed
        parents = np.maximum(tree.parents, ROOT)  # the root is its own
        columns = [
            tree.tokens,
            np.add(depths(tree.parents), committed),
            parents,
            *paths_to(tree.parents).T,
        ]
        rows = torch.from_numpy(np.column_stack(columns)).to(
            self.backbone.device
        )  # the tree's only copy to the device
        mask = torch.zeros(nodes, committed + nodes, dtype=torch.bool, device=self.backbone.device)
        mask[:, :committed] = True
        mask.scatter_(1, rows[:, 3:] + committed, True)
        return TreeInput(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:], mask)

    @torch.inference_mode()
    def verify(self, plan: TreeInput) -> torch.Tensor:
        embeds = self.backbone.embeddings(plan.token_ids)
        rows = embeds[None], plan.positions[None], plan.mask[None]
        hidden, features = self.backbone.hidden_and_features(*rows, self.cache, self.feature_layers)
        self.features = None if features is None else features[0]
        return self.backbone.logits(hidden[0])

    @torch.inference_mode()
    def commit(self, nodes: tuple[int, ...]) -> None:
        kept = self.cache.keep([ROOT, *nodes])
        if self.features is not None:
            self.observe(self.features[kept])


class TargetSystem(System):
    """What every pair shares: the loaded target and its limits. A pair adds ``start``."""

    scores_pairs = False

    def __init__(self, name: str, backbone: Backbone, eos_ids: frozenset[int]) -> None:
        self.name, self.backbone, self.eos_ids = name, backbone, eos_ids
        self.vocab = backbone.vocab
        self.context = backbone.context
        self.networks: tuple[nn.Module, ...] = (backbone.model,)  # all that a round computes with

    @property
    def device(self) -> torch.device:
        return self.backbone.device

    @property
    def dtype(self) -> torch.dtype:
        return self.backbone.dtype

    def synchronise(self) -> None:
        devices.synchronise(self.device)
