"""A self-generated text with its labels. Importing this module loads no torch."""

from dataclasses import dataclass

import numpy as np

LABEL_WIDTH = 16  # top log-probabilities kept per position


@dataclass(frozen=True)
class Document:
    """``tokens [L]``, where the answer starts, and the label of every answer token ``[L - start,
    16]``.
    """

    tokens: np.ndarray
    answer_start: int
    label_ids: np.ndarray
    label_logprobs: np.ndarray
