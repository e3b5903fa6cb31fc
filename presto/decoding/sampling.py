"""The target's own choice of the next token, with noise keyed by (seed, position).

Gumbel-max (Gumbel 1954): argmax of ``logits / T + g`` with i.i.d. Gumbel ``g`` is a sample from
softmax(logits / T). Keying ``g`` by the absolute position of the emitted token makes the draw a
function of the logits alone, so autoregressive, linear and tree decoding emit the same text for the
same seed at any temperature.
"""

from dataclasses import dataclass

import numpy as np
import torch

from presto.kernels.noise import gumbel
from presto.records import DecodeConfig


def keep_likeliest(logits: np.ndarray, top_k: int, top_p: float) -> np.ndarray:
    """Logits ``[vocab]`` with all but the top-k / nucleus (arXiv 1904.09751) tokens at -inf; at
    least one stays.
    """
    if top_k == 0 and top_p >= 1:
        return logits
    order = np.argsort(-logits, kind="stable")
    kept = len(logits) if top_k == 0 else min(top_k, len(logits))
    if top_p < 1:
        probabilities = np.exp(logits[order[:kept]] - logits[order[0]])
        mass = np.cumsum(probabilities / probabilities.sum())
        kept = min(kept, int(np.searchsorted(mass, top_p)) + 1)
    result = np.full_like(logits, -np.inf)
    result[order[:kept]] = logits[order[:kept]]
    return result


@dataclass(frozen=True)
class Sampler:
    """Draws the token at a position from that position's logits; T = 0 is argmax."""

    temperature: float
    top_k: int
    top_p: float
    seed: int

    @classmethod
    def of(cls, config: DecodeConfig) -> "Sampler":
        return cls(config.temperature, config.sample_top_k, config.top_p, config.seed)

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def pick(self, logits: torch.Tensor, position: int) -> int:
        """Token id for ``position`` given ``logits [vocab]``; of equal logits the lowest id
        wins.
        """
        if self.greedy:
            return int(logits.argmax())
        row = logits.double().cpu().numpy() / self.temperature
        row = keep_likeliest(row, self.top_k, self.top_p)
        return int(np.argmax(row + gumbel(self.seed, position, len(row))))
