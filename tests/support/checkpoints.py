"""Checkpoint folders of tiny random models, one per architecture, and ways to damage them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CONFIG_MAPPING,
    AutoModelForCausalLM,
    GenerationConfig,
    PreTrainedTokenizerFast,
)

VOCAB, CONTEXT = 48, 256
WORDS = [f"w{i}" for i in range(VOCAB)]
_SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": 0,
}
_ALTERNATING = {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}
# Model type → what it has beside the sizes above: windows, scales, soft caps, experts, sinks.
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "llama": {},
    "qwen2": _ALTERNATING,
    "qwen3": _ALTERNATING,
    "mistral": {"sliding_window": 5},
    "mixtral": {"sliding_window": 5, "num_local_experts": 4},
    "gemma2": {
        "sliding_window": 5,
        "final_logit_softcapping": 3.0,
        "query_pre_attn_scalar": 8,
        "hidden_activation": "gelu_pytorch_tanh",
    },
    "gemma3_text": {
        "sliding_window": 5,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        "query_pre_attn_scalar": 8,
    },
    "phi3": {"sliding_window": 5},
    "gpt_neox": {},
    "olmo2": {},
    "granite": {
        "embedding_multiplier": 3.0,
        "logits_scaling": 4.0,
        "residual_multiplier": 0.5,
        "attention_multiplier": 0.3,
    },
    "cohere2": {
        "sliding_window": 5,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        "logit_scale": 0.25,
    },
    "deepseek_v3": {  # keys and values of different widths
        "head_dim": 8,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 12,
        "num_key_value_heads": 4,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 16,
    },
    "gpt_oss": {
        "sliding_window": 5,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    },
}


def write_model(model_type: str, folder: Path, shard: str = "1GB", **fields: Any) -> None:
    """A random model of this type, sharp enough that its choices vary, with a tokenizer of
    words.
    """
    beside = ARCHITECTURES.get(model_type, {}) | fields
    config = CONFIG_MAPPING[model_type](**_SIZES | beside)
    torch.manual_seed(4)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.05 if model_type.startswith("gemma") else 0.3)
            elif "bias" in name or "sinks" in name:
                parameter.normal_(std=0.1)
    model.generation_config = GenerationConfig(pad_token_id=0)
    model.save_pretrained(folder, max_shard_size=shard)
    write_words(folder)


def write_words(folder: Path) -> None:
    """A tokenizer whose tokens are the words w0, w1, …, and a template that adds nothing."""
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "w0"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="w0")
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    tokenizer.save_pretrained(folder)


def edit_config(folder: Path, **fields: Any) -> None:
    """Set fields of ``config.json``; ``...`` removes one."""
    path = folder / "config.json"
    raw = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({name: value for name, value in raw.items() if value is not ...}))


def edit_tensors(
    path: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]
) -> None:
    """Write a safetensors file again after a change."""
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


def truncate(path: Path, missing: int = 40) -> None:
    """Cut the last bytes off a file."""
    path.write_bytes(path.read_bytes()[:-missing])
