"""Tiny random drafters in the public layouts, with the exact names of their fields and tensors."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import Qwen3Config, Qwen3ForCausalLM

from presto.models.backbone import Backbone
from presto.models.dflash import DFlashSystem
from presto.models.dflash_network import DFlashDrafter

VOCAB, HIDDEN, LAYERS, RANK, BLOCK, MASK = 29, 24, 2, 5, 5, 28
READ = (0, 2)  # layers of the target, counted from 0 behind the first one
SIZES: dict[str, Any] = {
    "model_type": "qwen3", "vocab_size": VOCAB, "hidden_size": HIDDEN, "intermediate_size": 40,
    "num_hidden_layers": LAYERS, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "attention_bias": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "layer_types": ["full_attention"] * LAYERS, "tie_word_embeddings": False,
}  # fmt: skip
DSPARK: dict[str, Any] = SIZES | {
    "architectures": ["Qwen3DSparkModel"], "num_target_layers": 4, "block_size": BLOCK,
    "mask_token_id": MASK, "target_layer_ids": list(READ), "num_anchors": 512,
    "enable_confidence_head": True, "confidence_head_with_markov": True,
    "markov_rank": RANK, "markov_head_type": "vanilla",
}  # fmt: skip
SPECULATORS: dict[str, Any] = {
    "speculators_model_type": "dspark", "architectures": ["DSparkSpeculator"],
    "speculators_version": "0.5.0", "transformer_layer_config": SIZES, "draft_vocab_size": 17,
    "block_size": BLOCK, "target_hidden_size": None, "mask_token_id": MASK,
    "aux_hidden_state_layer_ids": [layer + 1 for layer in READ], "sample_from_anchor": True,
    "sliding_window_non_causal": False, "markov_rank": RANK, "markov_head_type": "gated",
    "enable_confidence_head": True, "confidence_head_with_markov": True,
    "speculators_config": {"algorithm": "dspark"},
}  # fmt: skip
DFLASH: dict[str, Any] = {
    name: value
    for name, value in SPECULATORS.items()
    if not name.startswith(("markov", "confidence", "enable"))
} | {"speculators_model_type": "dflash", "sample_from_anchor": False}
TAPS, GROUP = 3, 8
DFLASH2: dict[str, Any] = SIZES | {
    "architectures": ["DFlash2DraftModel"], "num_target_layers": 4,
    "dflash_config": {
        "block_size": BLOCK, "mask_token_id": MASK, "target_layer_ids": list(READ),
        "conv_kernel_size": TAPS, "conv_group_size": GROUP, "selector_rank": RANK,
        "selector_top_k": 6, "input_embedding_scale": 1.5, "output_multiplier": 0.8,
        "final_logit_softcapping": 9.0,
    },
}  # fmt: skip
LAYOUTS = {
    "dflash2": DFLASH2,
    "dspark": DSPARK,
    "speculators-dspark": SPECULATORS,
    "speculators-dflash": DFLASH,
}


def tensors(config: dict[str, Any], seed: int = 0) -> dict[str, torch.Tensor]:
    """Random weights under the names that checkpoints of this layout have."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.4

    own, markov = config.get("draft_vocab_size", VOCAB), config.get("markov_rank", 0)
    second = "dflash_config" in config
    found = {
        "fc.weight": drawn(HIDDEN, len(READ) * HIDDEN), "hidden_norm.weight": 1 + drawn(HIDDEN),
        "norm.weight": 1 + drawn(HIDDEN),
    }  # fmt: skip
    shapes = {
        "self_attn.q_proj": (32, HIDDEN), "self_attn.k_proj": (16, HIDDEN),
        "self_attn.v_proj": (16, HIDDEN), "self_attn.o_proj": (HIDDEN, 32),
        "self_attn.q_norm": (8,), "self_attn.k_norm": (8,), "input_layernorm": (HIDDEN,),
        "post_attention_layernorm": (HIDDEN,), "mlp.gate_proj": (40, HIDDEN),
        "mlp.up_proj": (40, HIDDEN), "mlp.down_proj": (HIDDEN, 40),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name, shape in shapes.items():
            found[f"layers.{layer}.{name}.weight"] = drawn(*shape)
    if not second:
        found["embed_tokens.weight"] = drawn(VOCAB, HIDDEN)
        found["lm_head.weight"] = drawn(own, HIDDEN)
    for layer in range(LAYERS if second else 0):
        for part in ("attention_conv", "mlp_conv"):
            name = f"layers.{layer}.{part}"
            found[f"{name}.base_kernel"] = drawn(2, TAPS, HIDDEN)
            found[f"{name}.kernel_projection.weight"] = drawn(2 * TAPS * HIDDEN // GROUP, HIDDEN)
    if second:
        found["candidate_selector.predecessor_codebook"] = 3 * drawn(VOCAB, RANK)
        found["candidate_selector.successor_codebook"] = 3 * drawn(VOCAB, RANK)
        found["candidate_selector.hidden_projection.weight"] = drawn(RANK, HIDDEN)
    if markov:
        found["markov_head.markov_w1.weight"] = 3 * drawn(VOCAB, RANK)
        found["markov_head.markov_w2.weight"] = 3 * drawn(own, RANK)
        found["confidence_head.proj.weight"] = drawn(1, HIDDEN + RANK)
        found["confidence_head.proj.bias"] = drawn(1)
    if config.get("markov_head_type") == "gated":
        found["markov_head.gate_proj.weight"] = drawn(RANK, HIDDEN + RANK)
        found["markov_head.gate_proj.bias"] = drawn(RANK)
    if own != VOCAB:
        chosen = torch.randperm(VOCAB, generator=generator)[:own].sort().values
        found["d2t"] = chosen - torch.arange(own)
        found["t2d"] = torch.zeros(VOCAB, dtype=torch.bool).index_fill_(0, chosen, True)
    return found


def write_drafter(folder: Path, config: dict[str, Any], seed: int = 0) -> dict[str, torch.Tensor]:
    """Write such a checkpoint; returns its tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    found = tensors(config, seed)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(found, folder / "model.safetensors", metadata={"format": "pt"})
    return found


def target() -> Backbone:
    """The target that all of them are for, the same every time, in float64."""
    torch.manual_seed(3)
    sizes = {name: value for name, value in SIZES.items() if name != "layer_types"}
    config = Qwen3Config(**sizes | {"num_hidden_layers": 4, "initializer_range": 0.3})
    return Backbone(Qwen3ForCausalLM(config).double())


def pair(folder: Path) -> DFlashSystem:
    """The target with the drafter in ``folder``."""
    return DFlashSystem("tiny", target(), frozenset(), DFlashDrafter.load(folder))
