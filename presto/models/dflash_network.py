"""DFlash drafters (arXiv 2602.06036) in z-lab's public checkpoint layout.

The drafter reads the target's hidden states of a few layers (*features*) for all committed tokens
before the anchor, and a block ``[anchor, mask, …, mask]`` embedded by the target. In every layer
keys and values come from features and block alike, and every row sees all of them unless the
configuration says otherwise; row j of the block predicts position start + j, or the one behind it.
Embedding and head are the target's unless the checkpoint has its own.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3MLP,
    Qwen3RMSNorm,
    Qwen3RotaryEmbedding,
    apply_rotary_pos_emb,
)

from presto.models.attention import attend
from presto.models.checkpoint import (
    CONFIG_FILE,
    WEIGHTS,
    check_tensors,
    load_tensors,
    read_tensors,
    refuse_layers,
    sentence,
)
from presto.models.convolution import BlockConvolution
from presto.models.dflash_config import DFlashConfig
from presto.models.drafter_layouts import read_drafter_config
from presto.models.markov import CandidateSelector, MarkovHead


class DFlashAttention(nn.Module):
    """Attention of block rows over cached context and block; q and k normalised per head."""

    def __init__(self, config: Qwen3Config) -> None:
        super().__init__()
        hidden, dim = config.hidden_size, config.head_dim
        heads, groups = config.num_attention_heads, config.num_key_value_heads
        self.dim, bias = dim, config.attention_bias
        self.q_proj = nn.Linear(hidden, heads * dim, bias=bias)
        self.k_proj = nn.Linear(hidden, groups * dim, bias=bias)
        self.v_proj = nn.Linear(hidden, groups * dim, bias=bias)
        self.o_proj = nn.Linear(heads * dim, hidden, bias=bias)
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
        mixed = attend(queries, keys, values, mask)
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

    def __init__(self, config: DFlashConfig) -> None:
        super().__init__()
        sizes, hidden = config.sizes, config.sizes.hidden_size
        self.self_attn = DFlashAttention(sizes)
        self.mlp = Qwen3MLP(sizes)
        self.input_layernorm = Qwen3RMSNorm(hidden, eps=sizes.rms_norm_eps)
        self.post_attention_layernorm = Qwen3RMSNorm(hidden, eps=sizes.rms_norm_eps)
        taps, group = config.conv_taps, config.conv_group
        self.attention_conv = BlockConvolution(hidden, taps, group) if taps else None
        self.mlp_conv = BlockConvolution(hidden, taps, group) if taps else None

    def forward(
        self, block: torch.Tensor, rotation: Any, context: ContextLayer, mask: torch.Tensor | None
    ) -> torch.Tensor:
        def attended(rows: torch.Tensor) -> torch.Tensor:
            keys, values = context.update(*self.self_attn.keys_values(rows, rotation))
            output: torch.Tensor = self.self_attn(rows, rotation, keys, values, mask)
            return output

        rows = self.input_layernorm(block)
        block = block + _convolved(self.attention_conv, rows, attended)
        rows = self.post_attention_layernorm(block)
        return block + _convolved(self.mlp_conv, rows, self.mlp)


def _convolved(
    around: BlockConvolution | None,
    rows: torch.Tensor,
    sublayer: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """What a sublayer makes of ``rows``, with its convolutions before and behind, if it has any."""
    if around is None:
        return sublayer(rows)
    changes = around.changes(rows)
    output: torch.Tensor = around(sublayer(around(rows, changes, 0)), changes, 1)
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
        self.layers = nn.ModuleList(DFlashLayer(config) for _ in range(sizes.num_hidden_layers))
        self.norm = Qwen3RMSNorm(sizes.hidden_size, eps=sizes.rms_norm_eps)
        self.rotary = Qwen3RotaryEmbedding(sizes)
        self._add_own(config)
        names = list(config.kinds)
        self.kind_of_layer = [names.index(kind) for kind in sizes.layer_types]

    def _add_own(self, config: DFlashConfig) -> None:
        """What some layouts have beside the layers: an embedding and a head, a score of pairs."""
        sizes, own = config.sizes, config.own_vocabulary
        if own:
            self.embed_tokens = nn.Embedding(sizes.vocab_size, sizes.hidden_size)
            self.lm_head = nn.Linear(sizes.hidden_size, own, bias=False)
        if own and own != sizes.vocab_size:
            # Token i of the draft's vocabulary is token i + d2t[i] of the target's.
            self.register_buffer("d2t", torch.zeros(own, dtype=torch.long))
        if config.selector_rank:
            self.candidate_selector = CandidateSelector(
                sizes.vocab_size, config.selector_rank, sizes.hidden_size
            )
        if config.markov_rank:
            self.markov_head = MarkovHead(
                sizes.vocab_size,
                own or sizes.vocab_size,
                config.markov_rank,
                sizes.hidden_size,
                config.markov_gated,
            )

    def target_ids(self) -> torch.Tensor | None:
        """The target's ids of the draft's own vocabulary ``[own]``; ``None``: they are the same."""
        shifts = dict(self.named_buffers()).get("d2t")
        return None if shifts is None else shifts + torch.arange(len(shifts), device=shifts.device)

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
        masks: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Final hidden states of block rows ``[B, rows, H]`` at ``positions [B, rows]``.

        ``masks [B, K, rows, columns]``, one for each of the configuration's kinds of attention,
        are True where a row may look; all see all without them.
        """
        rotation, rows = self.rotary(block, positions), block
        for layer, kind, seen in zip(self.layers, self.kind_of_layer, context, strict=True):
            mask = None if masks is None else masks[:, kind : kind + 1]
            rows = layer(rows, rotation, seen, mask)
        output: torch.Tensor = self.norm(rows)
        return output

    def masks(self, committed: int, rows: int) -> torch.Tensor:
        """What a block behind ``committed`` positions may see, ``[1, K, rows, committed + rows]``.

        A window reaches as far forward as back where rows are not blind to later ones.
        """
        device = self.norm.weight.device  # the linear layers' weights may be packed away
        places = torch.arange(committed + rows, device=device)
        ahead = places[None] - places[committed:, None]
        seen = []
        for kind, window in self.config.kinds.items():
            mask = torch.ones_like(ahead, dtype=torch.bool)
            if self.config.is_causal(kind):
                mask &= ahead <= 0
            if window is not None:
                mask &= ahead.abs() < window
            seen.append(mask)
        return torch.stack(seen)[None]

    def logits(self, hidden: torch.Tensor, head: nn.Module) -> torch.Tensor:
        """The draft's logits ``[rows, vocab]`` by its own head, or else by the target's ``head``,
        scaled and soft-capped as the drafter's configuration says.
        """
        own = self.lm_head if self.config.own_vocabulary else head
        logits: torch.Tensor = own(hidden) * self.config.output_multiplier
        cap = self.config.final_logit_softcapping
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def save(self, folder: Path) -> None:
        """Write a checkpoint that z-lab's own code loads (bfloat16)."""
        folder.mkdir(parents=True, exist_ok=True)
        self.config.write(folder)
        tensors = {
            name: tensor.to("cpu", torch.bfloat16).contiguous()
            for name, tensor in self.state_dict().items()
        }
        save_file(tensors, folder / f"{WEIGHTS}.safetensors", metadata={"format": "pt"})

    @classmethod
    def load(cls, folder: Path) -> "DFlashDrafter":
        """Read a checkpoint (one or several safetensors files); ``ValueError`` names the file and
        the field or tensor that is missing, damaged or not expected.
        """
        config = read_drafter_config(folder)
        found = {
            name: info
            for name, info in read_tensors(folder).items()
            if not name.startswith(config.unread or ("\0",))
        }
        refuse_layers(folder / CONFIG_FILE, config.sizes.num_hidden_layers, found)
        try:
            with torch.device("meta"):
                sizes = cls(config).state_dict()
        except Exception as error:  # building a model from any configuration may raise anything
            raise ValueError(f"{folder / CONFIG_FILE}: {sentence(error)}") from error
        wanted = {name: tuple(tensor.shape) for name, tensor in sizes.items()}
        check_tensors(folder, found, wanted, "its configuration", whole=("d2t",))
        drafter = cls(config)  # no larger than the files
        drafter.load_state_dict(load_tensors(found))
        _check_ids(drafter.target_ids(), config.sizes.vocab_size, folder)
        return drafter


def _check_ids(ids: torch.Tensor | None, vocab: int, folder: Path) -> None:
    """Refuse a vocabulary of the draft that names tokens the target lacks, or one twice."""
    if ids is None:
        return
    if int(ids.min()) < 0 or int(ids.max()) >= vocab or len({*ids.tolist()}) < len(ids):
        raise ValueError(f"{folder}: d2t must lead to {len(ids)} different tokens below {vocab}")
