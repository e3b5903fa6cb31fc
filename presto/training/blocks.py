"""Draft blocks cut out of self-generated documents: the batches both drafters learn from."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch

from presto.training.documents import Document


@dataclass(frozen=True)
class Batch:
    """Padded documents and the blocks drawn in them; B documents, A blocks, D masks."""

    tokens: torch.Tensor  # [B, L]
    anchors: torch.Tensor  # [B, A] position of each block's anchor
    label_ids: torch.Tensor  # [B, A, D, 16]
    label_logprobs: torch.Tensor  # [B, A, D, 16]
    known: torch.Tensor  # [B, A, D] false past the end of the document

    def to(self, device: torch.device) -> Self:
        return type(self)(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


def draw_batch(
    documents: list[Document], blocks: int, masks: int, ahead: int, random: np.random.Generator
) -> Batch:
    """Blocks at random anchors, from the last prompt token (which predicts the first answer token)
    on.

    Mask j (1-based) of a block predicts the token at anchor + j + ``ahead``.
    """
    length = max(len(d.tokens) for d in documents)
    tokens = np.zeros((len(documents), length), np.int64)
    anchors = np.zeros((len(documents), blocks), np.int64)
    labels = np.zeros((len(documents), blocks, masks), np.int64)
    known = np.zeros((len(documents), blocks, masks), bool)
    ids, logprobs = [], []
    for b, document in enumerate(documents):
        tokens[b, : len(document.tokens)] = document.tokens
        answer = len(document.label_ids)
        starts = random.choice(answer - ahead, blocks, replace=answer - ahead < blocks)
        anchors[b] = document.answer_start - 1 + starts
        wanted = starts[:, None] + ahead + np.arange(masks)
        known[b] = wanted < answer
        labels[b] = np.minimum(wanted, answer - 1)
        ids.append(document.label_ids[labels[b]])
        logprobs.append(document.label_logprobs[labels[b]])
    return Batch(
        torch.from_numpy(tokens),
        torch.from_numpy(anchors),
        torch.from_numpy(np.stack(ids)).long(),
        torch.from_numpy(np.stack(logprobs)).float(),
        torch.from_numpy(known),
    )


def block_mask(ends: torch.Tensor, rows: int, length: int) -> torch.Tensor:
    """``[B, A·rows, L + A·rows]``: a row sees the text before its block's end ``[B, A]``, and its
    own block.
    """
    blocks = ends.shape[1]
    clean = (
        torch.arange(length, device=ends.device) < ends.repeat_interleave(rows, dim=1)[..., None]
    )
    block = torch.arange(blocks, device=ends.device).repeat_interleave(rows)
    own = (block[:, None] == block[None]).expand(len(ends), -1, -1)
    return torch.cat([clean, own], dim=-1)
