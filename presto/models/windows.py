"""Which positions the layers of a model may look back to.

Every layer has a *kind* of attention, named as in transformers' ``config.layer_types``: all earlier
positions, or a window of the last few. A mask per kind goes into every pass, so that a tree is
verified, and a block drafted, under the windows that the model's own forward has.
"""

from collections.abc import Mapping
from typing import Any

import torch

from presto.models.checkpoint import is_whole

FULL, SLIDING = "full_attention", "sliding_attention"
Kinds = Mapping[str, int | None]  # kind → positions a row may look back to, its own included


def attention_kinds(config: Any) -> dict[str, int | None]:
    """The kinds of attention of a model's layers; ``ValueError`` names one that is not known here.

    As transformers reads it: ``layer_types`` names the kind of each layer, and a configuration
    without it has a window in all layers or in none.
    """
    window = getattr(config, "sliding_window", None)
    types = getattr(config, "layer_types", None)
    if types is None:
        chunk = getattr(config, "attention_chunk_size", None)
        locals_ = "local" in (getattr(config, "attention_layers", None) or ())
        types = [
            "chunked_attention" if chunk else "local" if locals_ else SLIDING if window else FULL
        ]
    unknown = sorted(set(types) - {FULL, SLIDING})
    if unknown:
        raise ValueError(
            f"layers of kind {', '.join(unknown)} are not supported: only {FULL} and {SLIDING} are"
        )
    if SLIDING in types and not (is_whole(window) and window > 0):
        raise ValueError(f"sliding_window must be a positive number of positions, got {window!r}")
    return {
        kind: window if kind == SLIDING else None for kind in (FULL, SLIDING) if kind in set(types)
    }


def masks_of(kinds: Kinds, mask: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The mask of every kind, ``[B, K, rows, columns]``, from what all layers may see at most.

    ``mask [B, rows, columns]`` is True where a row may look; the columns end with the rows of the
    pass, at ``positions [B, rows]``, and begin with one column per earlier position.
    """
    if not any(kinds.values()):
        return mask[:, None].expand(-1, len(kinds), -1, -1)
    rows, columns = mask.shape[-2:]
    earlier = torch.arange(columns - rows, device=mask.device).expand(len(mask), -1)
    places = torch.cat([earlier, positions], dim=-1)
    distance = positions[:, :, None] - places[:, None]
    seen = [mask if window is None else mask & (distance < window) for window in kinds.values()]
    return torch.stack(seen, dim=1)


def context_of(config: Any) -> int:
    """The most positions a sequence may have.

    RoPE scalings that depend on the length (dynamic, LongRoPE) rotate all keys anew when a sequence
    outgrows the length the model was first trained for: cached keys stay right up to there.
    """
    context = getattr(config, "max_position_embeddings", None)
    if not is_whole(context) or context < 1:
        raise ValueError(f"max_position_embeddings must be a positive number, got {context!r}")
    rope = getattr(config, "rope_parameters", None) or {}
    scalings = [part for part in rope.values() if isinstance(part, dict)] or [rope]
    first = [
        part.get("original_max_position_embeddings", context)
        for part in scalings
        if part.get("rope_type") in ("dynamic", "longrope")
    ]
    return int(min([context, *first]))
