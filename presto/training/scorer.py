"""Teaching the scorer ``learned``: what n-gram counts are worth, from text the target wrote.

Along each document every draft is laid beside what was really written. A row is one position of a
draft whose earlier positions all held the right token: the features of its K candidates after the
true prefix, and which of them is right. The network is trained to make that one likely.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from presto.kernels.learned import (
    FEATURES,
    HIDDEN,
    LEVEL,
    OF_CONTEXT,
    RATIO,
    ROW,
    level_features,
    row_features,
)
from presto.kernels.ngram import NgramModel
from presto.kernels.problem import PER_NAT
from presto.kernels.smoothing import unigrams
from presto.kernels.table import NgramTable
from presto.training.drafts import Drafts

logger = logging.getLogger(__name__)
HELD_OUT = 10  # every tenth text judges when to stop


@dataclass(frozen=True)
class ScorerRecipe:
    """How the network is trained."""

    steps: int = 1500
    batch: int = 1024
    learning_rate: float = 3e-3
    seed: int = 0
    judged_every: int = 50


class Rows(NamedTuple):
    """What is learned from. N rows, F features, K candidates."""

    inputs: np.ndarray  # [N, F, K] float32
    right: np.ndarray  # [N] rank of the token that was written
    owner: np.ndarray  # [N] number of the text


def rows_of(along: Iterable[Drafts], table: NgramTable | None, vocab: int) -> Rows:
    """All rows of some texts."""
    found = [
        (number, inputs, right)
        for number, drafts in enumerate(along)
        for inputs, right in _rows(drafts, NgramModel(vocab, table))
    ]
    owner, inputs, right = zip(*found, strict=True)
    return Rows(np.stack(inputs), np.array(right), np.array(owner))


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows of several pairs along the same texts: a text keeps its number."""
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


def _rows(drafts: Drafts, ngram: NgramModel) -> Iterator[tuple[np.ndarray, int]]:
    text, seen = drafts.text.tolist(), 0
    for root, levels, units in zip(drafts.roots.tolist(), drafts.ids, drafts.units, strict=True):
        ngram.extend(text[seen : root + 1])
        seen = root + 1
        places = zip(levels, units / PER_NAT, text[root + 1 :], strict=False)
        for depth, (tokens, log_q, written) in enumerate(places):
            (right,) = np.nonzero(tokens == written)
            if not right.size:
                break
            before, last = text[root + depth - 1 : root + depth + 1]
            context = (before, last)
            yield _features(ngram, context, tokens.astype(np.int64), log_q, depth), int(right[0])


def _features(
    ngram: NgramModel, context: tuple[int, int], tokens: np.ndarray, log_q: np.ndarray, depth: int
) -> np.ndarray:
    """``[FEATURES, K]`` of the candidates at ``depth`` (from 0) after ``context``."""
    unigram, out = np.empty(tokens.size), np.empty((len(FEATURES), tokens.size))
    shared = np.empty(len(OF_CONTEXT))
    unigrams(ngram.counts, tokens, unigram)
    level_features(ngram.counts, tokens, log_q, unigram, depth, out[:LEVEL])
    row = out[LEVEL : LEVEL + ROW]
    row_features(ngram.counts, context, tokens, log_q, unigram, row, shared)
    out[LEVEL + ROW :] = shared[:, None]
    return out.astype(np.float32)


class CountNetwork(nn.Module):
    """The network of ``presto.kernels.learned`` on features that are brought to one scale."""

    def __init__(self, inputs: torch.Tensor) -> None:
        """``inputs [N, F, K]`` set the scale."""
        super().__init__()
        self.mean: torch.Tensor
        self.scale: torch.Tensor
        self.register_buffer("mean", inputs.mean((0, 2)))
        self.register_buffer("scale", inputs.std((0, 2)).clamp_min(1e-3))
        self.hidden = nn.Linear(len(FEATURES), HIDDEN)
        self.last = nn.Linear(HIDDEN, 1, bias=False)
        nn.init.zeros_(self.last.weight)  # it begins as the plain ratio

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Scores ``[N, K]`` before they are normalised, from ``[N, F, K]``."""
        values = torch.relu(self.hidden((inputs.transpose(1, 2) - self.mean) / self.scale))
        scores: torch.Tensor = inputs[:, 0] + RATIO * inputs[:, LEVEL] + self.last(values)[..., 0]
        return scores

    def weights(self) -> np.ndarray:
        """``[HIDDEN, FEATURES + 2]`` for features as they come: the scale is folded in."""
        weight = self.hidden.weight / self.scale
        bias = self.hidden.bias - weight @ self.mean
        parts = weight, bias[:, None], self.last.weight.T
        result: np.ndarray = torch.cat(parts, 1).detach().numpy()
        return result


def _schedule(progress: float) -> float:
    """The learning rate falls along a cosine, to a fiftieth."""
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress))


def fit(rows: Rows, recipe: ScorerRecipe) -> tuple[CountNetwork, list[dict[str, float]]]:
    """The network that is best on the texts held out, and the curve of its training."""
    inputs, right = torch.from_numpy(rows.inputs), torch.from_numpy(rows.right)
    held = torch.from_numpy(rows.owner % HELD_OUT == HELD_OUT - 1)
    learned = torch.nonzero(~held)[:, 0]
    torch.manual_seed(recipe.seed)
    model = CountNetwork(inputs[learned])
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    best, curve, kept = float("inf"), list[dict[str, float]](), model.state_dict()
    for step in range(recipe.steps + 1):
        if step % recipe.judged_every == 0:
            with torch.no_grad():
                loss = float(nn.functional.cross_entropy(model(inputs[held]), right[held]))
            curve.append({"step": step, "held_out": round(loss, 5)})
            logger.info("step %d, held-out cross-entropy %.4f", step, loss)
            if loss < best:
                best, kept = loss, {k: v.clone() for k, v in model.state_dict().items()}
        picked = learned[torch.randint(len(learned), (min(recipe.batch, len(learned)),))]
        for group in optimiser.param_groups:
            group["lr"] = recipe.learning_rate * _schedule(step / max(recipe.steps, 1))
        optimiser.zero_grad()
        loss_here = nn.functional.cross_entropy(model(inputs[picked]), right[picked])
        loss_here.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.load_state_dict(kept)
    return model, curve
