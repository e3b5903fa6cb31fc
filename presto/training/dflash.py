"""Train a DFlash drafter (algorithm.md §5) by distillation from its target.

A block is ``[anchor, mask, …, mask]``; mask j (1-based) stands at anchor + j and learns the
target's distribution of that very token. The context are the target's features of all tokens before
the anchor, computed once per document.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import DynamicCache, Qwen3Config

from presto.models.backbone import Backbone
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.training.blocks import Batch, block_mask
from presto.training.documents import Document
from presto.training.trainer import Recipe, Trainer

FEATURE_BATCH = 16  # documents whose features are computed in one forward


@dataclass(frozen=True)
class DFlashRecipe(Recipe):
    """Blocks are mostly short: few drafts reach deeper, and a short block costs half."""

    steps: int = 3000
    documents: int = 16
    rows: int = 84
    masks: tuple[int, ...] = (5, 5, 7, 15)
    depth_decay: float = 3.0
    warmup: int = 100
    layers: int = 4
    block_size: int = 16
    mask_token_id: int = 0
    features: int = 5  # target layers the drafter reads


def layer_ids(target_layers: int, features: int) -> tuple[int, ...]:
    """Target layers to read: evenly from the second to the third last, as in z-lab's drafters."""
    last = target_layers - 3
    return tuple(round(1 + i * (last - 1) / max(features - 1, 1)) for i in range(features))


def new_drafter(backbone: Backbone, recipe: DFlashRecipe) -> DFlashDrafter:
    """A drafter that starts as the target's last layers, reading the last feature layer.

    The target's input norms are folded into q, k and v (the context is normalised once, for all
    layers); its head norms start at the size that the target's own heads have.
    """
    target = backbone.model.config
    sizes = Qwen3Config(
        vocab_size=target.vocab_size,
        hidden_size=target.hidden_size,
        intermediate_size=target.intermediate_size,
        num_hidden_layers=recipe.layers,
        num_attention_heads=target.num_attention_heads,
        num_key_value_heads=target.num_key_value_heads,
        head_dim=target.hidden_size // target.num_attention_heads,
        max_position_embeddings=target.max_position_embeddings,
        rope_parameters=dict(target.rope_parameters),
        rms_norm_eps=target.rms_norm_eps,
        tie_word_embeddings=True,
        bos_token_id=target.bos_token_id,
        eos_token_id=target.eos_token_id,
    )
    ids = layer_ids(target.num_hidden_layers, recipe.features)
    config = DFlashConfig(
        recipe.block_size, target.num_hidden_layers, recipe.mask_token_id, ids, sizes
    )
    drafter = DFlashDrafter(config).to(backbone.device)
    with torch.no_grad():
        torch.nn.init.normal_(drafter.fc.weight, std=0.01)
        drafter.fc.weight[:, -sizes.hidden_size :] += torch.eye(
            sizes.hidden_size, device=backbone.device
        )
        for ours, theirs in zip(
            drafter.layers, backbone.decoder.layers[-recipe.layers :], strict=True
        ):
            _copy_layer(ours, theirs)
        drafter.norm.weight.copy_(backbone.decoder.norm.weight)
    return drafter


def _copy_layer(ours: Any, theirs: Any) -> None:
    fold = theirs.input_layernorm.weight.float()
    for name in ("q_proj", "k_proj", "v_proj"):
        weight = getattr(theirs.self_attn, name).weight.float() * fold
        getattr(ours.self_attn, name).weight.copy_(weight)
        if name != "v_proj":  # a normalised row x has E|W x|² = |W|²: the head's typical size
            size = weight.pow(2).sum(1).mean().sqrt()
            getattr(ours.self_attn, name[0] + "_norm").weight.fill_(float(size))
    ours.self_attn.o_proj.weight.copy_(theirs.self_attn.o_proj.weight)
    ours.mlp.load_state_dict(theirs.mlp.state_dict())
    ours.post_attention_layernorm.weight.copy_(theirs.post_attention_layernorm.weight)


@dataclass(frozen=True)
class OpenContext:
    """Keys and values of padded documents; ``update`` adds the rows of the blocks drawn in them."""

    keys: torch.Tensor
    values: torch.Tensor

    def update(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)


class Features:
    """The target's features ``[L, layers · H]`` of documents, computed when first asked for and
    kept in memory.
    """

    def __init__(self, backbone: Backbone, layers: tuple[int, ...]) -> None:
        self.backbone, self.layers = backbone, layers
        self.kept: dict[int, torch.Tensor] = {}

    @torch.no_grad()
    def of(self, documents: list[Document]) -> torch.Tensor:
        """``[B, L, layers · H]``, zero behind the end of a document."""
        new = [document for document in documents if id(document) not in self.kept]
        for start in range(0, len(new), FEATURE_BATCH):
            self._compute(new[start : start + FEATURE_BATCH])
        return torch.nn.utils.rnn.pad_sequence(
            [self.kept[id(d)] for d in documents], batch_first=True
        )

    def _compute(self, documents: list[Document]) -> None:
        device = self.backbone.device
        texts = [torch.from_numpy(document.tokens).long() for document in documents]
        tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).to(device)
        places = torch.arange(tokens.shape[1], device=device).expand(len(documents), -1)
        embeds = self.backbone.embeddings(tokens)
        _, features = self.backbone.hidden_and_features(
            embeds, places, None, DynamicCache(), self.layers
        )
        assert features is not None
        for row, document in zip(features, documents, strict=True):
            self.kept[id(document)] = row[: len(document.tokens)].clone()


class DFlashTrainer(Trainer):
    """What learns: all of the drafter, in float32 with products in the target's dtype."""

    ahead = 0

    def __init__(
        self,
        backbone: Backbone,
        documents: list[Document],
        recipe: DFlashRecipe,
        init: Path | None = None,
    ) -> None:
        super().__init__(backbone, documents, recipe)
        self.drafter = (
            (DFlashDrafter.load(init) if init else new_drafter(backbone, recipe))
            .float()
            .to(self.device)
        )
        if not self.drafter.config.is_plain:
            raise ValueError(
                f"{init}: a drafter with windows, causal blocks or scales cannot be trained here"
            )
        self.features = Features(backbone, self.drafter.config.target_layer_ids)
        self.optimise(self.drafter.parameters())

    def hidden(self, batch: Batch, documents: list[Document]) -> torch.Tensor:
        return drafter_states(self.backbone, self.drafter, self.features.of(documents), batch)

    def state(self) -> dict[str, Any]:
        return {"drafter": self.drafter.state_dict()}

    def load_state(self, state: dict[str, Any]) -> None:
        self.drafter.load_state_dict(state["drafter"])


def drafter_states(
    backbone: Backbone, drafter: DFlashDrafter, features: torch.Tensor, batch: Batch
) -> torch.Tensor:
    """Final hidden states ``[B, A, D, H]`` of the mask rows of a batch's blocks, from the target's
    ``features [B, L, layers · H]`` of its texts.
    """
    (texts, blocks, masks), length = batch.known.shape, batch.tokens.shape[1]
    rows, device = masks + 1, batch.tokens.device
    ids = torch.full((texts, blocks, rows), drafter.config.mask_token_id, device=device)
    ids[..., 0] = batch.tokens.gather(1, batch.anchors)
    positions = (batch.anchors[..., None] + torch.arange(rows, device=device)).flatten(1)
    places = torch.arange(length, device=device).expand(texts, -1)
    mask = block_mask(batch.anchors, rows, length)[:, None]
    low = backbone.dtype != torch.float32
    # On the CPU the plain product is the fastest attention with a mask and gradients, see
    # training.adapter.
    plain = (
        [SDPBackend.MATH]
        if device.type == "cpu"
        else [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    )
    with torch.autocast(device.type, backbone.dtype, enabled=low), sdpa_kernel(plain):
        context = [OpenContext(*pair) for pair in drafter.context(features, places)]
        states = drafter(backbone.embeddings(ids.flatten(1)), positions, context, mask)
    hidden: torch.Tensor = states.unflatten(1, (blocks, rows))[:, :, 1:].to(backbone.dtype)
    return hidden
