"""A target with a DFlash drafter beside it (arXiv 2602.06036), in any of the public layouts:
``presto.models.dflash_network``.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import nn

from presto.decoding.marginals import drafted
from presto.decoding.protocols import Draft
from presto.models.backbone import Backbone
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.fixed import Tensors, run_fixed
from presto.models.markov import pair_scores
from presto.models.target import TargetSession, TargetSystem
from presto.records.bounds import MAX_DEPTH


class DFlashSystem(TargetSystem):
    """A target with a DFlash drafter beside it."""

    mode = "linear"

    def __init__(
        self, name: str, backbone: Backbone, eos_ids: frozenset[int], drafter: DFlashDrafter
    ) -> None:
        super().__init__(name, backbone, eos_ids)
        _check_fits(drafter.config, backbone)
        self.drafter = drafter.to(backbone.device, backbone.dtype).eval().requires_grad_(False)
        self.networks += (self.drafter,)
        block = drafter.config.block_size - (not drafter.config.predicts_next)
        self.max_draft = min(block, MAX_DEPTH)
        self.scores_pairs = drafter.config.scores_pairs

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "DFlashSession":
        return DFlashSession(self, prompt_ids, capacity)


def _check_fits(config: DFlashConfig, backbone: Backbone) -> None:
    """Refuse a drafter of another target, with both numbers."""
    target = backbone.model.config
    layers, hidden = config.num_target_layers, config.sizes.hidden_size
    if layers and layers != target.num_hidden_layers:
        raise ValueError(
            f"the drafter is for {layers} target layers, not {target.num_hidden_layers}"
        )
    if max(config.target_layer_ids) >= target.num_hidden_layers:
        raise ValueError(
            f"the drafter reads target layer {max(config.target_layer_ids)}, the target has "
            f"{target.num_hidden_layers}"
        )
    if hidden != target.hidden_size:
        raise ValueError(
            f"the drafter is for a target of hidden size {hidden}, not {target.hidden_size}"
        )
    if config.own_vocabulary and config.sizes.vocab_size != backbone.vocab:
        raise ValueError(
            f"the drafter is for a target of {config.sizes.vocab_size} tokens, not {backbone.vocab}"
        )
    if config.mask_token_id >= backbone.vocab:
        raise ValueError(
            f"the drafter's mask_token_id is {config.mask_token_id}, the target has "
            f"{backbone.vocab} tokens"
        )


class DFlashSession(TargetSession):
    """One sequence of a DFlash pair: the target's cache and the drafter's context, committed
    together.
    """

    def __init__(self, system: DFlashSystem, prompt_ids: tuple[int, ...], capacity: int) -> None:
        self.drafter = system.drafter
        self.feature_layers = self.drafter.config.target_layer_ids
        room, layers = capacity + system.max_draft + 1, len(self.drafter.layers)
        self.context = system.backbone.new_cache(room, layers, "drafter")
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
        """One drafter pass over the anchor and masks; the context is not extended."""
        drafter, config = self.drafter, self.drafter.config
        skipped = not config.predicts_next  # the anchor's row, which then only tells itself
        rows = max(1, length + skipped)
        ids = torch.tensor(
            [[anchor] + [config.mask_token_id] * (rows - 1)], device=self.backbone.device
        )
        embedding = drafter.embed_tokens if config.own_vocabulary else self.backbone.embeddings
        block = nn.functional.embedding(ids, embedding.weight) * config.input_embedding_scale
        hidden = self._hidden(block, self._positions(rows))[0, skipped : skipped + length]
        logits = drafter.logits(hidden, self.backbone.head)
        width = min(top_k, config.own_vocabulary or top_k)
        draft = drafted(_in_target_ids(logits, drafter), width, hidden)
        if not config.scores_pairs:
            return draft
        return replace(draft, pairs=partial(self._pairs, logits, hidden))

    def _pairs(
        self, logits: torch.Tensor, hidden: torch.Tensor, parents: np.ndarray, tokens: np.ndarray
    ) -> np.ndarray:
        """The drafter's own scores; see ``Draft.pairs``."""
        drafter, device, ids = self.drafter, self.backbone.device, self.drafter.target_ids()
        before, after = (torch.from_numpy(part).to(device) for part in (parents, tokens))
        if ids is not None:
            places = torch.full((self.backbone.vocab,), -1, device=device)
            places[ids] = torch.arange(len(ids), device=device)
            after = places[after]
        with torch.inference_mode():
            if drafter.config.markov_rank:
                scores = pair_scores(drafter.markov_head, logits, hidden, before, after)
            else:
                scores = drafter.candidate_selector.scores(logits, hidden, before, after)
        result: np.ndarray = scores.double().cpu().numpy()
        return result

    def _hidden(self, block: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The drafter's final hidden states ``[1, rows, H]`` of ``block``."""

        def forward(
            block: torch.Tensor, positions: torch.Tensor, masks: torch.Tensor | None = None
        ) -> Tensors:
            return (self.drafter(block, positions, self.context.layers, masks),)

        shapes = self.backbone.shapes
        if shapes == "free" and self.drafter.config.sees_all:
            return forward(block, positions)[0]
        masks = self.drafter.masks(self.context.committed, block.shape[1])
        if shapes == "free":
            return forward(block, positions, masks)[0]
        return run_fixed(forward, self.context, (block, positions, masks), shapes, ())[0]


def _in_target_ids(logits: torch.Tensor, drafter: DFlashDrafter) -> torch.Tensor:
    """Logits ``[rows, vocab]`` over the target's tokens; those that the draft lacks have none."""
    ids = drafter.target_ids()
    if ids is None:
        return logits
    vocab = drafter.config.sizes.vocab_size
    return logits.new_full((len(logits), vocab), -torch.inf).index_copy_(1, ids, logits)
