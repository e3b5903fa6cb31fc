"""Linear layers whose weights lie as oneDNN multiplies them.

For bfloat16 on the CPU ``nn.Linear`` hands oneDNN its weights row by row, and oneDNN reorders all
of them again in every call; for the few rows of a draft or a tree that takes as long as the
product. Here it happens once, at load, as torch's own compiler does it.
"""

from typing import Any

import torch
from torch import nn

_OPS: Any = torch.ops.mkldnn  # what Inductor calls; there is no public name


def packs(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether linear layers of this kind gain from it, and torch has the operators."""
    there = hasattr(_OPS, "_reorder_linear_weight") and hasattr(_OPS, "_linear_pointwise")
    return device.type == "cpu" and dtype == torch.bfloat16 and there and _multiplies_bfloat16()


def _multiplies_bfloat16() -> bool:
    return bool(_OPS._is_mkldnn_bf16_supported())


def pack_linears(module: nn.Module) -> None:
    """Pack the weights of every linear layer in ``module``, which can from then on be computed with
    only: ``weight`` keeps its shape and no numbers. Hooks stay; an embedding tied to one does too.
    """
    for layer in module.modules():
        if type(layer) is nn.Linear and packs(layer.weight.device, layer.weight.dtype):
            layer.forward = _Product(layer)  # type: ignore[method-assign, assignment]
            layer.weight = nn.Parameter(layer.weight.to("meta"), requires_grad=False)


class _Product:
    """``x [..., in] → [..., out]`` of one layer."""

    def __init__(self, layer: nn.Linear) -> None:
        self.weight = _OPS._reorder_linear_weight(layer.weight.detach(), None)
        self.bias = layer.bias

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = _OPS._linear_pointwise(rows, self.weight, self.bias, "none", [], "")
        return output
