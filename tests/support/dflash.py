"""A tiny random target with a tiny random DFlash drafter."""

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from presto.models.backbone import Backbone
from presto.models.dflash import DFlashSystem
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.windows import FULL, SLIDING
from tests.support.doubles import CPU

VOCAB, HIDDEN, LAYER_IDS = 29, 24, (0, 2)


def sizes(layers: int) -> Qwen3Config:
    """The sizes that target and drafter share."""
    return Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=HIDDEN,
        intermediate_size=40,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=256,
        initializer_range=0.3,
        eos_token_id=1,
        pad_token_id=1,
    )


def tiny_dflash(dtype: torch.dtype = torch.float64, device: torch.device = CPU) -> DFlashSystem:
    """A pair with the same random weights every time."""
    torch.manual_seed(0)
    backbone = Backbone(Qwen3ForCausalLM(sizes(4)).to(device, dtype))
    drafter = DFlashDrafter(DFlashConfig(6, 4, 28, LAYER_IDS, sizes(2)))
    for parameter in drafter.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return DFlashSystem("tiny-dflash", backbone, frozenset({1}), drafter)


MIXED = {"layer_types": [SLIDING, FULL], "sliding_window": 4, "use_sliding_window": True}
PROMPT = tuple(3 + i % 20 for i in range(20))
SIZES = {
    "vocab_size": 29, "hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 256,
}  # fmt: skip


def dflash(causal: bool | None = None, **fields: object) -> DFlashSystem:
    """A random pair whose drafter has these ``fields`` in its configuration."""
    torch.manual_seed(0)
    target = Qwen3ForCausalLM(Qwen3Config(num_hidden_layers=3, **SIZES, initializer_range=0.3))
    sizes = Qwen3Config(num_hidden_layers=2, **SIZES | fields)
    drafter = DFlashDrafter(DFlashConfig(6, 3, 28, (0, 2), sizes, causal))
    for parameter in drafter.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return DFlashSystem("tiny", Backbone(target.double()), frozenset(), drafter)
