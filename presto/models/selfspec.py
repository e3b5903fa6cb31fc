"""Gated self-speculation: the target drafts for itself through a low-rank adapter on mask rows only.

A drafting pass reads ``[seed, mask, …, mask]``. The seed row is the target's own computation (no adapter, causal), so
its logits are the exact distribution of the next token and its K/V is kept: the pass is also one autoregressive step.
Mask row j sits at position seed + j, sees the committed text, the seed and all masks of the block, and yields the
marginal of the token at seed + j + 1. The idea of gated LoRA is known from multi-token prediction (arXiv 2507.11851).
"""

from pathlib import Path
from typing import Self

import torch
from safetensors.torch import load_file, save_file

from presto.marginals import marginals_from
from presto.models.backbone import Backbone
from presto.models.lora import LowRankAdapter
from presto.models.target import TargetSession, TargetSystem
from presto.protocols import Draft

MASK_FILE = "mask_embedding.safetensors"
MAX_MASKS = 31


class GatedSystem(TargetSystem):
    """A self-speculative pair: target, adapter, and the embedding ``[H]`` that stands for a token not yet known."""

    mode = "gated"
    max_draft = MAX_MASKS

    def __init__(
        self,
        name: str,
        backbone: Backbone,
        eos_ids: frozenset[int],
        adapter: LowRankAdapter,
        mask_embedding: torch.Tensor,
    ) -> None:
        super().__init__(name, backbone, eos_ids)
        self.adapter = adapter.to(backbone.device, backbone.dtype).requires_grad_(False)
        self.mask_embedding = mask_embedding.to(backbone.device, backbone.dtype)

    @classmethod
    def load(cls, name: str, backbone: Backbone, eos_ids: frozenset[int], folder: Path) -> Self:
        """Attach the adapter folder written by ``save_draft_adapter``."""
        return cls(name, backbone, eos_ids, *load_draft_adapter(backbone.model, folder))

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "GatedSession":
        return GatedSession(self, prompt_ids, capacity)


class GatedSession(TargetSession):
    """One sequence of a gated pair."""

    def __init__(self, system: GatedSystem, prompt_ids: tuple[int, ...], capacity: int) -> None:
        super().__init__(system.backbone, prompt_ids, capacity)
        self.system = system

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """One pass over seed and ``length`` masks; the seed's K/V stays in the cache."""
        backbone, committed = self.backbone, self.cache.committed
        device, rows = backbone.device, length + 1
        seed = backbone.embeddings(torch.tensor([anchor], device=device))
        embeds = torch.cat([seed, self.system.mask_embedding.expand(length, -1)])
        positions = torch.arange(committed, committed + rows, device=device)
        mask = torch.ones(rows, committed + rows, dtype=torch.bool, device=device)
        mask[0, committed + 1 :] = False
        gate = torch.ones(rows, 1, dtype=backbone.dtype, device=device)
        gate[0] = 0
        with self.system.adapter.acting_on(gate):
            hidden = backbone.hidden(embeds[None], positions[None], mask[None], self.cache)[0]
        self.cache.keep([0])
        logits = backbone.logits(hidden)
        return Draft(marginals_from(logits[1:], top_k), logits[0], forwards=1)


def save_draft_adapter(folder: Path, adapter: LowRankAdapter, mask_embedding: torch.Tensor, base_model: str) -> None:
    """Write the folder ``GatedSystem.load`` reads: a PEFT LoRA folder plus the mask embedding."""
    adapter.save(folder, base_model)
    save_file({"mask_embedding": mask_embedding.detach().to("cpu", torch.bfloat16)}, folder / MASK_FILE)


def load_draft_adapter(model: torch.nn.Module, folder: Path) -> tuple[LowRankAdapter, torch.Tensor]:
    """Attach the adapter of such a folder to ``model``; returns it with the mask embedding ``[H]``."""
    return LowRankAdapter.load(model, folder), load_file(folder / MASK_FILE)["mask_embedding"]
