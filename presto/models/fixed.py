"""Passes of repeating shapes, which a CUDA graph can record once and replay.

The rows of a pass are padded to a multiple of ``ROWS`` and the keys it looks at to a power of two;
a padding row sees itself alone and no other row sees it, so the true rows are computed as without
padding.
"""

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import torch
from torch.nn.functional import pad

from presto.models.cache import ROWS, TailCache, padded_span
from presto.models.memory import is_out_of_memory, release

logger = logging.getLogger(__name__)
Shapes = Literal[
    "free", "padded", "recorded"
]  # as they come, padded, padded and recorded as CUDA graphs
Tensors = tuple[torch.Tensor, ...]
Forward = Callable[..., Tensors]


def run_fixed(
    forward: Forward, cache: TailCache, inputs: Tensors, shapes: Shapes, key: tuple[object, ...]
) -> Tensors:
    """``forward(embeds, positions, mask, [gate])`` on padded inputs; returns its outputs' true
    rows.

    ``inputs``: ``embeds [1, rows, H]``, ``positions [1, rows]``, ``masks [1, K, rows, committed +
    rows]`` and, if an adapter acts, its ``gate [rows, 1]``. ``key`` tells passes of equal shapes
    apart.
    """
    rows, columns = inputs[2].shape[-2:]
    more = -rows % ROWS
    span = padded_span(columns + more)
    places = torch.arange(columns - rows, columns + more, device=inputs[0].device)
    gate = tuple(pad(gate, (0, 0, 0, more)) for gate in inputs[3:])
    tensors = (
        pad(inputs[0], (0, 0, 0, more)),
        pad(inputs[1], (0, more)),
        _pad_mask(inputs[2], more, span),
        *gate,
    )
    cache.reserve(span)

    def windowed(places: torch.Tensor, *tensors: torch.Tensor) -> Tensors:
        with cache.window(places, span):
            return forward(*tensors)

    if shapes == "recorded":
        key = (*key, *(tuple(tensor.shape) for tensor in tensors))
        outputs = cache.room.recordings.setdefault(key, Recording())(windowed, places, *tensors)
    else:
        outputs = windowed(places, *tensors)
    return tuple(output[:, :rows] for output in outputs)


def _pad_mask(mask: torch.Tensor, more: int, span: int) -> torch.Tensor:
    """``[…, rows + more, span]``: the true rows see what they saw, the others themselves."""
    rows, columns = mask.shape[-2:]
    padded = mask.new_zeros(*mask.shape[:-2], rows + more, span)
    padded[..., :rows, :columns] = mask
    padded[..., rows:, columns : columns + more] = torch.eye(
        more, dtype=torch.bool, device=mask.device
    )
    return padded


@lru_cache(maxsize=1)
def _pool() -> Any:
    """The memory that all recordings share: they are replayed one after the other."""
    return torch.cuda.graph_pool_handle()


def record(function: Forward, inputs: Tensors) -> tuple[Callable[[], None], Tensors]:
    """A CUDA graph of ``function(*inputs)``: what replays it on the same storage, and where its
    outputs appear.
    """
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(
        side
    ):  # libraries choose kernels and take workspaces in a first run, outside of the graph
        function(*inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=_pool()):
        outputs = function(*inputs)
    return graph.replay, outputs


class Recording:
    """One pass of fixed shapes: run as it is the first time, recorded the second time, replayed
    from then on.

    It holds no reference to the pass: the session must go when nobody holds it any more.
    """

    refused = False  # by this device, once is enough

    def __init__(self) -> None:
        self.seen = self.given_up = False
        self.inputs: Tensors = ()
        self.outputs: Tensors = ()
        self.replay: Callable[[], None] | None = None

    def __call__(self, function: Forward, *inputs: torch.Tensor) -> Tensors:
        """The outputs of ``function``; the next call overwrites them."""
        if self.replay is None and (not self.seen or not self._recorded(function, inputs)):
            self.seen = True
            return function(*inputs)
        for ours, given in zip(self.inputs, inputs, strict=True):
            ours.copy_(given)
        assert self.replay is not None
        self.replay()
        return self.outputs

    def _recorded(self, function: Forward, inputs: Tensors) -> bool:
        if Recording.refused or self.given_up:
            return False
        self.inputs = tuple(tensor.clone() for tensor in inputs)
        try:
            self.replay, self.outputs = record(function, self.inputs)
        except RuntimeError as error:
            self.given_up, self.inputs = True, ()
            if is_out_of_memory(error):
                release()  # this pass runs without, others may still fit
                return False
            Recording.refused = True
            logger.warning(
                "CUDA graphs do not work here, passes run without them: %s",
                str(error).split("\n")[0],
            )
            return False
        return True
