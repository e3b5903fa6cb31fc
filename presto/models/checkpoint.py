"""Folders of weights as they are, told before any tensor is read: JSON files, safetensors headers,
quantised weights. Every refusal is one sentence that names file and field or tensor. Importing this
module loads no torch.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from safetensors import SafetensorError, safe_open

if TYPE_CHECKING:
    import torch

CONFIG_FILE, WEIGHTS = "config.json", "model"
INDEX = ".safetensors.index.json"
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
_POINTER = b"version https://git-lfs"
_QUANTISED = ("quantize_config.json", "hf_quant_config.json", "quant_config.json")
_UNSAFE = ("*.bin", "*.pt", "*.pth", "*.gguf")

Shape = tuple[int, ...]


class TensorInfo(NamedTuple):
    """A tensor as the header of its file describes it."""

    file: Path
    dtype: str  # as safetensors writes it: F32, BF16, F8_E4M3
    shape: Shape


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; ``ValueError`` says what is wrong with the file."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"no checkpoint at {path.parent}: {path.name} is missing") from None
    except (OSError, ValueError, RecursionError) as error:
        refuse_pointer(path)
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"{path} is not JSON: {reason}") from None
    if not isinstance(raw, dict):
        raise ValueError(f"{path}: expected an object, got {type(raw).__name__}")
    return raw


def refuse_pointer(path: Path) -> None:
    """Refuse a file that Git LFS has not fetched: a few lines that say where it is."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            raise ValueError(f"{path} is a Git-LFS pointer: run `git lfs pull` in its folder")


def read_header(path: Path) -> dict[str, TensorInfo]:
    """What a safetensors file holds, by tensor name; ``ValueError`` if it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            return {
                name: TensorInfo(path, part.get_dtype(), tuple(part.get_shape()))
                for name, part in slices.items()
            }
    except FileNotFoundError:
        raise ValueError(f"{path.parent}: {path.name} is missing") from None
    except (SafetensorError, OSError) as error:
        refuse_pointer(path)
        raise ValueError(f"{path} {_damage(path) or f'is no safetensors file: {error}'}") from None


def _damage(path: Path) -> str:
    """How a file is damaged, where that can be told: the end of a sentence."""
    if not path.is_file():
        return "is no file"
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            return f"is cut short: it has {size:,} bytes, less than its header"
        header = file.read(length)
    try:
        entries = json.loads(header)
        ends = {
            name: 8 + length + entry["data_offsets"][1]
            for name, entry in entries.items()
            if name != "__metadata__"
        }
        cut = [(end, name) for name, end in ends.items() if end > size]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ""
    if not cut:
        return ""
    end, name = min(cut)
    return f"is cut short: tensor {name} ends at byte {end:,}, the file has {size:,}"


def read_index(index: Path) -> dict[str, str]:
    """The file of every tensor, from an ``….safetensors.index.json``; names are of files beside
    it.
    """
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ValueError(f"{index}: weight_map must name the file of every tensor")
    for name, place in places.items():
        known = isinstance(place, str) and place.endswith(".safetensors")
        if not known or Path(place).name != place:
            raise ValueError(
                f"{index}: the file of {name} must be a safetensors file's name, got {place!r}"
            )
    return places


def read_tensors(folder: Path, stem: str = WEIGHTS) -> dict[str, TensorInfo]:
    """All tensors of a checkpoint: of ``STEM.safetensors``, or of the shards its index names."""
    single, index = folder / f"{stem}.safetensors", folder / f"{stem}{INDEX}"
    if single.is_file() or not index.is_file():
        if not single.is_file() and (other := _unsafe(folder)):
            raise ValueError(
                f"{folder} has {other}, but only safetensors files are read here: they can run no "
                f"code; {single.name} is missing"
            )
        return read_header(single)
    places = read_index(index)
    found: dict[str, TensorInfo] = {}
    for place in sorted(set(places.values())):
        if not (folder / place).is_file():
            raise ValueError(f"{index}: its shard {place} is missing")
        found |= read_header(folder / place)
    for name, place in places.items():
        if name not in found or found[name].file.name != place:
            raise ValueError(f"{folder / place}: missing tensor {name}, which {index.name} names")
    return found


def _unsafe(folder: Path) -> str:
    names = sorted(path.name for pattern in _UNSAFE for path in folder.glob(pattern))
    return names[0] if names else ""


def load_tensors(found: Mapping[str, TensorInfo]) -> "dict[str, torch.Tensor]":
    """The tensors themselves, file by file."""
    tensors: dict[str, torch.Tensor] = {}
    for path in sorted({info.file for info in found.values()}):
        with safe_open(path, framework="pt") as file:
            tensors |= {
                name: file.get_tensor(name) for name, info in found.items() if info.file == path
            }
    return tensors


def check_tensors(
    place: Path,
    found: Mapping[str, TensorInfo],
    wanted: Mapping[str, Shape],
    by: str,
    whole: Collection[str] = (),
) -> None:
    """Refuse a checkpoint that lacks a tensor, has one too many, or one of another shape.

    ``by`` says in words who wants them; those called ``whole`` hold whole numbers of 64 bits.
    """
    refuse_missing(place, wanted.keys() - found.keys(), by)
    refuse_unexpected(place, found.keys() - wanted.keys(), by)
    for name, shape in wanted.items():
        info = found[name]
        if info.shape != shape:
            raise ValueError(
                f"{info.file}: tensor {name} is {list(info.shape)}, {by} needs {list(shape)}"
            )
        if name in whole and info.dtype != "I64":
            raise ValueError(f"{info.file}: tensor {name} is {info.dtype}, {by} needs I64")
        if name not in whole and info.dtype not in FLOATS:
            raise ValueError(f"{info.file}: tensor {name} is quantised ({info.dtype})")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a field of a JSON file is a whole number; Python takes ``true`` for the number 1."""
    return isinstance(value, int) and not isinstance(value, bool)


def refuse_layers(path: Path, layers: Any, found: Mapping[str, TensorInfo]) -> None:
    """Refuse more layers than there are tensors, before as many are made."""
    if is_whole(layers) and layers > len(found):
        raise ValueError(
            f"{path}: num_hidden_layers is {layers}, the weight files have {len(found)} tensors"
        )


def refuse_missing(place: Path, names: Iterable[str], by: str) -> None:
    """Refuse a checkpoint without the tensors ``names``, if there are any."""
    if some := _some(names):
        raise ValueError(f"{place}: missing tensor {some}, which {by} needs")


def refuse_unexpected(place: Path, names: Iterable[str], by: str) -> None:
    """Refuse a checkpoint with tensors that nothing would read, if there are any."""
    if some := _some(names):
        raise ValueError(f"{place}: unexpected tensor {some}, which {by} does not have")


def _some(names: Iterable[str]) -> str:
    first, *rest = sorted(names) or [""]
    return f"{first} (and {len(rest)} more)" if rest else first


def refuse_quantised(folder: Path, config: Mapping[str, Any]) -> None:
    """Refuse a checkpoint whose weights are quantised, with the method's name."""
    parts = (config, *(part for part in config.values() if isinstance(part, dict)))
    for part in parts:
        for field in ("quantization_config", "compression_config"):
            if part.get(field):
                raise ValueError(_quantised(folder / CONFIG_FILE, field, part[field]))
    for name in _QUANTISED:
        if (folder / name).is_file():
            raise ValueError(_quantised(folder / name, "it", read_json(folder / name)))


def _quantised(place: Path, field: str, said: Any) -> str:
    said = said if isinstance(said, dict) else {}
    nested = said.get("quantization")
    said = said | nested if isinstance(nested, dict) else said
    method = next((said[k] for k in ("quant_method", "quant_algo", "format") if said.get(k)), "")
    return (
        f"{place}: {field} says the weights are quantised"
        + (f" by {method}" if method else "")
        + "; only float32, float16 and bfloat16 weights are read"
    )


def sentence(error: object) -> str:
    """An error's message on one line, cut after 200 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else f"{text[:199]}…"
