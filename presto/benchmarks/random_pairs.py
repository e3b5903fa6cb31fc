"""Pairs of any size with random weights, built on the device: what a machine without a network can
be measured with.
"""

from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM, Ministral3Config, Qwen3Config

from presto.models.backbone import Backbone
from presto.models.dflash import DFlashSystem
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.lora import LowRankAdapter
from presto.models.nemotron import NemotronSystem
from presto.models.quadratic import QuadraticNemotronSystem

NEVER: frozenset[int] = frozenset()  # random weights end no run


@dataclass(frozen=True)
class Sizes:
    """Of a target and of what drafts for it; ``spread`` is the standard deviation of the
    weights.
    """

    hidden: int
    inner: int
    layers: int
    heads: int
    groups: int
    head_dim: int
    vocab: int
    mask: int  # token id
    block: int = 0  # of a DFlash drafter, as the next two
    drafter_layers: int = 0
    read_layers: tuple[int, ...] = ()
    rank: int = 0  # of a draft LoRA, as the next
    alpha: float = 0.0
    spread: float = 0.02

    def as_config(self) -> dict[str, Any]:
        """In the words of a transformers configuration."""
        return {
            "vocab_size": self.vocab,
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.groups,
            "head_dim": self.head_dim,
            "max_position_embeddings": 40_960,
            "initializer_range": self.spread,
            "tie_word_embeddings": False,
        }


# As published: Qwen3-8B with z-lab's drafter, Nemotron-Labs-Diffusion-8B with its draft LoRA.
QWEN_8B = Sizes(4096, 12288, 36, 32, 8, 128, 151_936, 151_669, 16, 5, (1, 9, 17, 25, 33))
NEMOTRON_8B = Sizes(4096, 14336, 34, 32, 8, 128, 131_072, 100, rank=128, alpha=512.0)
# Small, and spread so that choices vary: for losslessness and for machines without a GPU.
QWEN_TINY = Sizes(32, 48, 4, 4, 2, 8, 96, 95, 16, 2, (0, 2), spread=0.3)
NEMOTRON_TINY = Sizes(32, 48, 2, 4, 2, 8, 96, 95, rank=4, alpha=16.0, spread=0.3)


def dflash_pair(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> DFlashSystem:
    """A Qwen3 target with a DFlash drafter."""
    common = sizes.as_config()
    backbone = _backbone(Qwen3Config(**common), device, dtype)
    drafter_sizes = Qwen3Config(**common | {"num_hidden_layers": sizes.drafter_layers})
    config = DFlashConfig(sizes.block, sizes.layers, sizes.mask, sizes.read_layers, drafter_sizes)
    with torch.device(device):
        drafter = DFlashDrafter(config).to(dtype)
    for name, parameter in drafter.named_parameters():
        if "norm" not in name:
            torch.nn.init.normal_(parameter, std=sizes.spread)
    return DFlashSystem("qwen3 with dflash, random weights", backbone, NEVER, drafter)


def nemotron_pair(
    sizes: Sizes, device: torch.device, dtype: torch.dtype, quadratic: bool = False
) -> NemotronSystem:
    """A Nemotron-Labs-Diffusion model with its draft LoRA."""
    long = {"max_position_embeddings": 16 * 16_384}  # as its YaRN scaling implies
    backbone = _backbone(Ministral3Config(**sizes.as_config() | long), device, dtype)
    adapter = LowRankAdapter(backbone.model, sizes.rank, sizes.alpha, ("o_proj",))
    for parameter in adapter.up.values():
        torch.nn.init.normal_(parameter, std=sizes.spread)
    kind = QuadraticNemotronSystem if quadratic else NemotronSystem
    mask = backbone.embeddings.weight[sizes.mask]
    return kind("nemotron-labs-diffusion, random weights", backbone, NEVER, adapter, mask)


def _backbone(config: Any, device: torch.device, dtype: torch.dtype) -> Backbone:
    with torch.device(device):
        return Backbone(AutoModelForCausalLM.from_config(config, dtype=dtype))
