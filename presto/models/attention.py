"""Attention for models whose query heads share keys and values, without a copy of either.

As soon as there is a mask transformers repeats the keys and values of all positions for every query
head that shares them, in every layer and every pass; a tree's pass has a mask, so that its cost
would grow with the context. Here the queries of the heads that share keys are rows of one head: the
same sums, and the prefix is read where it lies.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

NAME = "presto_shared_keys"
_CHANGES_SCORES = ("position_bias", "softcap", "s_aux")  # what some models hand to their attention


def choose_kernels(device: torch.device) -> None:
    """Leave cuDNN's attention out, for the whole process.

    On Hopper and newer torch prefers it. It plans every new shape anew, and a round brings two;
    with masks it was reported to be slow and to lose gradients (pytorch/pytorch issues 138649 and
    139298).
    """
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)


def kernel_of(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None) -> str:
    """Which of torch's attention kernels runs for such operands: ``flash``, ``efficient`` or
    ``math``, or ``cpu``.
    """
    if query.device.type != "cuda":
        return str(query.device.type)
    cuda = torch.backends.cuda
    asked = cuda.SDPAParams(query, key, key, mask, 0.0, False, False)
    if cuda.can_use_flash_attention(asked):
        return "flash"
    return "efficient" if cuda.can_use_efficient_attention(asked) else "math"


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float | None = None,
) -> torch.Tensor:
    """Output ``[B, heads, rows, size]`` of ``query [B, heads, rows, d]`` over ``key [B, shared,
    columns, d]`` and ``value [B, shared, columns, size]``.

    ``mask [B, 1, rows, columns]`` is one for all heads: True where a row may look, or what is added
    to its scores. Without it all rows see all columns.
    """
    batch, heads, rows, size = query.shape
    groups = heads // key.shape[1]
    folded = query.reshape(batch, -1, groups * rows, size)
    mask = None if mask is None else _folded(mask, groups, query.dtype)
    output = nn.functional.scaled_dot_product_attention(folded, key, value, mask, scale=scale)
    return output.reshape(batch, heads, rows, -1)


def _folded(mask: torch.Tensor, groups: int, dtype: torch.dtype) -> torch.Tensor:
    """What ``mask`` adds to the scores of folded rows ``[B, 1, groups · rows, columns]``.

    Kept with the mask, since all layers of a pass are given the same one.
    """
    known: dict[tuple[int, torch.dtype], torch.Tensor] = mask.__dict__.setdefault("folded", {})
    if (groups, dtype) not in known:
        added = mask
        if mask.dtype == torch.bool:
            added = torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, float("-inf"))
        known[groups, dtype] = added.repeat(1, 1, groups, 1)
    return known[groups, dtype]


def _for_transformers(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **other: Any,
) -> tuple[torch.Tensor, None]:
    """``attend`` as transformers calls it; its own where scores are more than products."""
    plain = attention_mask is not None and attention_mask.shape[1] == 1
    if not plain or any(other.get(name) is not None for name in _CHANGES_SCORES):
        output: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **other
        )
        return output
    return attend(query, key, value, attention_mask, scaling).transpose(1, 2), None


AttentionInterface.register(NAME, _for_transformers)


@contextmanager
def shared_keys(config: Any) -> Iterator[None]:
    """Within the block the model of ``config`` attends by ``attend`` where it would by
    transformers' own SDPA; outside it, its forward and ``generate`` stay its own.
    """
    own = config._attn_implementation
    if own != "sdpa":
        yield
        return
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = own
