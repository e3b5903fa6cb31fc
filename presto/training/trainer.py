"""What both drafters' training shares: the distillation loss, the schedule, the curve, checkpoints
that resume.
"""

import json
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import numpy as np
import torch
from torch import nn

from presto.models.backbone import Backbone
from presto.records import shown
from presto.records.writing import alone, replacing
from presto.runs.stopping import Stop
from presto.training.blocks import Batch, draw_batch
from presto.training.documents import Document
from presto.training.head import DistilledHead

logger = logging.getLogger(__name__)
HELD_OUT, HELD_OUT_BLOCKS = 64, 12
# Settings of a recipe that a resumed run may have otherwise: how long it goes on, and how many
# documents a step draws, which follows from how much text there is.
MAY_CHANGE = ("steps", "documents")


@dataclass(frozen=True)
class Recipe:
    """Settings of one training run; a step draws ``rows // masks`` blocks from each of
    ``documents`` texts.
    """

    steps: int
    documents: int
    rows: int  # mask rows per document and step, so that long blocks cost what short ones cost
    masks: tuple[int, ...]  # masks per block, drawn anew each step
    depth_decay: float  # loss weight exp(-(depth - 1) / depth_decay)
    learning_rate: float = 1e-3
    warmup: int = 20
    # the loss normalises over this many most frequent label tokens, not the whole vocabulary
    head_tokens: int = 12288
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate}")
        if self.seed < 0:
            raise ValueError(f"seed must not be negative, got {self.seed}")


class Trainer(ABC):
    """One training run; ``run`` trains, writes checkpoints and the curve, and can be resumed."""

    ahead: int  # mask j predicts the token at anchor + j + ahead

    def __init__(self, backbone: Backbone, documents: list[Document], recipe: Recipe) -> None:
        torch.manual_seed(recipe.seed)
        self.backbone, self.recipe, self.device = backbone, recipe, backbone.device
        usable = [d for d in documents if len(d.label_ids) > 8]
        held = max(1, min(HELD_OUT, len(usable) // 20))
        self.held_out, self.documents = usable[:held], usable[held:]
        if len(self.documents) < recipe.documents:
            raise ValueError(
                f"{len(usable)} documents of more than 8 answer tokens are too few: a step draws "
                f"{recipe.documents}, {held} are held out"
            )
        self.head = DistilledHead(backbone.head.weight, usable, recipe.head_tokens)
        self.step = 0
        self.seconds: float | None = (
            None  # that the schedule spans; without them it spans the recipe's steps
        )
        self.spent = 0.0
        self.curve: list[dict[str, object]] = []

    def optimise(self, parameters: Iterable[nn.Parameter]) -> None:
        """Name what learns."""
        rate = self.recipe.learning_rate
        self.optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.0, betas=(0.9, 0.99))

    @abstractmethod
    def hidden(self, batch: Batch, documents: list[Document]) -> torch.Tensor:
        """Final hidden states of the mask rows ``[B, A, D, H]``, with gradients to what learns."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What learns, for the checkpoint."""

    @abstractmethod
    def load_state(self, state: dict[str, Any]) -> None:
        """Set what ``state`` returned."""

    def loss(self, batch: Batch, documents: list[Document]) -> torch.Tensor:
        """Mean distillation loss of the known rows, weighted by exp(-(depth - 1) / decay)."""
        rows = batch.known.flatten()
        hidden = self.hidden(batch, documents).flatten(0, 2)[rows]
        losses = self.head.loss(
            hidden, batch.label_ids.flatten(0, 2)[rows], batch.label_logprobs.flatten(0, 2)[rows]
        )
        depth = torch.arange(batch.known.shape[-1], device=self.device)
        weight = (
            torch.exp(-depth / self.recipe.depth_decay).expand(batch.known.shape).flatten()[rows]
        )
        return (weight * losses).sum() / weight.sum()

    def train_step(self) -> float:
        """One optimiser step on fresh blocks; returns the loss."""
        recipe = self.recipe
        random = np.random.default_rng((recipe.seed, self.step))
        picked = [
            self.documents[i]
            for i in random.choice(len(self.documents), recipe.documents, replace=False)
        ]
        masks = int(random.choice(recipe.masks))
        batch = draw_batch(picked, recipe.rows // masks, masks, self.ahead, random).to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.learning_rate * self._schedule()
        loss = self.loss(batch, picked)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.optimizer.param_groups[0]["params"], 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return float(loss.detach())

    def _schedule(self) -> float:
        warm = min(1.0, (self.step + 1) / self.recipe.warmup)
        return warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * self.progress)))

    @property
    def progress(self) -> float:
        """How much of the run is over: of its seconds if it has a limit, else of its steps."""
        return min(
            1.0,
            self.step / self.recipe.steps if self.seconds is None else self.spent / self.seconds,
        )

    @torch.no_grad()
    def agreement(self) -> dict[str, Any]:
        """On held-out text: how often the draft's first choice is the target's by depth, and the
        mean run of such.
        """
        masks = max(self.recipe.masks)
        right, seen, runs = torch.zeros(masks), torch.zeros(masks), list[torch.Tensor]()
        for start in range(0, len(self.held_out), 4):
            picked = self.held_out[start : start + 4]
            random = np.random.default_rng(start)
            batch = draw_batch(picked, HELD_OUT_BLOCKS, masks, self.ahead, random).to(self.device)
            hidden = self.hidden(batch, picked).flatten(0, 2)
            guess = (
                nn.functional.linear(hidden, self.backbone.head.weight)
                .argmax(-1)
                .view(batch.known.shape)
            )
            hit = (guess == batch.label_ids[..., 0]) & batch.known
            right += hit.sum((0, 1)).cpu()
            seen += batch.known.sum((0, 1)).cpu()
            runs.append(hit.int().cumprod(-1).sum(-1).float().flatten().cpu())
        shares = [round(float(value), 4) for value in right / seen.clamp_min(1)]
        return {"agreement": shares, "accepted": round(float(torch.cat(runs).mean()), 4)}

    def run(
        self,
        checkpoint: Path,
        stop: Stop,
        save_every: float = 60.0,
        report_every: int = 100,
        seconds: float | None = None,
    ) -> None:
        """Train to the last step, from ``checkpoint`` if it is there; saves every ``save_every``
        seconds and when it is stopped, which ends it with ``StoppedError``.

        With ``seconds`` the clock decides instead: the schedule spans them, those before a
        resumption counted.
        """
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        with alone(checkpoint):
            self.restore(checkpoint)
            self.seconds = seconds
            self._train(checkpoint, stop, save_every, report_every)

    def _train(self, checkpoint: Path, stop: Stop, save_every: float, report_every: int) -> None:
        saved, began, losses = time.monotonic(), time.monotonic(), []
        before = self.spent
        while self.progress < 1:
            losses.append(self.train_step())
            self.spent = before + time.monotonic() - began
            last = self.progress == 1
            if self.step % report_every == 0 or last:
                row = {
                    "step": self.step,
                    "loss": round(float(np.mean(losses)), 4),
                    **self.agreement(),
                }
                self.curve.append({**row, "seconds": round(time.monotonic() - began)})
                logger.info("%s", json.dumps(self.curve[-1]))
                losses = []
            if time.monotonic() - saved > save_every or last or stop.wanted:
                self.save(checkpoint)
                saved = time.monotonic()
            if not last:
                stop.end(f"step {self.step} is in {checkpoint}, the same command goes on from it")

    def save(self, checkpoint: Path) -> None:
        state = {
            **self.state(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "spent": self.spent,
            "curve": self.curve,
            "recipe": asdict(self.recipe),
        }
        with replacing(checkpoint) as temporary:
            torch.save(state, temporary)

    def restore(self, checkpoint: Path) -> None:
        """Set the state of a file written by ``save``, if it is there. ``ValueError`` for another
        file, or one of other settings.
        """
        if not checkpoint.exists():
            return
        try:
            with checkpoint.open("rb") as file:  # what is no archive would be read as a pickle
                if not is_zipfile(file):
                    raise UnpicklingError("it is no archive, or was cut")
            state = torch.load(checkpoint, map_location=self.device, weights_only=True)
            saved = state["recipe"]
        except (RuntimeError, UnpicklingError, EOFError, LookupError, TypeError) as error:
            problem = shown(str(error), 120)
            raise ValueError(f"no training state in {checkpoint}: {problem}") from None
        self._check_recipe(checkpoint, saved)
        self.load_state(state)
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.curve, self.spent = state["step"], state["curve"], state.get("spent", 0.0)

    def _check_recipe(self, checkpoint: Path, saved: dict[str, Any]) -> None:
        """Resumed with other settings, the result would be that of neither."""
        for name, ours in asdict(self.recipe).items():
            theirs = saved.get(name)
            theirs = tuple(theirs) if isinstance(theirs, list) else theirs
            if name not in MAY_CHANGE and theirs != ours:
                raise ValueError(
                    f"{checkpoint} was trained with {name} {theirs}, now it is {ours}: keep it, or "
                    "give another checkpoint file"
                )
