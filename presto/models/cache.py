"""The K/V cache of one sequence: preallocated, with a tail of rows on trial.

A forward pass appends its rows behind the committed ones. ``keep`` moves the accepted rows to the
front of that tail and forgets the others; nothing is concatenated and the prefix is never copied.
Keys carry RoPE at their true position, so a kept row needs no second rotation.
"""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

ROWS, KEYS = 8, 256  # rows: one tile of a tensor core; keys: so that a run meets few shapes


def padded_span(columns: int) -> int:
    """How many positions a pass of repeating shape looks at instead of ``columns``."""
    return max(KEYS, 1 << max(0, columns - 1).bit_length())


class Stack:
    """Keys and values of layers of equal shapes in one storage ``[layers, 1, heads, capacity,
    head_dim]``, so that keeping rows takes four kernels and not four for every layer.
    """

    def __init__(self, room: int, keys: torch.Tensor, values: torch.Tensor, capacity: int) -> None:
        self.keys, self.values = (
            part.new_zeros((room, *part.shape[:2], capacity, part.shape[3]))
            for part in (keys, values)
        )
        self.used = 0  # layers

    def takes(self, keys: torch.Tensor, values: torch.Tensor) -> bool:
        """Whether a layer of such rows fits."""
        pairs = (self.keys, keys), (self.values, values)
        return self.used < len(self.keys) and all(
            ours.shape[2] == theirs.shape[1] and ours.shape[4] == theirs.shape[3]
            for ours, theirs in pairs
        )

    def grow(self, capacity: int, committed: int) -> None:
        """Move to a larger storage, with the committed positions."""
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = old.new_zeros((*old.shape[:3], capacity, old.shape[4]))
            new[..., :committed, :] = old[..., :committed, :]
            setattr(self, name, new)

    def keep(self, rows: torch.Tensor, first: int) -> None:
        """Move ``rows`` of the storage to ``first`` and behind."""
        for part in (self.keys, self.values):
            part[..., first : first + len(rows), :] = part[..., rows, :]


class Room:
    """The storage of a sequence, of which the first ``committed`` positions are valid.

    ``recordings`` are CUDA graphs of passes over it (``presto.models.fixed``); they serve every
    sequence that comes to lie here, and end when the storage moves.
    """

    def __init__(self, layers: int, capacity: int) -> None:
        self.layers, self.capacity, self.committed = layers, capacity, 0
        self.stacks: list[Stack] = []
        self.windowed: tuple[torch.Tensor, int] | None = None  # see ``TailCache.window``
        self.recordings: dict[tuple[object, ...], Any] = {}

    def clear(self) -> None:
        """Make way for another sequence; the storage stays where it is."""
        self.committed = 0
        for stack in self.stacks:
            stack.used = 0

    def place(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[Stack, int]:
        """Where a layer lies that is about to write such rows for the first time."""
        stack = next((stack for stack in self.stacks if stack.takes(keys, values)), None)
        if stack is None:
            others = sum(stack.used for stack in self.stacks)
            stack = Stack(self.layers - others, keys, values, self.capacity)
            self.stacks.append(stack)
        stack.used += 1
        return stack, stack.used - 1

    def reserve(self, rows: int) -> None:
        """Make room for ``rows`` positions."""
        if rows <= self.capacity:
            return
        self.capacity = rows
        self.recordings.clear()
        for stack in self.stacks:
            stack.grow(rows, self.committed)


class Rooms:
    """Storage that sequences leave to those after them, with what was recorded over it.

    A room holds what padded passes look at, so that few sizes serve all sequences.
    """

    def __init__(self) -> None:
        self._empty: dict[tuple[str, int], list[Room]] = {}

    def cache(self, name: str, layers: int, capacity: int) -> "TailCache":
        """A cache in an empty room, to which the room comes back when nobody holds it any more.
        ``name`` tells networks apart.
        """
        size = padded_span(capacity + ROWS - 1)
        empty = self._empty.setdefault((name, size), [])
        room = empty.pop() if empty else Room(layers, size)
        room.clear()
        cache = TailCache(room)
        weakref.finalize(cache, _take_back, empty, room, size).atexit = False
        return cache


def _take_back(empty: list[Room], room: Room, size: int) -> None:
    if room.capacity == size:  # another has grown, and its recordings are gone
        empty.append(room)


class TailLayer(CacheLayerMixin):
    """One layer's keys and values ``[1, heads, capacity, head_dim]``."""

    is_compileable = False
    is_sliding = False

    def __init__(self, room: Room) -> None:
        self.room, self.is_initialized = room, False

    @property
    def keys(self) -> torch.Tensor:
        return self.stack.keys[self.index]

    @property
    def values(self) -> torch.Tensor:
        return self.stack.values[self.index]

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.stack, self.index = self.room.place(key_states, value_states)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the rows behind the committed ones; returns views of all rows a query may see."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        room = self.room
        start, end = room.committed, room.committed + key_states.shape[-2]
        if room.windowed is None and end > room.capacity:
            room.reserve(2 * end)  # a tail larger than foreseen, met once or twice a run
        keys, values = self.keys, self.values
        if room.windowed is not None:
            places, end = room.windowed
            keys.index_copy_(2, places, key_states)
            values.index_copy_(2, places, value_states)
        else:
            keys[:, :, start:end] = key_states
            values[:, :, start:end] = value_states
        return keys[:, :, :end], values[:, :, :end]

    def get_seq_length(self) -> int:
        return self.room.committed

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.room.committed + query_length, 0

    def get_max_length(self) -> int:
        return self.room.capacity

    def reset(self) -> None:
        self.room.committed = 0


class TailCache(Cache):
    """All layers of one sequence, whose storage is ``room``."""

    def __init__(self, room: Room) -> None:
        self.room = room
        super().__init__(layers=[TailLayer(room) for _ in range(room.layers)])

    @property
    def committed(self) -> int:
        """The number of valid positions."""
        return self.room.committed

    def reserve(self, rows: int) -> None:
        """Make room for ``rows`` positions."""
        self.room.reserve(rows)

    @contextmanager
    def window(self, places: torch.Tensor, span: int) -> Iterator[None]:
        """Within the block a pass writes its rows to ``places [rows]`` and sees the first ``span``
        positions.

        Neither is a number that changes from round to round: a recorded pass stays right.
        """
        self.room.windowed = places, span
        try:
            yield
        finally:
            self.room.windowed = None

    def keep(self, rows: Sequence[int]) -> torch.Tensor | slice:
        """Commit these rows of the last forward pass (ascending, relative to its first row) and
        drop the rest.

        Returns them as an index into that pass' rows. Unless they are its first ones, they go to
        the device once.
        """
        start, stacks = self.room.committed, self.room.stacks
        self.room.committed += len(rows)
        if list(rows) == list(range(len(rows))):
            return slice(len(rows))
        index = torch.tensor(rows, device=stacks[0].keys.device)
        for stack in stacks:
            stack.keep(index + start, start)
        return index
