"""From a drafter's logits to recorded marginals."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from presto.decoding.protocols import Draft
from presto.kernels.lookup import continuation
from presto.records import Marginals


def drafted(
    logits: torch.Tensor,
    top_k: int,
    hidden: torch.Tensor | None = None,
    forwards: int = 0,
    exact: torch.Tensor | None = None,
) -> Draft:
    """A drafting step from its ``logits [D, vocab]``: the ``top_k`` likeliest tokens of every
    position, and the row of logits ``exact [vocab]``, if there is one, as it is.

    ``log_q`` is normalised over the whole vocabulary and rounded as stored, so that a replay of the
    record searches exactly the numbers the run searched. All of it leaves the device in one copy:
    float64 holds logits of every dtype and token ids exactly.
    """
    width = min(top_k, logits.shape[-1])
    scores = logits.float()
    top, log_z = torch.topk(scores, width, dim=-1), torch.logsumexp(scores, dim=-1)
    parts = [part.double() for part in (top.values - log_z[:, None], top.indices)]
    log_q, ids = torch.stack(parts).cpu()
    if not bool(log_q.isfinite().all()):
        raise ValueError("the drafter's logits are not finite numbers: its weights are damaged")
    id_rows, log_q_rows = ids.long().tolist(), _recorded(log_q).tolist()
    return Draft(
        Marginals(tuple(map(tuple, id_rows)), tuple(map(tuple, log_q_rows))),
        exact,
        forwards,
        hidden,
        logits,
        log_z,
    )


def with_found(draft: Draft, text: Sequence[int], top_k: int) -> Draft:
    """The draft with what prompt lookup finds behind ``text``, a token per position.

    Where it is none of the ``top_k`` likeliest it takes the place of the last one recorded, with
    the drafter's probability of it. This does not depend on the settings: a record can be replayed
    with any ``lookup``.
    """
    ids, log_q = list(draft.marginals.token_ids), list(draft.marginals.log_q)
    if not ids or len(ids[0]) <= top_k:
        return draft  # nothing was drafted, or every token there is
    found = continuation(text, len(ids))
    missing = [i for i, token in enumerate(found) if token not in ids[i][:top_k]]
    if not missing or draft.logits is None or draft.log_z is None:
        return draft
    tokens = torch.tensor([found[i] for i in missing], device=draft.logits.device)
    scores = draft.logits[missing, tokens].float() - draft.log_z[missing]
    for i, score in zip(missing, _recorded(scores.double().cpu()).tolist(), strict=True):
        ids[i] = (*ids[i][:top_k], found[i])
        log_q[i] = (*log_q[i][:top_k], score)
    return replace(draft, marginals=Marginals(tuple(ids), tuple(log_q)))


def _recorded(log_q: torch.Tensor) -> np.ndarray:
    """Log-probabilities as records store them."""
    rounded: np.ndarray = log_q.numpy().clip(-1e4, 0).round(5)
    return rounded
