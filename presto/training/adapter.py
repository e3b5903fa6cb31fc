"""Train the gated draft adapter of a self-speculative pair (algorithm.md §6).

A block is ``[seed, mask, …, mask]``. The seed row is the target's own: it yields the exact next
token. Mask row j (1-based, at position seed + j) learns the target's distribution of the token at
seed + j + 1, without knowing the tokens in between. Mask rows see the clean cache up to and
including the seed, and each other.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import DynamicCache

from presto.models.backbone import Backbone
from presto.models.lora import LowRankAdapter
from presto.models.selfspec import load_draft_adapter
from presto.training.blocks import Batch, block_mask
from presto.training.documents import Document
from presto.training.trainer import Recipe, Trainer

ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class AdapterRecipe(Recipe):
    """Measured on two cores: 2 s a step."""

    steps: int = 1200
    documents: int = 3
    rows: int = 168
    masks: tuple[int, ...] = (6, 6, 6, 12)
    depth_decay: float = 4.0
    rank: int = 32
    alpha: float = 32.0


class AdapterTrainer(Trainer):
    """What learns: the adapter and the mask embedding."""

    ahead = 1

    def __init__(
        self,
        backbone: Backbone,
        documents: list[Document],
        recipe: AdapterRecipe,
        init: Path | None = None,
    ) -> None:
        super().__init__(backbone, documents, recipe)
        if backbone.device.type == "cpu":
            # Measured on two AVX512 cores, bfloat16, forward and backward with a mask: eager 16 ms,
            # SDPA 44 ms a layer.
            backbone.model.set_attn_implementation("eager")
        if init is None:
            adapter = LowRankAdapter(backbone.model, recipe.rank, recipe.alpha, ADAPTED)
            mask = backbone.embeddings.weight.float().mean(0)
        else:
            adapter, mask = load_draft_adapter(backbone.model, init)
        self.adapter = adapter.to(self.device)
        self.mask_embedding = nn.Parameter(mask.float().to(self.device))
        self.optimise([*self.adapter.parameters(), self.mask_embedding])

    def hidden(self, batch: Batch, documents: list[Document]) -> torch.Tensor:
        return adapter_states(self.backbone, self.adapter, self.mask_embedding, batch)

    def state(self) -> dict[str, Any]:
        return {
            "adapter": self.adapter.state_dict(),
            "mask_embedding": self.mask_embedding.detach(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        self.adapter.load_state_dict(state["adapter"])
        self.mask_embedding.data = state["mask_embedding"]


def adapter_states(
    backbone: Backbone, adapter: LowRankAdapter, mask_embedding: torch.Tensor, batch: Batch
) -> torch.Tensor:
    """Final hidden states ``[B, A, D, H]`` of the mask rows of a batch's blocks."""
    (texts, blocks, masks), length = batch.known.shape, batch.tokens.shape[1]
    cache, device = DynamicCache(), batch.tokens.device
    with torch.no_grad():
        places = torch.arange(length, device=device).expand(texts, -1)
        backbone.hidden(backbone.embeddings(batch.tokens), places, None, cache)
    embeds = mask_embedding.to(backbone.dtype).expand(texts, blocks * masks, -1)
    offsets = torch.arange(1, masks + 1, device=device)
    positions = (batch.anchors[..., None] + offsets).flatten(1)
    with adapter.acting_on(torch.ones(1, dtype=backbone.dtype, device=device)):
        states = backbone.hidden(
            embeds, positions, block_mask(batch.anchors + 1, masks, length), cache
        )
    return states.reshape(texts, blocks, masks, -1)
