"""Teaching the scorer ``learned``: what n-gram counts are worth, from text the target wrote.

Along each document every draft is laid beside what was really written. A row is one position of a
draft whose earlier positions all held the right token: the features of its K candidates after the
true prefix, and which of them is right. The network is trained to make that one likely.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from presto.kernels.counts import unigrams
from presto.kernels.learned import FEATURES, HIDDEN, RATIO, features
from presto.kernels.ngram import NgramModel, NgramTable
from presto.runs.references import Reference

logger = logging.getLogger(__name__)
HELD_OUT = 10  # every tenth text judges when to stop


@dataclass(frozen=True)
class ScorerRecipe:
    """How the network is trained."""

    steps: int = 700
    batch: int = 1024
    learning_rate: float = 3e-3
    seed: int = 0
    judged_every: int = 50


class Rows(NamedTuple):
    """What is learned from. N rows, F features, K candidates."""

    inputs: np.ndarray  # [N, F, K] float32
    right: np.ndarray  # [N] rank of the token that was written
    owner: np.ndarray  # [N] number of the text


def rows_of(references: Iterable[Reference], table: NgramTable | None, vocab: int) -> Rows:
    """All rows of some texts."""
    found = [
        (number, inputs, right)
        for number, reference in enumerate(references)
        for inputs, right in _rows(reference, NgramModel(vocab, table))
    ]
    owner, inputs, right = zip(*found, strict=True)
    return Rows(np.stack(inputs), np.array(right), np.array(owner))


def _rows(reference: Reference, ngram: NgramModel) -> Iterator[tuple[np.ndarray, int]]:
    text, seen = reference.text, 0
    for number, marginals in enumerate(reference.marginals):
        root = reference.prompt + number - 1 + reference.exact
        ngram.extend(text[seen : root + 1])
        seen = root + 1
        for depth, (ids, log_q) in enumerate(
            zip(marginals.token_ids, marginals.log_q, strict=True)
        ):
            place = root + 1 + depth
            if place >= len(text) or text[place] not in ids:
                break
            context = (text[place - 2], text[place - 1])
            yield _features(ngram, context, ids, log_q, depth), ids.index(text[place])


def _features(
    ngram: NgramModel,
    context: tuple[int, int],
    ids: Sequence[int],
    log_q: Sequence[float],
    depth: int,
) -> np.ndarray:
    tokens = np.array(ids, np.int64)
    unigram, out = np.empty(tokens.size), np.empty((len(FEATURES), tokens.size))
    unigrams(ngram.counts, tokens, unigram)
    features(ngram.counts, context, tokens, np.array(log_q), unigram, depth, out)
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
        widths = (len(FEATURES), *HIDDEN)
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.last = nn.Linear(HIDDEN[-1], 1, bias=False)
        nn.init.zeros_(self.last.weight)  # it begins as the plain ratio

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Scores ``[N, K]`` before they are normalised, from ``[N, F, K]``."""
        values = (inputs.transpose(1, 2) - self.mean) / self.scale
        for layer in self.hidden:
            values = torch.relu(layer(values))
        scores: torch.Tensor = inputs[:, 0] + RATIO * inputs[:, 1] + self.last(values)[..., 0]
        return scores

    def weights(self) -> np.ndarray:
        """The flat weights ``[W]`` for features as they come: the scale is folded in."""
        first, second = self.hidden
        assert isinstance(first, nn.Linear)
        assert isinstance(second, nn.Linear)
        weight = first.weight / self.scale
        parts = [weight.T.flatten(), first.bias - weight @ self.mean]
        parts += [second.weight.T.flatten(), second.bias]
        flat: np.ndarray = torch.cat([*parts, self.last.weight[0]]).detach().numpy()
        return flat


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
        optimiser.zero_grad()
        loss_here = nn.functional.cross_entropy(model(inputs[picked]), right[picked])
        loss_here.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.load_state_dict(kept)
    return model, curve
