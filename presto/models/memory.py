"""Running out of memory: telling it from other errors, and giving back what can be given back."""

import ctypes
import gc
import sys


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, on the device, in torch's CPU allocator, or in Python itself.

    torch raises its own class for a device, a plain ``RuntimeError`` for the CPU and for errors of
    the driver.
    """
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text
    )


def release() -> None:
    """Collect what nothing refers to any more and give the unused blocks of device and heap back.

    The C library keeps what was freed between blocks in use: of pairs that were loaded in turn, a
    gigabyte and a half.
    """
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(ctypes.c_size_t(0))  # Other C libraries have no such function.
