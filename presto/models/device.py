"""The one place that decides device and dtype."""

import ctypes
import logging
import os
import platform
from functools import cache

import torch

logger = logging.getLogger(__name__)
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of glibc's mallopt(3)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
NO_DRIVER = "no NVIDIA driver"  # in torch's words for a machine without a GPU


def pick_device() -> torch.device:
    """The first CUDA device if there is one, else the CPU; a GPU that this torch cannot use is told
    in one line of the log.
    """
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if reason := _why_no_gpu():
        logger.warning("the CPU decodes, because torch cannot use the GPU here: %s", reason)
    return torch.device("cpu")


@cache
def _why_no_gpu() -> str:
    """Why a torch built for CUDA finds none, such as a driver that is too old for it; empty where
    there is no GPU.
    """
    if torch.version.cuda is None:
        return ""
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().split("\n")[0]
        return "" if NO_DRIVER in reason else reason
    return ""


def pick_dtype(name: str, device: torch.device) -> torch.dtype:
    """``float32``, ``bfloat16``, ``float16`` or ``auto``: bfloat16 where the device multiplies it
    in hardware; else float16 on a GPU (before Ampere, such as a T4) and float32 on a CPU.
    """
    if name in DTYPES:
        return DTYPES[name]
    if name != "auto":
        raise ValueError(f"dtype must be one of auto, {', '.join(DTYPES)}; got {name!r}")
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if native else torch.float16
    return torch.bfloat16 if cpu_has_bfloat16() else torch.float32


def cpu_has_bfloat16() -> bool:
    """Whether this CPU has bfloat16 dot products (AVX512-BF16 or AMX); elsewhere bfloat16 is
    emulated and slow.
    """
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return bool(
        capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") or capabilities.get("bf16")
    )


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def may_record(device: torch.device) -> bool:
    """Whether passes may be recorded as CUDA graphs: asked for (``PRESTO_GRAPHS=1``), on CUDA, not
    on ZeroGPU.

    ZeroGPU forks a process per call and moves the weights: nothing recorded would be replayed.
    """
    return (
        device.type == "cuda"
        and os.environ.get("PRESTO_GRAPHS") == "1"
        and not os.environ.get("SPACES_ZERO_GPU")
    )


def computes_now(device: torch.device) -> bool:
    """Whether what is on ``device`` can be computed with in this process: what ZeroGPU's parent
    process puts on CUDA only waits for a worker to take it there.
    """
    return device.type != "cuda" or not os.environ.get("SPACES_ZERO_GPU")


def synchronise(device: torch.device) -> None:
    """Wait for the work queued on ``device``."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def device_name(device: torch.device) -> str:
    """What a person calls the device: the GPU's product name, or ``cpu``."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def keep_freed_memory() -> None:
    """Let glibc keep freed buffers instead of returning them to the kernel, where each new use is a
    page fault.

    Tensors of megabytes come and go every layer; without this most of a training step on the CPU
    goes into faults. Other C libraries are left as they are.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_MAX, 0)
    libc.mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1)
