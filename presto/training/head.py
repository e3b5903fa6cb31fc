"""The distillation loss over the target's most frequent tokens."""

import numpy as np
import torch
from torch import nn

from presto.training.documents import Document


class DistilledHead:
    """Cross-entropy to the target's top-16 (KL up to a constant) over its most frequent tokens."""

    def __init__(self, head: torch.Tensor, documents: list[Document], tokens: int) -> None:
        counts = np.bincount(
            np.concatenate([d.label_ids.ravel() for d in documents]), minlength=len(head)
        )
        kept = torch.from_numpy(np.argsort(-counts, kind="stable")[:tokens].copy()).to(head.device)
        self.weight = head.detach()[kept].contiguous()
        self.column = torch.full(
            (len(head),), -1, dtype=torch.long, device=head.device
        )  # -1: not among them
        self.column[kept] = torch.arange(len(kept), device=head.device)

    def loss(
        self, hidden: torch.Tensor, label_ids: torch.Tensor, label_logprobs: torch.Tensor
    ) -> torch.Tensor:
        """Loss of every row: ``hidden [rows, H]``, labels ``[rows, 16]`` → ``[rows]``."""
        logits = nn.functional.linear(hidden, self.weight).float()
        columns = self.column[label_ids]
        target = label_logprobs.exp() * (columns >= 0)
        chosen = logits.gather(-1, columns.clamp_min(0)) - torch.logsumexp(logits, -1, keepdim=True)
        return -(target * chosen).sum(-1)
