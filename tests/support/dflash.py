"""A tiny random target with a tiny random DFlash drafter."""

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from presto.models.backbone import Backbone
from presto.models.dflash import DFlashConfig, DFlashDrafter, DFlashSystem
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
