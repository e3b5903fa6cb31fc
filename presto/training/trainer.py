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
from typing import Any

import numpy as np
import torch
from torch import nn

from presto.models.backbone import Backbone
from presto.training.blocks import Batch, draw_batch
from presto.training.selfgen import Document

logger = logging.getLogger(__name__)
HELD_OUT, HELD_OUT_BLOCKS = 64, 12


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


class Trainer(ABC):
    """One training run; ``run`` trains, writes checkpoints and the curve, and can be resumed."""

    ahead: int  # mask j predicts the token at anchor + j + ahead

    def __init__(self, backbone: Backbone, documents: list[Document], recipe: Recipe) -> None:
        torch.manual_seed(recipe.seed)
        self.backbone, self.recipe, self.device = backbone, recipe, backbone.device
        usable = [d for d in documents if len(d.label_ids) > 8]
        held = max(1, min(HELD_OUT, len(usable) // 20))
        self.held_out, self.documents = usable[:held], usable[held:]
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
        save_every: float = 240.0,
        report_every: int = 100,
        seconds: float | None = None,
    ) -> None:
        """Train to the last step, from ``checkpoint`` if it is there; saves every ``save_every``
        seconds.

        With ``seconds`` the clock decides instead: the schedule spans them, those before a
        resumption counted.
        """
        self.restore(checkpoint)
        self.seconds = seconds
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
            if time.monotonic() - saved > save_every or last:
                self.save(checkpoint)
                saved = time.monotonic()

    def save(self, checkpoint: Path) -> None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        state = {
            **self.state(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "spent": self.spent,
            "curve": self.curve,
            "recipe": asdict(self.recipe),
        }
        temporary = checkpoint.with_suffix(".tmp")
        torch.save(state, temporary)
        temporary.replace(checkpoint)

    def restore(self, checkpoint: Path) -> None:
        if not checkpoint.exists():
            return
        state = torch.load(checkpoint, map_location=self.device, weights_only=True)
        self.load_state(state)
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.curve, self.spent = state["step"], state["curve"], state.get("spent", 0.0)
