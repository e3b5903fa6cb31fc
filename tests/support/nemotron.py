"""A tiny checkpoint in the public layout of Nemotron-Labs-Diffusion."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from presto.models.nemotron import LORA_FOLDER, MODEL_TYPE

VOCAB, HIDDEN, HEADS, GROUPS, DIM, LAYERS, MASK = 31, 24, 4, 2, 8, 2, 30
ORIGINAL, FACTOR, BETA, THETA = 12, 16.0, 0.1, 10_000.0
RANK, ALPHA = 3, 12.0
ROPE = {
    "rope_type": "yarn", "rope_theta": THETA, "factor": FACTOR,
    "original_max_position_embeddings": ORIGINAL,
    "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": BETA,
}  # fmt: skip


def write_checkpoint(folder: Path) -> dict[str, torch.Tensor]:
    """A random checkpoint with the public key names and its LoRA folder; returns all tensors in
    float64.
    """
    config = {
        "model_type": MODEL_TYPE, "architectures": ["NemotronLabsDiffusionModel"],
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN, "intermediate_size": 40, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": GROUPS, "head_dim": DIM, "max_position_embeddings": 192,
        "rms_norm_eps": 1e-5,
        "rope_parameters": ROPE, "tie_word_embeddings": False, "mask_token_id": MASK,
        "eos_token_id": 11,
        "pad_token_id": 11,
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    torch.manual_seed(1)
    shapes = {"encoder.embed_tokens.weight": (VOCAB, HIDDEN), "encoder.norm.weight": (HIDDEN,)}
    shapes["diffusion_head.weight"] = (VOCAB, HIDDEN)
    for i in range(LAYERS):
        layer = f"encoder.layers.{i}."
        shapes |= {
            layer + f"{name}.weight": (HIDDEN,)
            for name in ("input_layernorm", "post_attention_layernorm")
        }
        shapes |= {layer + "self_attn.q_proj.weight": (HEADS * DIM, HIDDEN)}
        shapes |= {layer + f"self_attn.{name}_proj.weight": (GROUPS * DIM, HIDDEN) for name in "kv"}
        shapes |= {layer + "self_attn.o_proj.weight": (HIDDEN, HEADS * DIM)}
        shapes |= {layer + f"mlp.{name}_proj.weight": (40, HIDDEN) for name in ("gate", "up")}
        shapes |= {layer + "mlp.down_proj.weight": (HIDDEN, 40)}
    tensors = {
        name: torch.randn(shape, dtype=torch.float64) * 0.35 for name, shape in shapes.items()
    }
    save_file(tensors, folder / "model.safetensors")
    lora = {}
    for i in range(LAYERS):
        name = f"base_model.model.encoder.layers.{i}.self_attn.o_proj"
        lora[f"{name}.lora_A.weight"] = torch.randn(RANK, HEADS * DIM) * 0.4
        lora[f"{name}.lora_B.weight"] = torch.randn(HIDDEN, RANK) * 0.4
    (folder / LORA_FOLDER).mkdir(exist_ok=True)
    save_file(lora, folder / LORA_FOLDER / "adapter_model.safetensors")
    adapter = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": ["o_proj"]}
    (folder / LORA_FOLDER / "adapter_config.json").write_text(json.dumps(adapter))
    return tensors | {name: tensor.double() for name, tensor in lora.items()}
