"""Convolutions within a drafted block (DFlash 2).

A row of a block sees the rows before it, before and behind every sublayer:
out[i, c] = Σ_t (base[t, c] + δ[i, t, group of c]) · x[i - t, c], where δ follows from the row
itself and what stands before the block counts nothing. One projection of the sublayer's input gives
δ for both sides.
"""

import torch
from torch import nn


class BlockConvolution(nn.Module):
    """Both convolutions around one sublayer; names of the weights are those of the checkpoints."""

    def __init__(self, hidden: int, taps: int, group: int) -> None:
        super().__init__()
        self.taps, self.group = taps, group
        self.base_kernel = nn.Parameter(torch.zeros(2, taps, hidden))
        self.kernel_projection = nn.Linear(hidden, 2 * taps * (hidden // group), bias=False)

    def changes(self, rows: torch.Tensor) -> torch.Tensor:
        """δ of both sides ``[B, rows, 2, taps, groups]``, from a sublayer's input ``[B, rows,
        H]``.
        """
        projected: torch.Tensor = self.kernel_projection(rows)
        return projected.view(*rows.shape[:2], 2, self.taps, -1)

    def forward(self, rows: torch.Tensor, changes: torch.Tensor, side: int) -> torch.Tensor:
        """``rows [B, rows, H]`` of one block, convolved: side 0 before the sublayer, 1 behind."""
        kernels = self.base_kernel[side] + changes[:, :, side].repeat_interleave(self.group, -1)
        result = kernels[:, :, 0] * rows
        for tap in range(1, min(self.taps, rows.shape[1])):
            result[:, tap:] += kernels[:, tap:, tap] * rows[:, :-tap]
        return result
