"""Weights in pieces: small enough, whole again, and still a checkpoint for those who read the hub's
layout.
"""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from presto.models.dflash_network import DFlashDrafter
from presto.models.pieces import PIECE_BYTES, join_folder, split_file
from tests.support.checks import some
from tests.support.dflash import tiny_dflash

TENSORS = {f"layer.{i}": torch.full((10, 10), float(i)) for i in range(7)}  # 400 bytes each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    save_file(TENSORS, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    return folder


def test_pieces_hold_the_limit_and_join_to_the_same_file(folder: Path, tmp_path: Path) -> None:
    whole = folder / "model.safetensors"
    pieces = split_file(whole, limit=900)
    assert [path.name for path in pieces] == [
        f"model-0000{i}-of-00004.safetensors" for i in (1, 2, 3, 4)
    ]
    assert not whole.exists()
    assert all(sum(t.nbytes for t in load_file(path).values()) <= 900 for path in pieces)
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert index["weight_map"].keys() == TENSORS.keys()
    join_folder(folder, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "config.json",
        "model.safetensors",
    ]
    joined = load_file(tmp_path / "out" / "model.safetensors")
    assert joined.keys() == TENSORS.keys()
    assert all(torch.equal(tensor, TENSORS[name]) for name, tensor in joined.items())


def test_a_small_file_stays_and_a_large_tensor_is_named(folder: Path) -> None:
    assert split_file(folder / "model.safetensors") == [folder / "model.safetensors"]
    assert PIECE_BYTES < 16_000_000
    with pytest.raises(
        ValueError, match=r"tensor layer\.\d has 400 bytes, a piece holds at most 399"
    ):
        split_file(folder / "model.safetensors", limit=399)


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    pieces = split_file(folder / "model.safetensors", limit=900)
    pieces[1].unlink()
    with pytest.raises(ValueError, match="its shard model-00002-of-00004"):
        join_folder(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    save_file({"other": torch.zeros(1)}, pieces[1])
    with pytest.raises(ValueError, match=r"missing tensor layer\.\d"):
        join_folder(folder, tmp_path / "out")
    with pytest.raises(ValueError, match="is no folder"):
        join_folder(tmp_path / "absent", tmp_path / "out")


def test_a_drafter_loads_from_its_pieces(tmp_path: Path) -> None:
    tiny_dflash().drafter.save(tmp_path)
    before = DFlashDrafter.load(tmp_path).state_dict()
    assert len(split_file(tmp_path / "model.safetensors", limit=6000)) > 1
    after = DFlashDrafter.load(tmp_path).state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(tensor, before[name]) for name, tensor in some(after.items()))
