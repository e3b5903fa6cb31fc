"""From a drafter's logits to recorded marginals."""

import torch

from presto.records import Marginals


def marginals_from(logits: torch.Tensor, top_k: int) -> Marginals:
    """The ``top_k`` likeliest tokens of every drafted position, from ``logits [D, vocab]``."""
    return read_draft(logits, top_k, logits.new_empty(0))[0]


def read_draft(
    logits: torch.Tensor, top_k: int, exact: torch.Tensor
) -> tuple[Marginals, torch.Tensor]:
    """Marginals from ``logits [D, vocab]``, and ``exact`` (any row of logits) on the host.

    ``log_q`` is normalised over the whole vocabulary and rounded as stored, so that a replay of the
    record searches exactly the numbers the run searched. All of it leaves the device in one copy:
    float64 holds logits of every dtype and token ids exactly.
    """
    depth, width = len(logits), min(top_k, logits.shape[-1])
    logits = logits.float()
    top = torch.topk(logits, width, dim=-1)
    log_q = top.values - torch.logsumexp(logits, dim=-1, keepdim=True)
    parts = [part.double().flatten() for part in (log_q, top.indices, exact)]
    host = torch.cat(parts).cpu()
    scores, ids, row = torch.split(host, [depth * width, depth * width, exact.numel()])
    if not bool(scores.isfinite().all()):
        raise ValueError("the drafter's logits are not finite numbers: its weights are damaged")
    log_q_rows = scores.view(depth, width).numpy().clip(-1e4, 0).round(5).tolist()
    id_rows = ids.view(depth, width).long().tolist()
    return Marginals(tuple(map(tuple, id_rows)), tuple(map(tuple, log_q_rows))), row.to(exact.dtype)
