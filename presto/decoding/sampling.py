"""The target's own choice of the next token, with noise keyed by (seed, position).

Gumbel-max (Gumbel 1954): argmax of ``logits / T + g`` with i.i.d. Gumbel ``g`` is a sample from
softmax(logits / T). Keying ``g`` by the absolute position of the emitted token makes the draw a
function of the logits alone, so autoregressive, linear and tree decoding emit the same text for the
same seed at any temperature.
"""

from dataclasses import dataclass

import torch

from presto.kernels.noise import BITS, random_bits
from presto.records import DecodeConfig

ROWS = 64  # of logits that are worked on at once: nothing else of a round takes as much room


def wide(logits: torch.Tensor) -> torch.Tensor:
    """In a type that can be added up, and that a CPU compares fast: float32 at least."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def keep_likeliest(scores: torch.Tensor, top_k: int, top_p: float) -> torch.Tensor:
    """Scores ``[R, vocab]`` with all but each row's top-k / nucleus (arXiv 1904.09751) tokens at
    -inf; at least one stays. Of equal scores the lower id counts as the likelier.
    """
    vocab = scores.shape[-1]
    most = min(top_k or vocab, vocab)
    if most == vocab and top_p >= 1:
        return scores
    ordered = torch.topk(scores, most).values
    last = torch.full_like(scores[:, :1], most - 1, dtype=torch.long)
    if top_p < 1:
        mass = torch.softmax(ordered, -1).cumsum(-1)
        last = (mass[:, :-1] < top_p).sum(-1, keepdim=True)
    least = ordered.gather(-1, last)
    above, equal = scores > least, scores == least
    room = last + 1 - above.sum(-1, keepdim=True)
    return scores.masked_fill(~(above | equal & (equal.cumsum(-1) <= room)), -torch.inf)


def gumbel(seed: int, positions: torch.Tensor, size: int) -> torch.Tensor:
    """``presto.kernels.noise.gumbel`` of stream 0, on the device of ``positions [R]``."""
    bits = random_bits(seed, positions, torch.arange(size, device=positions.device))
    return -torch.log(-torch.log((bits.double() + 0.5) * 2.0**-BITS))


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

    def pick(self, logits: torch.Tensor, position: int) -> torch.Tensor:
        """Token id ``[1]`` for ``position`` given ``logits [vocab]``; of equal logits the lowest id
        wins.
        """
        return self.draw(logits[None], position, logits.new_zeros(1, dtype=torch.long), 1)

    def draw(
        self, logits: torch.Tensor, position: int, levels: torch.Tensor, depth: int
    ) -> torch.Tensor:
        """Token ids ``[R]`` for the places ``position + levels [R]`` given ``logits [R, vocab]``;
        all levels are below ``depth``. Nothing leaves the device.
        """
        if self.greedy:
            return torch.cat([wide(part).argmax(-1) for part in torch.split(logits, ROWS)])
        places = torch.arange(position, position + depth, device=logits.device)
        noise = gumbel(self.seed, places, logits.shape[-1])
        rows = zip(torch.split(logits, ROWS), torch.split(levels, ROWS), strict=True)
        return torch.cat([(self._scores(part) + noise[level]).argmax(-1) for part, level in rows])

    def _scores(self, logits: torch.Tensor) -> torch.Tensor:
        return keep_likeliest(logits.double() / self.temperature, self.top_k, self.top_p)
