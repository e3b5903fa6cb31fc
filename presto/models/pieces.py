"""Weight files in pieces small enough to travel, in the layout of the Hugging Face hub, and whole
again.
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

from presto.models.checkpoint import INDEX, load_tensors, read_header, read_index, read_tensors
from presto.records.writing import follow_umask

PIECE_BYTES = 15_000_000  # of tensors: with its header a piece stays under 16 MB


def split_file(path: Path, limit: int = PIECE_BYTES) -> list[Path]:
    """Replace ``NAME.safetensors`` by pieces and ``NAME.safetensors.index.json``; a file within the
    limit stays.

    ``ValueError`` if a single tensor is larger than ``limit`` bytes.
    """
    if path.stat().st_size <= limit:
        return [path]
    groups: list[dict[str, torch.Tensor]] = [{}]
    used = 0
    for name, tensor in load_tensors(read_header(path)).items():
        if tensor.nbytes > limit:
            raise ValueError(
                f"{path}: tensor {name} has {tensor.nbytes:,} bytes, a piece holds at most "
                f"{limit:,}"
            )
        if used + tensor.nbytes > limit:
            groups.append({})
            used = 0
        groups[-1][name] = tensor
        used += tensor.nbytes
    paths = [
        path.with_name(f"{path.stem}-{i:05}-of-{len(groups):05}.safetensors")
        for i in range(1, len(groups) + 1)
    ]
    for piece, group in zip(paths, groups, strict=True):
        save_file(group, piece, metadata={"format": "pt"})
    places = {
        name: piece.name for piece, group in zip(paths, groups, strict=True) for name in group
    }
    total = sum(tensor.nbytes for group in groups for tensor in group.values())
    index = {"metadata": {"total_size": total}, "weight_map": places}
    path.with_name(path.stem + INDEX).write_text(json.dumps(index, indent=1) + "\n")
    path.unlink()
    return paths


def join_folder(source: Path, out: Path) -> None:
    """Copy a folder with every split weight file whole; ``ValueError`` names a piece or a tensor
    that is missing.
    """
    if not source.is_dir():
        raise ValueError(f"{source} is no folder")
    indices = sorted(source.glob(f"*{INDEX}"))
    joined = {index: _joined(index) for index in indices}
    pieces = {name for index in indices for name in read_index(index).values()}
    out.mkdir(parents=True, exist_ok=True)
    for index, tensors in joined.items():
        save_file(tensors, out / index.name.removesuffix(".index.json"), metadata={"format": "pt"})
    for path in sorted(source.iterdir()):
        if path.is_file() and path not in indices and path.name not in pieces:
            shutil.copyfile(path, out / path.name)
    follow_umask(out)


def _joined(index: Path) -> dict[str, torch.Tensor]:
    return load_tensors(read_tensors(index.parent, index.name.removesuffix(INDEX)))
