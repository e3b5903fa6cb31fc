"""One small tree at load: what the engine verifies must be what the model's own forward computes.

Architectures differ in more ways than a configuration tells: positions by index, masks built inside
a layer, scaled logits. A few tokens show all of them, if a window is as short as they are few.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from presto.models.backbone import Backbone
from presto.models.checkpoint import sentence
from presto.models.memory import is_out_of_memory
from presto.models.target import TargetSession
from presto.models.windows import SLIDING, attention_kinds
from presto.records import NO_PARENT, ROOT, Tree

WINDOW = 3  # positions, in place of the model's own window: the check reaches far beyond it
PROMPT, AFTER = range(6), 30  # numbers of words: see ``_ids``
# Two branches of two nodes, the first and the last children of the root. The others keep the second
# far from the root in index, not in depth. It is then committed.
OTHERS = 18
WORDS = range(6, 6 + OTHERS + 5)
PARENTS = (NO_PARENT, *(ROOT,) * (OTHERS + 2), 1, OTHERS + 2)
BRANCHES = ((ROOT, 1, OTHERS + 3), (ROOT, OTHERS + 2, OTHERS + 4))
# Largest root mean square of the difference, in standard deviations of the model's own logits:
# rounding stays below (SmolLM2-135M: 2e-5, and 0.12 in bfloat16), wrong masks and positions do not.
TOLERANCE = {torch.float64: 1e-7, torch.float32: 2e-3}
LOW_PRECISION = 0.3


def checked(model: Any, device: torch.device, name: str) -> Backbone:
    """``model`` on ``device``, if the engine decodes it as it is where it lies; see
    ``check_own_logits``.
    """
    backbone = Backbone(model)
    check_own_logits(backbone, name)
    backbone.model.to(device)
    return backbone


def check_own_logits(backbone: Backbone, name: str) -> None:
    """Refuse a model whose own logits the engine does not reproduce.

    ``ValueError`` in one sentence that begins with ``name``. Costs four passes of a few tokens.
    """
    kind = f"{name}: model type {backbone.model.config.model_type}"
    try:
        with torch.inference_mode(), short_window(backbone):
            ours, own = _verified(backbone), _own(backbone)
    except Exception as error:  # a model of a kind that nobody foresaw may raise anything
        if is_out_of_memory(error):
            raise
        raise ValueError(
            f"{kind} cannot verify a tree: {type(error).__name__}: {sentence(error)}"
        ) from error
    if own.shape != ours.shape or own.shape[-1] > backbone.vocab:
        raise ValueError(
            f"{kind} has {own.shape[-1]} output logits for {backbone.vocab} embedded tokens"
        )
    if not bool(own.isfinite().all()):
        raise ValueError(f"{kind}: its own logits are not finite numbers")
    difference = float(((ours - own).pow(2).mean(-1).sqrt() / own.std(-1)).max())
    if not difference <= TOLERANCE.get(backbone.dtype, LOW_PRECISION):
        raise ValueError(
            f"{kind} is not supported: logits verified in a tree differ from those of its own "
            f"forward by {difference:.2g} standard deviations"
        )


@contextmanager
def short_window(backbone: Backbone) -> Iterator[None]:
    """Within the block the layers that have a window have one of ``WINDOW`` positions."""
    config = backbone.model.config
    if SLIDING not in backbone.kinds:
        yield
        return
    own = config.sliding_window
    config.sliding_window = WINDOW
    backbone.kinds = attention_kinds(config)
    try:
        yield
    finally:
        config.sliding_window = own
        backbone.kinds = attention_kinds(config)


def _verified(backbone: Backbone) -> torch.Tensor:
    """The engine's logits of the nodes, branch by branch, then of a token behind the second."""
    tokens, zeros = _ids(WORDS, backbone), (0.0,) * len(WORDS)
    tree = Tree(tokens, PARENTS, (0,) * len(WORDS), zeros, zeros, zeros, zeros)
    session = TargetSession(backbone, (*_ids(PROMPT, backbone), tokens[ROOT]), capacity=64)
    logits = session.verify(session.plan(tree))
    session.commit(BRANCHES[1][1:])
    after = session.verify(session.plan(Tree(_ids((AFTER,), backbone))))
    return torch.cat([*(logits[list(branch)] for branch in BRANCHES), after]).double()


def _own(backbone: Backbone) -> torch.Tensor:
    """The same logits by the model itself, each branch a sequence in one plain forward."""
    texts = [(*PROMPT, *(WORDS[node] for node in branch), AFTER) for branch in BRANCHES]
    ids = torch.tensor([_ids(text, backbone) for text in texts], device=backbone.device)
    first, second = backbone.model(ids, use_cache=False).logits[:, len(PROMPT) :]
    return torch.cat([first[:-1], second]).double()


def _ids(words: Iterable[int], backbone: Backbone) -> tuple[int, ...]:
    """Tokens from the middle of the vocabulary: the first and last ones may never have been
    trained, and rounding decides what a model makes of them.
    """
    return tuple((backbone.vocab // 3 + 37 * word) % backbone.vocab for word in words)
