"""The cache of keys and values: what a pass may see, what is kept of its rows, and room to grow."""

import gc
import weakref

import pytest
import torch

from presto.models.cache import KEYS, Room, Rooms, TailCache

HEADS, DIM = 2, 3


def rows(*values: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values of rows that can be told apart; the values are a dimension wider."""
    column = torch.tensor(values, dtype=torch.float32)[None, None, :, None]
    return column.expand(1, HEADS, -1, DIM), -column.expand(1, HEADS, -1, DIM + 1)


def seen(pair: tuple[torch.Tensor, torch.Tensor]) -> list[int]:
    """The rows that a pass got to see, the same in keys and values."""
    keys, values = pair
    assert keys.shape == (1, HEADS, keys.shape[2], DIM)
    assert values.shape == (1, HEADS, keys.shape[2], DIM + 1)
    (column,) = {tuple(head.tolist()) for head in keys[0].permute(0, 2, 1).flatten(0, 1)}
    (other,) = {tuple((-head).tolist()) for head in values[0].permute(0, 2, 1).flatten(0, 1)}
    assert column == other
    return [int(value) for value in column]


def passed(cache: TailCache, *values: int) -> list[int]:
    """One pass over all layers; what each of them saw."""
    (column,) = {tuple(seen(layer.update(*rows(*values)))) for layer in cache.layers}
    return list(column)


def address(cache: TailCache) -> int:
    """Where the storage lies."""
    return cache.room.stacks[0].keys.data_ptr() if cache.room.stacks else 0


def test_rows_stand_behind_the_committed_ones_until_some_are_kept() -> None:
    cache = TailCache(Room(2, 8))
    assert passed(cache, 1, 2, 3) == [1, 2, 3]
    assert passed(cache, 4, 5) == [4, 5]  # nothing was kept
    assert cache.keep([0, 1]) == slice(2)
    assert passed(cache, 6, 7, 8, 9) == [4, 5, 6, 7, 8, 9]
    assert cache.keep([0, 2, 3]).tolist() == [0, 2, 3]
    assert cache.committed == 5
    assert passed(cache, 10) == [4, 5, 6, 8, 9, 10]
    assert [layer.get_seq_length() for layer in cache.layers] == [5, 5]
    assert cache.keep([]) == slice(0)
    assert passed(cache, 11) == [4, 5, 6, 8, 9, 11]


def test_a_row_may_be_kept_that_is_not_the_first() -> None:
    cache = TailCache(Room(1, 4))
    passed(cache, 1, 2, 3)
    cache.keep([2])
    assert passed(cache, 4) == [3, 4]
    assert address(cache) == cache.layers[0].keys.data_ptr()


def test_a_longer_pass_makes_its_own_room_and_forgets_nothing() -> None:
    cache = TailCache(Room(2, 3))
    passed(cache, 1, 2, 3)
    cache.keep([0, 1, 2])
    place = address(cache)
    assert passed(cache, 4, 5) == [1, 2, 3, 4, 5]
    assert cache.room.capacity == 10
    assert {layer.get_max_length() for layer in cache.layers} == {10}
    assert address(cache) != place
    place = address(cache)
    assert passed(cache, 6, 7, 8, 9, 10, 11, 12) == [1, 2, 3, *range(6, 13)]
    assert address(cache) == place  # it just fits


def test_room_made_beforehand_is_used_and_room_is_never_taken_away() -> None:
    cache = TailCache(Room(2, 2))
    assert address(cache) == 0  # nothing lies anywhere yet
    cache.reserve(4)
    passed(cache, 1, 2)
    cache.keep([0, 1])
    place = address(cache)
    assert place
    for smaller in (3, 4):
        cache.reserve(smaller)
        assert address(cache) == place
    cache.reserve(5)
    assert address(cache) != place
    assert [(layer.keys.shape[2], layer.values.shape[2]) for layer in cache.layers] == [(5, 5)] * 2
    assert passed(cache, 3) == [1, 2, 3]


def test_within_a_window_rows_go_to_places_and_a_span_is_seen() -> None:
    cache = TailCache(Room(2, 6))
    passed(cache, 1, 2)
    cache.keep([0, 1])
    with cache.window(torch.tensor([2, 4]), 5):
        assert passed(cache, 7, 8) == [1, 2, 7, 0, 8]
    assert passed(cache, 9) == [1, 2, 9]
    with pytest.raises(RuntimeError), cache.window(torch.tensor([0]), 1):
        raise RuntimeError
    assert passed(cache, 9) == [1, 2, 9]


def test_the_mask_of_a_pass_covers_what_is_committed_and_its_own_rows() -> None:
    cache = TailCache(Room(1, 8))
    passed(cache, 1, 2, 3)
    cache.keep([0, 1])
    (layer,) = cache.layers
    assert layer.get_mask_sizes(4) == (6, 0)
    layer.reset()
    assert layer.get_seq_length() == 0


def test_layers_of_other_shapes_lie_elsewhere() -> None:
    cache = TailCache(Room(4, 2))
    for layer, heads in zip(cache.layers, (2, 1, 2, 1), strict=True):
        layer.update(torch.ones(1, heads, 2, 3) * heads, torch.ones(1, heads, 2, 3))
    assert [layer.keys.shape for layer in cache.layers] == [
        (1, heads, 2, 3) for heads in (2, 1, 2, 1)
    ]
    assert [layer.keys.unique().tolist() for layer in cache.layers] == [[2], [1], [2], [1]]
    cache.keep([1])
    assert len({layer.keys.data_ptr() for layer in cache.layers}) == 4


def test_a_cache_goes_with_its_last_name() -> None:
    """Nothing in it points back: its storage would stay until the collector finds it."""
    cache = TailCache(Room(2, 3))
    passed(cache, 1)
    storage = weakref.ref(cache.room)
    gc.disable()
    try:
        del cache
        assert storage() is None
    finally:
        gc.enable()


def test_a_room_is_left_to_the_next_sequence_with_its_recordings() -> None:
    rooms = Rooms()
    first = rooms.cache("target", 2, 5)
    assert first.room.capacity == KEYS
    passed(first, 1, 2, 3)
    first.keep([0, 1])
    first.room.recordings["a pass",] = "recorded"
    place, other = address(first), rooms.cache("target", 2, 5)
    assert other.room is not first.room  # it is in use
    del first
    assert rooms.cache("drafter", 2, 5).room is not other.room
    second = rooms.cache("target", 2, 7)
    assert (address(second), second.committed) == (place, 0)
    assert second.room.recordings == {("a pass",): "recorded"}
    assert passed(second, 4) == [4]
    assert address(second) == place
    assert rooms.cache("target", 2, KEYS).room.capacity == 2 * KEYS  # its rows may be padded


def test_a_room_that_grew_loses_its_recordings_and_is_not_left_to_anybody() -> None:
    rooms = Rooms()
    cache = rooms.cache("target", 1, 2)
    cache.room.recordings["a pass",] = "recorded"
    passed(cache, 1)
    cache.reserve(KEYS + 1)
    assert (cache.room.capacity, cache.room.recordings) == (KEYS + 1, {})
    grown = weakref.ref(cache.room)
    del cache
    assert grown() is None
