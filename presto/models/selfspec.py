"""Gated self-speculation: the target drafts for itself through a low-rank adapter on mask rows
only.

A drafting pass reads ``[seed, mask, …, mask]``. The seed row is the target's own computation (no
adapter, causal), so its logits are the exact distribution of the next token and its K/V is kept:
the pass is also one autoregressive step. Mask row j sits at position seed + j, sees the committed
text, the seed and all masks of the block, and yields the marginal of the token at seed + j + 1. The
idea of gated LoRA is known from multi-token prediction (arXiv 2507.11851).
"""

from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import save_file

from presto.decoding.marginals import drafted
from presto.decoding.protocols import Draft, Session
from presto.models.backbone import Backbone
from presto.models.checkpoint import check_tensors, load_tensors, read_header
from presto.models.lora import LowRankAdapter
from presto.models.target import TargetSession, TargetSystem

MASK_FILE, MASK = "mask_embedding.safetensors", "mask_embedding"
MAX_MASKS = 31


class SelfSpeculativeSystem(TargetSystem):
    """A target, its draft adapter, and the embedding ``[H]`` that stands for a token not yet
    known.
    """

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


class SelfSpeculativeSession(TargetSession):
    """One sequence of a model that drafts for itself."""

    def __init__(
        self, system: SelfSpeculativeSystem, prompt_ids: tuple[int, ...], capacity: int
    ) -> None:
        super().__init__(system.backbone, prompt_ids, capacity)
        self.system = system

    def block(self, anchor: int, masks: int, plain_seed: bool) -> torch.Tensor:
        """Hidden states ``[masks + 1, H]`` of a pass over anchor and masks; all rows see each
        other.

        With ``plain_seed`` the anchor's row is the target's own: no adapter, and blind to the
        masks.
        """
        backbone, committed = self.backbone, self.cache.committed
        device, rows = backbone.device, masks + 1
        seed = backbone.embeddings(torch.tensor([anchor], device=device))
        embeds = torch.cat([seed, self.system.mask_embedding.expand(masks, -1)])
        positions = torch.arange(committed, committed + rows, device=device)
        mask = torch.ones(rows, committed + rows, dtype=torch.bool, device=device)
        gate = torch.ones(rows, 1, dtype=backbone.dtype, device=device)
        if plain_seed:
            mask[0, committed + 1 :] = False
            gate[0] = 0
        adapted = self.system.adapter, gate
        return backbone.hidden(embeds[None], positions[None], mask[None], self.cache, adapted)[0]


class GatedSystem(SelfSpeculativeSystem):
    """A pair whose adapter touches mask rows only."""

    mode = "gated"
    max_draft = MAX_MASKS

    @classmethod
    def load(cls, name: str, backbone: Backbone, eos_ids: frozenset[int], folder: Path) -> Self:
        """Attach the adapter folder written by ``save_draft_adapter``."""
        return cls(name, backbone, eos_ids, *load_draft_adapter(backbone.model, folder))

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> Session:
        return GatedSession(self, prompt_ids, capacity)


class GatedSession(SelfSpeculativeSession):
    """One sequence of a gated pair."""

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """One pass over seed and ``length`` masks; the seed's K/V stays in the cache."""
        hidden = self.block(anchor, length, plain_seed=True)
        logits = self.backbone.logits(hidden)
        self.cache.keep([0])
        return drafted(logits[1:], top_k, hidden[1:], forwards=1, exact=logits[0])


def save_draft_adapter(
    folder: Path, adapter: LowRankAdapter, mask_embedding: torch.Tensor, base_model: str
) -> None:
    """Write the folder ``GatedSystem.load`` reads: a PEFT LoRA folder plus the mask embedding."""
    adapter.save(folder, base_model)
    save_file({MASK: mask_embedding.detach().to("cpu", torch.bfloat16)}, folder / MASK_FILE)


def load_draft_adapter(model: Any, folder: Path) -> tuple[LowRankAdapter, torch.Tensor]:
    """Attach the adapter of such a folder to ``model``; returns it with the mask embedding
    ``[H]``.
    """
    adapter, found = LowRankAdapter.load(model, folder), read_header(folder / MASK_FILE)
    wanted = {MASK: (int(model.config.hidden_size),)}
    check_tensors(folder / MASK_FILE, found, wanted, "its target")
    return adapter, load_tensors(found)[MASK]
