"""What a pair drafts along texts that are there already: what a scorer is taught from.

Blocks at random places of several texts go through the drafter in one pass, as in its training.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from presto.kernels.arrays import read_arrays
from presto.kernels.problem import PER_NAT
from presto.models.backbone import Backbone
from presto.models.catalogue import EMBEDDED, PairSpec
from presto.models.dflash_network import DFlashDrafter
from presto.models.selfspec import load_draft_adapter
from presto.records import DecodeConfig
from presto.records.writing import alone, replacing
from presto.runs.stopping import stoppable
from presto.training.adapter import AdapterTrainer, adapter_states
from presto.training.blocks import Batch, draw_batch
from presto.training.dflash import DFlashTrainer, Features, drafter_states
from presto.training.documents import Document

logger = logging.getLogger(__name__)
AT_ONCE, PLACES = 4, 12  # documents of a pass, blocks drawn in each
SAVE_SECONDS = 60.0  # so much drafting is lost at most when the process is killed


@dataclass(frozen=True)
class Drafts:
    """What was drafted at A places of one text. D positions, K candidates each."""

    text: np.ndarray  # [L]
    roots: np.ndarray  # [A] position of the last token that each draft knew, ascending
    ids: np.ndarray  # [A, D, K] likeliest first
    units: np.ndarray  # [A, D, K] log q in 1e-5 nats


class Drafter(NamedTuple):
    """A pair's drafter on blocks of a batch."""

    states: Callable[[Batch, list[Document]], torch.Tensor]  # hidden [B, A, D, H]
    ahead: int  # mask j drafts the token at anchor + j + ahead


def drafter_of(spec: PairSpec, backbone: Backbone) -> Drafter:
    """The drafter of a pair of the embedded target; ``ValueError`` for any other."""
    if spec.target != EMBEDDED or spec.mode != "linear" or spec.kind not in ("gated", "dflash"):
        raise ValueError(
            f"{spec.name} cannot draft along the embedded target's text: smollm2-gated and "
            "smollm2-dflash can"
        )
    folder = Path(spec.drafter)
    if spec.kind == "gated":
        adapter, mask = load_draft_adapter(backbone.model, folder)
        adapter = adapter.to(backbone.device)
        mask = mask.to(backbone.device)
        return Drafter(
            lambda batch, _: adapter_states(backbone, adapter, mask, batch), AdapterTrainer.ahead
        )
    drafter = DFlashDrafter.load(folder).float().to(backbone.device)
    layers = drafter.config.target_layer_ids
    return Drafter(
        lambda batch, texts: drafter_states(
            backbone, drafter, Features(backbone, layers).of(texts), batch
        ),
        DFlashTrainer.ahead,
    )


@torch.inference_mode()
def draft_at(
    drafter: Drafter, backbone: Backbone, documents: list[Document], random: np.random.Generator
) -> list[Drafts]:
    """Drafts at ``PLACES`` random places of every document's answer, fewer where it is short."""
    config, ahead = DecodeConfig(), drafter.ahead
    batch = draw_batch(documents, PLACES, config.draft_length, ahead, random).to(backbone.device)
    states = drafter.states(batch, documents)
    logits = backbone.logits(states.flatten(0, 2)).float()
    top = torch.topk(logits, min(config.top_k, logits.shape[-1]))
    log_q = top.values - torch.logsumexp(logits, -1, keepdim=True)
    shape = (*batch.known.shape, top.values.shape[-1])
    units = (log_q * PER_NAT).round().int().cpu().numpy().reshape(shape)
    ids = top.indices.int().cpu().numpy().reshape(shape)
    result = []
    for number, document in enumerate(documents):
        anchors, first = np.unique(batch.anchors[number].cpu().numpy(), return_index=True)
        result.append(
            Drafts(document.tokens, anchors + ahead, ids[number, first], units[number, first])
        )
    return result


def drafts_along(
    spec: PairSpec, backbone: Backbone, documents: list[Document], path: Path, count: int
) -> list[Drafts]:
    """Drafts at ``count`` places of the documents or more, kept in ``path``; a file that is there
    is gone on with. ``ValueError`` if it was drafted along other documents.
    """
    done = load_drafts(path) if path.exists() else []
    told = zip(done, documents, strict=False)
    if not all(np.array_equal(drafts.text, document.tokens) for drafts, document in told):
        raise ValueError(f"{path} was drafted along other documents: give another file")
    drafter, seen, saved = drafter_of(spec, backbone), _places(done), time.monotonic()
    with alone(path), stoppable() as stop:
        while len(done) < len(documents) and seen < count and not stop.wanted:
            here = documents[len(done) : len(done) + AT_ONCE]
            done += draft_at(drafter, backbone, here, np.random.default_rng(len(done)))
            seen = _places(done)
            if time.monotonic() - saved > SAVE_SECONDS:
                save_drafts(done, path)
                logger.info("%s: drafted at %d of %d places", spec.name, seen, count)
                saved = time.monotonic()
        save_drafts(done, path)
        stop.end(f"{path} holds drafts at {seen} places, the same command goes on from them")
    return done


def _places(done: Sequence[Drafts]) -> int:
    return sum(len(drafts.roots) for drafts in done)


def save_drafts(done: Sequence[Drafts], path: Path) -> None:
    """Write drafts as one ``.npz``, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            sizes=np.array([[len(drafts.text), len(drafts.roots)] for drafts in done]),
            text=np.concatenate([drafts.text for drafts in done]),
            roots=np.concatenate([drafts.roots for drafts in done]),
            ids=np.concatenate([drafts.ids for drafts in done]),
            units=np.concatenate([drafts.units for drafts in done]),
        )


def load_drafts(path: Path) -> list[Drafts]:
    """Read what ``save_drafts`` wrote; ``ValueError`` says what is wrong with the file."""
    try:
        arrays = read_arrays(path)
        texts, places = np.cumsum(arrays["sizes"], axis=0)[:-1].T
        parts = [
            np.split(arrays["text"], texts),
            *(np.split(arrays[name], places) for name in ("roots", "ids", "units")),
        ]
        return [Drafts(*part) for part in zip(*parts, strict=True)]
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"damaged drafts {path}: {error}; delete the file") from None
