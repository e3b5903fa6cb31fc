"""A transformers causal language model, seen as embeddings → hidden states → logits with our cache
and masks.
"""

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import torch

from presto.models.cache import TailCache
from presto.models.device import may_record
from presto.models.fixed import Shapes, Tensors, run_fixed
from presto.models.lora import LowRankAdapter

PREFILL_ROWS = 512
Adapted = tuple[LowRankAdapter, torch.Tensor]  # an adapter and the gate of the rows it acts on


class Backbone:
    """Thin view of ``model``; rows are one sequence's tokens, so tensors carry no batch dimension
    outside.
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval().requires_grad_(False)
        self.decoder = model.get_decoder()
        self.head = model.get_output_embeddings()
        self.embeddings = model.get_input_embeddings()
        self.shapes: Shapes = "recorded" if may_record(self.device) else "free"
        # transformers 5.24 renamed past_key_values; both names must work across the supported
        # range.
        accepted = inspect.signature(self.decoder.forward).parameters
        self._cache_argument = "cache" if "cache" in accepted else "past_key_values"

    @property
    def device(self) -> torch.device:
        device: torch.device = self.embeddings.weight.device
        return device

    @property
    def dtype(self) -> torch.dtype:
        dtype: torch.dtype = self.embeddings.weight.dtype
        return dtype

    @property
    def vocab(self) -> int:
        return int(self.embeddings.weight.shape[0])

    def new_cache(self, capacity: int) -> TailCache:
        return TailCache(self.model.config.num_hidden_layers, capacity)

    def hidden(
        self,
        embeds: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor | None,
        cache: Any,
        adapted: Adapted | None = None,
    ) -> torch.Tensor:
        """Final hidden states ``[B, rows, H]``; see ``hidden_and_features``."""
        return self.hidden_and_features(embeds, positions, mask, cache, (), adapted)[0]

    def hidden_and_features(
        self,
        embeds: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor | None,
        cache: Any,
        layers: tuple[int, ...],
        adapted: Adapted | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Final hidden states ``[B, rows, H]``, and the outputs of ``layers`` side by side ``[B,
        rows, layers · H]``.

        ``embeds [B, rows, H]``, ``positions [B, rows]``; ``mask [B, rows, columns]`` is True where
        a row may look.
        """
        gate = () if adapted is None else (adapted[1],)

        def forward(
            embeds: torch.Tensor, positions: torch.Tensor, mask: Any, *gate: torch.Tensor
        ) -> Tensors:
            with adapted[0].acting_on(*gate) if adapted else nullcontext():
                output = self.decoder(
                    inputs_embeds=embeds,
                    position_ids=positions,
                    attention_mask=None if mask is None else self._attention_mask(mask[:, None]),
                    output_hidden_states=bool(layers),
                    **{self._cache_argument: cache},
                )
            # hidden_states[0] is the embedding: layer i's output is entry i + 1.
            features = (
                [torch.cat([output.hidden_states[i + 1] for i in layers], dim=-1)] if layers else []
            )
            return (output.last_hidden_state, *features)

        if mask is None or self.shapes == "free" or not isinstance(cache, TailCache):
            hidden, *features = forward(embeds, positions, mask, *gate)
        else:
            hidden, *features = run_fixed(
                forward, cache, (embeds, positions, mask, *gate), self.shapes, layers
            )
        return hidden, features[0] if features else None

    def _attention_mask(self, mask: torch.Tensor) -> torch.Tensor:
        """Eager attention adds its mask to the scores, SDPA also takes booleans."""
        if self.model.config._attn_implementation != "eager":
            return mask
        return torch.zeros(mask.shape, dtype=self.dtype, device=mask.device).masked_fill(
            ~mask, float("-inf")
        )

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Output logits ``[rows, vocab]`` of hidden states ``[rows, H]``."""
        logits: torch.Tensor = self.head(hidden)
        return logits

    def prefill(
        self, token_ids: torch.Tensor, cache: TailCache, layers: tuple[int, ...] = ()
    ) -> Iterator[torch.Tensor]:
        """Run ``token_ids [n]`` causally and commit them, slice by slice; yields the features of
        each slice, if any.
        """
        for first in range(0, len(token_ids), PREFILL_ROWS):
            piece = token_ids[first : first + PREFILL_ROWS]
            rows, start = len(piece), cache.committed
            columns = torch.arange(start + rows, device=self.device)
            positions = columns[start:]
            mask = columns[None] <= positions[:, None]
            embeds = self.embeddings(piece)[None]
            _, features = self.hidden_and_features(
                embeds, positions[None], mask[None], cache, layers
            )
            cache.keep(range(rows))
            if features is not None:
                yield features[0]
