"""A transformers causal language model, seen as embeddings → hidden states → logits with our cache
and masks.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import copy
from typing import Any

import torch
from torch import nn

from presto.models.attention import choose_kernels, shared_keys
from presto.models.cache import Room, Rooms, TailCache
from presto.models.device import may_record
from presto.models.fixed import Shapes, Tensors, run_fixed
from presto.models.lora import LowRankAdapter
from presto.models.windows import attention_kinds, context_of, masks_of

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
        self.kinds, self.context = attention_kinds(model.config), context_of(model.config)
        self._finish = _after_decoder(model, self.decoder)
        choose_kernels(self.device)
        self.shapes: Shapes = "recorded" if may_record(self.device) else "free"
        self.rooms = Rooms()
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

    def new_cache(
        self, capacity: int, layers: int | None = None, name: str = "target"
    ) -> TailCache:
        """A cache for a sequence of the target, or of a drafter of so many ``layers``."""
        layers = layers or int(self.model.config.num_hidden_layers)
        if self.shapes == "recorded":
            return self.rooms.cache(name, layers, capacity)
        return TailCache(Room(layers, capacity))

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
        repeats: bool = True,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Final hidden states ``[B, rows, H]``, and the outputs of ``layers`` side by side ``[B,
        rows, layers · H]``.

        ``embeds [B, rows, H]``, ``positions [B, rows]``; ``mask [B, rows, columns]`` is True where
        a row may look at all; layers with a window see less of it. ``repeats``: whether passes of
        such shapes will come again.
        """
        gate = () if adapted is None else (adapted[1],)
        masks = None if mask is None else masks_of(self.kinds, mask, positions)

        def forward(
            embeds: torch.Tensor, positions: torch.Tensor, masks: Any, *gate: torch.Tensor
        ) -> Tensors:
            acting = adapted[0].acting_on(*gate) if adapted else nullcontext()
            with acting, shared_keys(self.decoder.config):
                output = self.decoder(
                    inputs_embeds=embeds,
                    position_ids=positions,
                    attention_mask=None if masks is None else self._attention_masks(masks),
                    output_hidden_states=bool(layers),
                    **{self._cache_argument: cache},
                )
            # hidden_states[0] is the embedding: layer i's output is entry i + 1.
            features = (
                [torch.cat([output.hidden_states[i + 1] for i in layers], dim=-1)] if layers else []
            )
            return (output.last_hidden_state, *features)

        fixed = repeats and self.shapes != "free" and isinstance(cache, TailCache)
        if masks is None or not fixed:
            hidden, *features = forward(embeds, positions, masks, *gate)
        else:
            hidden, *features = run_fixed(
                forward, cache, (embeds, positions, masks, *gate), self.shapes, layers
            )
        return hidden, features[0] if features else None

    def _attention_masks(self, masks: torch.Tensor) -> torch.Tensor | dict[str, torch.Tensor]:
        """What the decoder takes: one mask, or one by name where its layers differ.

        Eager attention adds its mask to the scores, SDPA also takes booleans.
        """
        if self.model.config._attn_implementation == "eager":
            masks = torch.zeros(masks.shape, dtype=self.dtype, device=masks.device).masked_fill(
                ~masks, float("-inf")
            )
        # New views in every pass: what layers keep with a mask ends with the pass.
        by_kind = {kind: masks[:, k : k + 1] for k, kind in enumerate(self.kinds)}
        return by_kind if len(by_kind) > 1 else next(iter(by_kind.values()))

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The model's own output logits ``[rows, vocab]`` of hidden states ``[rows, H]``."""
        logits: torch.Tensor = self._finish(hidden[None])[0]
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
                embeds, positions[None], mask[None], cache, layers, repeats=False
            )
            cache.keep(range(rows))
            if features is not None:
                yield features[0]


def _after_decoder(model: Any, decoder: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    """What ``model`` does to final hidden states ``[B, rows, H]``: its head, and the scaling or
    soft-capping that some models add in their own forward.
    """
    name = next((name for name, child in model.named_children() if child is decoder), None)
    if name is None:
        return model.get_output_embeddings()  # type: ignore[no-any-return]
    rest = copy(model)
    rest._modules = {**model._modules, name: _Given()}
    return lambda hidden: rest(inputs_embeds=hidden).logits


class _Given(nn.Module):
    """Stands where the decoder stood, and hands on the hidden states it is given."""

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> "_Output":
        return _Output(inputs_embeds)


class _Output:
    """A decoder's output with nothing but its hidden states."""

    def __init__(self, hidden: torch.Tensor) -> None:
        self.last_hidden_state = hidden

    def __getattr__(self, name: str) -> None:
        return None

    def __getitem__(self, index: int) -> torch.Tensor:
        return (self.last_hidden_state,)[index]
