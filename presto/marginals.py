"""From a drafter's logits to recorded marginals."""

import torch

from presto.records import Marginals


def marginals_from(logits: torch.Tensor, top_k: int) -> Marginals:
    """The ``top_k`` likeliest tokens of every drafted position, from ``logits [D, vocab]``.

    ``log_q`` is normalised over the whole vocabulary and rounded as stored, so that a replay of the record searches
    exactly the numbers the run searched.
    """
    if len(logits) == 0:
        return Marginals()
    logits = logits.float()
    top = torch.topk(logits, min(top_k, logits.shape[-1]), dim=-1)
    log_q = (top.values - torch.logsumexp(logits, dim=-1, keepdim=True)).double().cpu().numpy()
    rows = log_q.clip(-1e4, 0).round(5).tolist()
    return Marginals(tuple(map(tuple, top.indices.cpu().tolist())), tuple(map(tuple, rows)))
