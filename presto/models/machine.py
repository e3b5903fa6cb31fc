"""Which pairs this machine can run, told without loading torch: its memory, its GPU, and the
weights that are here.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from presto.models.catalogue import PairSpec
from presto.models.sources import is_here

HEADROOM = 1.25  # of the weights' size: K/V cache, activations and logits besides
BF16_FLAGS = {
    "avx512_bf16",
    "amx_bf16",
    "bf16",
}  # in /proc/cpuinfo; elsewhere the CPU decodes in float32


@dataclass(frozen=True)
class Machine:
    """``gigabytes`` of memory where the model would lie; ``gpu`` is its name, empty for the CPU."""

    gigabytes: float
    gpu: str = ""
    bfloat16: bool = True


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """The machine this process runs on, as far as torch will use it."""
    return _gpu() or Machine(_memory(), bfloat16=_cpu_has_bfloat16())


def needed(spec: PairSpec, machine: Machine) -> float:
    """Gigabytes of memory a pair needs, 0 if its size is not known."""
    return spec.gigabytes * (1 if machine.bfloat16 else 2) * HEADROOM


def why_unavailable(spec: PairSpec, machine: Machine | None = None) -> str:
    """Why a pair cannot run, as the end of a sentence; empty if it can."""
    machine = machine or this_machine()
    need, has = needed(spec, machine), f"{machine.gigabytes:.0f} GB"
    if need > machine.gigabytes:
        if machine.gpu:
            return f"it needs {need:.0f} GB of GPU memory, {machine.gpu} has {has}"
        of_gpu = spec.gigabytes * HEADROOM
        return (
            f"it needs a GPU with {of_gpu:.0f} GB, or {need:.0f} GB of memory, and this machine "
            f"has {has} and no GPU"
        )
    if not all(is_here(source) for source in (spec.target, spec.drafter) if source):
        return (
            f"its weights are not here: fetch {spec.gigabytes:g} GB with `python -m presto fetch "
            f"{spec.name}`"
        )
    return ""


def _gpu() -> Machine | None:
    """The first visible NVIDIA GPU, if the installed torch can use one."""
    tool = shutil.which("nvidia-smi")
    if tool is None or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1") or _torch_is_cpu_only():
        return None
    query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(
            query, capture_output=True, text=True, timeout=20, check=True
        ).stdout
        name, mebibytes = answer.splitlines()[0].rsplit(",", 1)
        return Machine(int(mebibytes) * 2**20 / 1e9, name.strip())
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _torch_is_cpu_only() -> bool:
    try:
        return version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return True


def _memory() -> float:
    """Gigabytes this process may use: the machine's, or its container's limit if that is lower."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = Path(path).read_text().strip() if Path(path).is_file() else ""
        total = min(total, int(text)) if text.isdecimal() else total
    return total / 1e9


def _cpu_has_bfloat16() -> bool:
    path = Path("/proc/cpuinfo")
    return path.is_file() and not BF16_FLAGS.isdisjoint(path.read_text().split())
