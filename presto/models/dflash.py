"""DFlash drafters (arXiv 2602.06036) in z-lab's public checkpoint layout.

The drafter reads the target's hidden states of a few layers (*features*) for all committed tokens
before the anchor, and a block ``[anchor, mask, …, mask]`` embedded by the target. In every layer
keys and values come from features and block alike, without a mask; row j of the block predicts
position start + j. Embedding and head are the target's.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3MLP,
    Qwen3RMSNorm,
    Qwen3RotaryEmbedding,
    apply_rotary_pos_emb,
)

from presto.decoding.marginals import marginals_from
from presto.decoding.protocols import Draft
from presto.models.backbone import Backbone
from presto.models.cache import TailCache
from presto.models.fixed import Tensors, run_fixed
from presto.models.target import TargetSession, TargetSystem

CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"
ARCHITECTURE = "DFlashDraftModel"


@dataclass(frozen=True)
class DFlashConfig:
    """What a drafter's ``config.json`` adds to the usual Qwen3 sizes (kept in ``sizes``)."""

    block_size: int
    num_target_layers: int
    mask_token_id: int
    target_layer_ids: tuple[int, ...]
    sizes: Qwen3Config

    @classmethod
    def read(cls, folder: Path) -> "DFlashConfig":
        """Parse ``config.json``; ``ValueError`` names what is missing."""
        raw = json.loads((folder / CONFIG_FILE).read_text())
        try:
            extra = raw["dflash_config"]
            return cls(
                int(raw["block_size"]),
                int(raw["num_target_layers"]),
                int(extra["mask_token_id"]),
                tuple(extra["target_layer_ids"]),
                Qwen3Config(
                    **{
                        key: value
                        for key, value in raw.items()
                        if key not in ("architectures", "model_type")
                    }
                ),
            )
        except KeyError as error:
            raise ValueError(
                f"{folder / CONFIG_FILE} is no DFlash configuration: {error} is missing"
            ) from None

    def write(self, folder: Path) -> None:
        """Write ``config.json`` as z-lab's drafters have it."""
        raw = self.sizes.to_diff_dict() | {
            "architectures": [ARCHITECTURE],
            "model_type": "qwen3",
            "block_size": self.block_size,
            "num_target_layers": self.num_target_layers,
            "dflash_config": {
                "mask_token_id": self.mask_token_id,
                "target_layer_ids": list(self.target_layer_ids),
            },
        }
        (folder / CONFIG_FILE).write_text(json.dumps(raw, indent=2) + "\n")


class DFlashAttention(nn.Module):
    """Attention of block rows over cached context and block; no mask, q and k normalised per
    head.
    """

    def __init__(self, config: Qwen3Config) -> None:
        super().__init__()
        hidden, dim = config.hidden_size, config.head_dim
        heads, groups = config.num_attention_heads, config.num_key_value_heads
        self.dim = dim
        self.q_proj = nn.Linear(hidden, heads * dim, bias=False)
        self.k_proj = nn.Linear(hidden, groups * dim, bias=False)
        self.v_proj = nn.Linear(hidden, groups * dim, bias=False)
        self.o_proj = nn.Linear(heads * dim, hidden, bias=False)
        self.q_norm = Qwen3RMSNorm(dim, eps=config.rms_norm_eps)
        self.k_norm = Qwen3RMSNorm(dim, eps=config.rms_norm_eps)

    def _heads(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.view(*rows.shape[:-1], -1, self.dim)

    def keys_values(self, rows: torch.Tensor, rotation: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Rotated keys and values ``[B, groups, rows, dim]`` of context features or block rows
        ``[B, rows, H]``.
        """
        keys = self.k_norm(self._heads(self.k_proj(rows))).transpose(1, 2)
        keys, _ = apply_rotary_pos_emb(keys, keys, *rotation)
        return keys, self._heads(self.v_proj(rows)).transpose(1, 2)

    def forward(
        self,
        block: torch.Tensor,
        rotation: Any,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        queries = self.q_norm(self._heads(self.q_proj(block))).transpose(1, 2)
        queries, _ = apply_rotary_pos_emb(queries, queries, *rotation)
        mixed = nn.functional.scaled_dot_product_attention(
            queries, keys, values, mask, enable_gqa=True
        )
        output: torch.Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))
        return output


class ContextLayer(Protocol):
    """Keys and values of the context of one layer, to which a block's rows are added for one
    pass.
    """

    def update(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values the block's rows see, theirs last."""
        ...


class DFlashLayer(nn.Module):
    """One pre-norm layer. The context enters keys and values as it is: it was normalised once,
    before the layers.
    """

    def __init__(self, config: Qwen3Config) -> None:
        super().__init__()
        self.self_attn = DFlashAttention(config)
        self.mlp = Qwen3MLP(config)
        self.input_layernorm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(
        self, block: torch.Tensor, rotation: Any, context: ContextLayer, mask: torch.Tensor | None
    ) -> torch.Tensor:
        rows = self.input_layernorm(block)
        keys, values = context.update(*self.self_attn.keys_values(rows, rotation))
        block = block + self.self_attn(rows, rotation, keys, values, mask)
        output: torch.Tensor = block + self.mlp(self.post_attention_layernorm(block))
        return output


class DFlashDrafter(nn.Module):
    """The drafter's own weights; names are those of the public checkpoints."""

    def __init__(self, config: DFlashConfig) -> None:
        super().__init__()
        sizes = config.sizes
        self.config = config
        self.fc = nn.Linear(
            len(config.target_layer_ids) * sizes.hidden_size, sizes.hidden_size, bias=False
        )
        self.hidden_norm = Qwen3RMSNorm(sizes.hidden_size, eps=sizes.rms_norm_eps)
        self.layers = nn.ModuleList(DFlashLayer(sizes) for _ in range(sizes.num_hidden_layers))
        self.norm = Qwen3RMSNorm(sizes.hidden_size, eps=sizes.rms_norm_eps)
        self.rotary = Qwen3RotaryEmbedding(sizes)

    def context(
        self, features: torch.Tensor, positions: torch.Tensor
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Every layer's keys and values of committed tokens: features ``[B, rows, layers · H]``,
        ``[B, rows]``.
        """
        rows = self.hidden_norm(self.fc(features))
        rotation = self.rotary(rows, positions)
        return [layer.self_attn.keys_values(rows, rotation) for layer in self.layers]  # type: ignore[union-attr,operator]

    def forward(
        self,
        block: torch.Tensor,
        positions: torch.Tensor,
        context: Sequence[ContextLayer],
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Final hidden states of block rows ``[B, rows, H]`` at ``positions [B, rows]``; all see
        all without a mask.
        """
        rotation, rows = self.rotary(block, positions), block
        for layer, seen in zip(self.layers, context, strict=True):
            rows = layer(rows, rotation, seen, mask)
        output: torch.Tensor = self.norm(rows)
        return output

    def save(self, folder: Path) -> None:
        """Write a checkpoint that z-lab's own code loads (bfloat16)."""
        folder.mkdir(parents=True, exist_ok=True)
        self.config.write(folder)
        tensors = {
            name: tensor.to("cpu", torch.bfloat16).contiguous()
            for name, tensor in self.state_dict().items()
        }
        save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})

    @classmethod
    def load(cls, folder: Path) -> "DFlashDrafter":
        """Read a checkpoint (one or several safetensors files); missing or unexpected tensors are
        an error.
        """
        drafter = cls(DFlashConfig.read(folder))
        tensors: dict[str, torch.Tensor] = {}
        for path in sorted(folder.glob("*.safetensors")):
            tensors |= load_file(path)
        wanted = drafter.state_dict().keys()
        if wanted != tensors.keys():
            missing, extra = sorted(wanted - tensors.keys()), sorted(tensors.keys() - wanted)
            raise ValueError(f"{folder}: missing {missing[:3]}, unexpected {extra[:3]}")
        drafter.load_state_dict(tensors)
        return drafter


class DFlashSystem(TargetSystem):
    """A target with a DFlash drafter beside it."""

    mode = "linear"

    def __init__(
        self, name: str, backbone: Backbone, eos_ids: frozenset[int], drafter: DFlashDrafter
    ) -> None:
        super().__init__(name, backbone, eos_ids)
        layers = backbone.model.config.num_hidden_layers
        if drafter.config.num_target_layers != layers:
            raise ValueError(
                f"the drafter is for {drafter.config.num_target_layers} target layers, not {layers}"
            )
        self.drafter = drafter.to(backbone.device, backbone.dtype).eval().requires_grad_(False)
        self.max_draft = drafter.config.block_size - 1

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "DFlashSession":
        return DFlashSession(self, prompt_ids, capacity)


class DFlashSession(TargetSession):
    """One sequence of a DFlash pair: the target's cache and the drafter's context, committed
    together.
    """

    def __init__(self, system: DFlashSystem, prompt_ids: tuple[int, ...], capacity: int) -> None:
        self.drafter = system.drafter
        self.feature_layers = self.drafter.config.target_layer_ids
        self.context = TailCache(len(self.drafter.layers), capacity + system.max_draft + 1)
        super().__init__(system.backbone, prompt_ids, capacity)

    def observe(self, features: torch.Tensor) -> None:
        keys_values = self.drafter.context(features[None], self._positions(len(features)))
        for layer, (keys, values) in zip(self.context.layers, keys_values, strict=True):
            layer.update(keys, values)
        self.context.keep(range(len(features)))

    def _positions(self, rows: int) -> torch.Tensor:
        """The positions ``[1, rows]`` behind the context."""
        start = self.context.committed
        return torch.arange(start, start + rows, device=self.backbone.device)[None]

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """One drafter pass over the anchor and ``length`` masks; the context is not extended."""
        ids = torch.tensor(
            [[anchor] + [self.drafter.config.mask_token_id] * length], device=self.backbone.device
        )
        block = self.backbone.embeddings(ids)
        hidden = self._hidden(block, self._positions(length + 1))[0, 1:]
        marginals = marginals_from(self.backbone.logits(hidden), top_k)
        return Draft(marginals, None, forwards=0, hidden=hidden)

    def _hidden(self, block: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The drafter's final hidden states ``[1, rows, H]`` of ``block``."""

        def forward(
            block: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None = None
        ) -> Tensors:
            return (
                self.drafter(
                    block, positions, self.context.layers, mask if mask is None else mask[:, None]
                ),
            )

        shapes, rows = self.backbone.shapes, block.shape[1]
        if shapes == "free":
            return forward(block, positions)[0]
        mask = torch.ones(
            1, rows, self.context.committed + rows, dtype=torch.bool, device=block.device
        )
        return run_fixed(forward, self.context, (block, positions, mask), shapes, ())[0]
