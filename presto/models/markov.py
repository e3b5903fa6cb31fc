"""A drafter's own score of a token after the one before it.

DSpark's *Markov head* is a low-rank bias on the logits of a position by the token that stands
before it, B = W2·W1[b]; its gated form scales W1[b] by what the drafter knows of the position.
DFlash 2's *candidate selector* has such a bias among the candidates only, ⟨A[b] ⊙ P·h, B[t]⟩. Both
draft one path with it, from left to right; here it is a correction of the tree's nodes, as PRESTO's
n-gram ratio is.
"""

import torch
from torch import nn


class MarkovHead(nn.Module):
    """Names of the weights are those of the public checkpoints."""

    def __init__(self, before: int, after: int, rank: int, hidden: int, gated: bool) -> None:
        super().__init__()
        self.markov_w1 = nn.Embedding(before, rank)
        self.markov_w2 = nn.Linear(rank, after, bias=False)
        self.gate_proj = nn.Linear(hidden + rank, rank) if gated else None

    def bias(self, before: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What is added to the logits of a position, ``[P, after]``, by each of the tokens ``before
        [P]`` that may stand in front of it; ``hidden [H]`` is the drafter's state there.
        """
        known = self.markov_w1(before)
        if self.gate_proj is not None:
            read = torch.cat([hidden.expand(len(before), -1), known], -1)
            known = torch.sigmoid(self.gate_proj(read)) * known
        result: torch.Tensor = self.markov_w2(known)
        return result


class CandidateSelector(nn.Module):
    """Names of the weights are those of the public checkpoints."""

    def __init__(self, vocab: int, rank: int, hidden: int) -> None:
        super().__init__()
        self.predecessor_codebook = nn.Parameter(torch.zeros(vocab, rank))
        self.successor_codebook = nn.Parameter(torch.zeros(vocab, rank))
        self.hidden_projection = nn.Linear(hidden, rank, bias=False)

    def scores(
        self,
        logits: torch.Tensor,
        hidden: torch.Tensor,
        parents: torch.Tensor,
        tokens: torch.Tensor,
    ) -> torch.Tensor:
        """``log p(t | b) / q(t)`` among the candidates, ``[D, P, K]`` in nats; as ``pair_scores``,
        with ``logits [D, vocab]``.
        """
        known = self.predecessor_codebook[parents] * self.hidden_projection(hidden)[:, None]
        bias = (known @ self.successor_codebook[tokens].transpose(1, 2)).float()
        alone = logits.gather(1, tokens).float()[:, None]
        change = torch.logsumexp(alone + bias, -1) - torch.logsumexp(alone, -1)
        result: torch.Tensor = bias - change[..., None]
        return result


def pair_scores(
    head: MarkovHead,
    logits: torch.Tensor,
    hidden: torch.Tensor,
    parents: torch.Tensor,
    tokens: torch.Tensor,
) -> torch.Tensor:
    """``log p(t | b) / q(t)``, ``[D, P, K]`` in nats: what the token b before it makes of a
    candidate t.

    ``logits [D, after]`` and ``hidden [D, H]`` are the drafter's, ``parents [D, P]`` the tokens
    that may stand before each position, ``tokens [D, K]`` its candidates, by the number in the
    head's own vocabulary; -1, a token that is not in it, scores 0.
    """
    result = []
    for row, state, before, after in zip(logits, hidden, parents, tokens, strict=True):
        bias = head.bias(before, state).float()
        change = torch.logsumexp(row.float() + bias, -1) - torch.logsumexp(row.float(), -1)
        scores = bias[:, after.clamp(min=0)] - change[:, None]
        result.append(scores.masked_fill(after < 0, 0.0))
    return torch.stack(result)
