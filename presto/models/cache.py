"""The K/V cache of one sequence: preallocated, with a tail of rows on trial.

A forward pass appends its rows behind the committed ones. ``keep`` moves the accepted rows to the
front of that tail and forgets the others; nothing is concatenated and the prefix is never copied.
Keys carry RoPE at their true position, so a kept row needs no second rotation.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin


class TailLayer(CacheLayerMixin):
    """One layer's keys and values ``[1, heads, capacity, head_dim]``, the first ``committed``
    positions valid.
    """

    is_compileable = False
    is_sliding = False

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity, self.committed = capacity, 0
        self.window: tuple[torch.Tensor, int] | None = None

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        batch, heads, _, dim = key_states.shape
        self.keys = key_states.new_zeros((batch, heads, self.capacity, dim))
        self.values = value_states.new_zeros((batch, heads, self.capacity, value_states.shape[-1]))
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the rows behind the committed ones; returns views of all rows a query may see."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        if self.window is not None:
            places, span = self.window
            self.keys.index_copy_(2, places, key_states)
            self.values.index_copy_(2, places, value_states)
            return self.keys[:, :, :span], self.values[:, :, :span]
        end = self.committed + key_states.shape[-2]
        if end > self.capacity:
            self.reserve(2 * end)  # a tail larger than foreseen, met once or twice a run
        self.keys[:, :, self.committed : end] = key_states
        self.values[:, :, self.committed : end] = value_states
        return self.keys[:, :, :end], self.values[:, :, :end]

    def reserve(self, rows: int) -> None:
        """Make room for ``rows`` positions."""
        if rows <= self.capacity:
            return
        self.capacity = rows
        if not self.is_initialized:
            return
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = old.new_zeros((*old.shape[:2], self.capacity, old.shape[3]))
            new[:, :, : self.committed] = old[:, :, : self.committed]
            setattr(self, name, new)

    def keep(self, rows: torch.Tensor | None, count: int) -> None:
        """Commit ``count`` rows of the tail: those at ``rows [count]`` of the storage, or the first
        ones.
        """
        if rows is not None:
            target = slice(self.committed, self.committed + count)
            self.keys[:, :, target] = self.keys[:, :, rows]
            self.values[:, :, target] = self.values[:, :, rows]
        self.committed += count

    def get_seq_length(self) -> int:
        return self.committed

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.committed + query_length, 0

    def get_max_length(self) -> int:
        return self.capacity

    def reset(self) -> None:
        self.committed = 0


class TailCache(Cache):
    """All layers of one sequence; ``committed`` is the number of valid positions.

    ``recordings`` are CUDA graphs of passes over this storage (``presto.models.fixed``) and end
    with it.
    """

    def __init__(self, layers: int, capacity: int) -> None:
        super().__init__(layers=[TailLayer(capacity) for _ in range(layers)])
        self.capacity, self.committed = capacity, 0
        self.recordings: dict[tuple[object, ...], Any] = {}

    @property
    def address(self) -> int:
        """Where the storage lies; it moves when it grows."""
        layer = self.layers[0]
        return int(layer.keys.data_ptr()) if layer.is_initialized else 0

    def reserve(self, rows: int) -> None:
        """Make room for ``rows`` positions."""
        for layer in self.layers:
            layer.reserve(rows)

    @contextmanager
    def window(self, places: torch.Tensor, span: int) -> Iterator[None]:
        """Within the block a pass writes its rows to ``places [rows]`` and sees the first ``span``
        positions.

        Neither is a number that changes from round to round: a recorded pass stays right.
        """
        for layer in self.layers:
            layer.window = (places, span)
        try:
            yield
        finally:
            for layer in self.layers:
                layer.window = None

    def keep(self, rows: Sequence[int]) -> torch.Tensor | slice:
        """Commit these rows of the last forward pass (ascending, relative to its first row) and
        drop the rest.

        Returns them as an index into that pass' rows. Unless they are its first ones, they go to
        the device once.
        """
        first = list(rows) == list(range(len(rows)))
        index = slice(len(rows)) if first else torch.tensor(rows, device=self.layers[0].keys.device)
        source = None if isinstance(index, slice) else index + self.committed
        for layer in self.layers:
            layer.keep(source, len(rows))
        self.committed += len(rows)
        return index
