"""Folders of weights as they come: damaged files are named in one sentence, whatever is wrong with
them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save, save_file

from presto.models.checkpoint import (
    check_tensors,
    load_tensors,
    read_header,
    read_index,
    read_json,
    read_tensors,
    refuse_quantised,
    sentence,
)
from tests.support.checkpoints import truncate

TENSORS = {"a.weight": torch.arange(6.0).reshape(2, 3), "b.weight": torch.ones(4)}
WHOLE = save(TENSORS, {"format": "pt"})
HEADER = 8 + int.from_bytes(WHOLE[:8], "little")


def refused(path: Path, read: Any) -> str:
    """The one sentence that ``read(path)`` is refused with; it names the file."""
    with pytest.raises(ValueError, match=path.name) as error:
        read(path)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(WHOLE)
    return path


def test_a_whole_file_is_read(weights: Path) -> None:
    found = read_tensors(weights.parent)
    assert {name: info.shape for name, info in found.items()} == {
        "a.weight": (2, 3),
        "b.weight": (4,),
    }
    loaded = load_tensors(found)
    assert loaded.keys() == TENSORS.keys()
    assert all(torch.equal(tensor, TENSORS[name]) for name, tensor in loaded.items())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is cut short: it has 0 bytes"),
        (WHOLE[:5], "is cut short: it has 5 bytes"),
        (WHOLE[: HEADER - 3], "less than its header"),
        (WHOLE[:-1], r"is cut short: tensor b\.weight ends at byte"),
        (WHOLE[: HEADER + 4], r"is cut short: tensor a\.weight ends at byte"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "is a Git-LFS pointer: run `git lfs pull`",
        ),
        (WHOLE + b"more", "is no safetensors file"),
        (b"\x02" + b"\0" * 7 + b"{", "less than its header"),
        (b"\x02" + b"\0" * 7 + b"[]", "is no safetensors file"),
        (b"PK\x03\x04" + b"\0" * 60, "less than its header|is no safetensors file"),
    ],
)
def test_damage_is_told(weights: Path, content: bytes, reason: str) -> None:
    weights.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        read_header(weights)
    refused(weights, read_header)


@settings(max_examples=300)
@given(data=st.data())
def test_no_damage_is_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("damaged") / "model.safetensors"
    path.write_bytes(content[:cut] if data.draw(st.booleans()) else content)
    try:
        found = read_header(path)
    except ValueError:
        refused(path, read_header)
    else:
        load_tensors(found)


def write_shards(folder: Path) -> Path:
    """Two shards and their index."""
    save_file({"a.weight": TENSORS["a.weight"]}, folder / "model-1.safetensors")
    save_file({"b.weight": TENSORS["b.weight"]}, folder / "model-2.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(
        json.dumps(
            {"weight_map": {"a.weight": "model-1.safetensors", "b.weight": "model-2.safetensors"}}
        )
    )
    return index


def test_shards_are_read_and_a_missing_or_damaged_one_is_named(tmp_path: Path) -> None:
    write_shards(tmp_path)
    assert read_tensors(tmp_path).keys() == TENSORS.keys()
    truncate(tmp_path / "model-2.safetensors", 3)
    with pytest.raises(ValueError, match=r"model-2\.safetensors is cut short"):
        read_tensors(tmp_path)
    save_file({"c.weight": torch.ones(1)}, tmp_path / "model-2.safetensors")
    with pytest.raises(ValueError, match=r"model-2\.safetensors: missing tensor b\.weight"):
        read_tensors(tmp_path)
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(ValueError, match=r"its shard model-2\.safetensors is missing"):
        read_tensors(tmp_path)


@pytest.mark.parametrize(
    "places",
    [None, [], {}, {"a": "../elsewhere.safetensors"}, {"a": "/etc/passwd"}, {"a": 3}, {"a": ".."}],
)
def test_an_index_names_files_beside_it(tmp_path: Path, places: Any) -> None:
    index = write_shards(tmp_path)
    index.write_text(json.dumps({"weight_map": places}))
    refused(index, read_index)


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"pytorch_model\.bin, but only safetensors files are read"
    ):
        read_tensors(tmp_path)
    with pytest.raises(ValueError, match=r"model\.safetensors is missing"):
        read_tensors(tmp_path / "empty")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[1]", "expected an object, got list"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git-LFS pointer"),
        (b'{"a": NaN, "b": 1' + b"0" * 5000 + b"}", "is not JSON"),
    ],
)
def test_files_that_are_no_json_objects_are_named(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert reason in refused(path, read_json)


def test_tensors_are_compared_with_what_a_configuration_needs(weights: Path) -> None:
    found, wanted = read_header(weights), {"a.weight": (2, 3), "b.weight": (4,)}
    check_tensors(weights.parent, found, wanted, "it")
    for changed, reason in (
        (wanted | {"c": (1,), "d": (1,)}, r"missing tensor c \(and 1 more\), which it needs"),
        ({"a.weight": (2, 3)}, r"unexpected tensor b\.weight, which it does not have"),
        (wanted | {"b.weight": (5,)}, r"b\.weight is \[4\], it needs \[5\]"),
    ):
        with pytest.raises(ValueError, match=reason):
            check_tensors(weights.parent, found, changed, "it")
    save_file(
        {"a.weight": torch.ones(2, 3).to(torch.float8_e4m3fn), "b.weight": torch.ones(4)}, weights
    )
    with pytest.raises(ValueError, match=r"a\.weight is quantised \(F8_E4M3\)"):
        check_tensors(weights.parent, read_header(weights), wanted, "it")


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({"quantization_config": {"quant_method": "awq"}}, "by awq"),
        ({"quantization_config": {"quant_method": "bitsandbytes"}}, "by bitsandbytes"),
        ({"quantization_config": {"quant_algo": "NVFP4"}}, "by NVFP4"),
        ({"compression_config": {"format": "pack-quantized"}}, "by pack-quantized"),
        ({"text_config": {"quantization_config": {"quant_method": "fp8"}}}, "by fp8"),
        ({"quantization_config": True}, "are quantised;"),
    ],
)
def test_quantised_weights_are_refused_with_the_methods_name(
    tmp_path: Path, config: dict[str, Any], method: str
) -> None:
    refuse_quantised(tmp_path, {"quantization_config": None, "text_config": {}})
    with pytest.raises(ValueError, match=method):
        refuse_quantised(tmp_path, config)


@pytest.mark.parametrize("name", ["quantize_config.json", "hf_quant_config.json"])
def test_quantised_weights_are_known_by_the_file_beside_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"quantization": {"quant_algo": "W4A16"}}')
    with pytest.raises(ValueError, match=f"{name}: it says the weights are quantised by W4A16"):
        refuse_quantised(tmp_path, {})


def test_foreign_messages_become_one_short_line() -> None:
    assert sentence(ValueError("one\n  two")) == "one two"
    assert sentence(KeyError()) == "KeyError"
    assert len(sentence("x" * 1000)) == 200
