"""Make torch believe in the simulated device, for the rest of the process.

To be imported before the engine, which takes ``torch.inference_mode`` as it finds it, and after
transformers, which lists torch's own functions when it is loaded: hence the import below.
"""

import time
from typing import Any

import torch
import transformers.modeling_utils  # noqa: F401

from tests.simulated.tensor import (
    LOG,
    Device,
    Simulated,
    WrongDeviceError,
    moved,
    note_upload,
    note_wait,
    on_device,
)

NAME = "Simulated GPU"


class Event:
    """A CUDA event; time passes on the host."""

    def __init__(self, **_: Any) -> None:
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        note_wait("the end of the round")

    def elapsed_time(self, other: "Event") -> float:
        return 1e3 * (other.at - self.at)


class Properties:
    """Of the device."""

    name, major, minor = NAME, 9, 0
    total_memory, multi_processor_count, warp_size = 141 * 10**9, 132, 32


class Generator(torch.Generator):
    """A generator of random numbers; the device draws the CPU's."""

    def __new__(cls, device: Any = None) -> "Generator":
        return super().__new__(cls)


class NoGradients(torch.no_grad):
    """In place of ``inference_mode``, whose tensors a dispatch mode cannot write to."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__()


def install() -> None:
    """From here on ``cuda:0`` can be computed on."""
    _cuda()
    _factories()
    torch.Tensor.to = _to_from_the_host
    torch.inference_mode = NoGradients
    torch.autograd.grad_mode.inference_mode = NoGradients
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    torch.nn.functional.scaled_dot_product_attention = _attention
    torch.nn.utils.rnn.pad_sequence = _padded
    Device().__enter__()


def _cuda() -> None:
    torch._C._ensureCUDADeviceGuardSet()
    nothing, cuda = (lambda *_, **__: None), torch.cuda
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "current_device": 0,
        "is_current_stream_capturing": False,
        "max_memory_allocated": 0,
        "get_device_name": NAME,
        "get_device_capability": (9, 0),
        "get_device_properties": Properties,
        "is_bf16_supported": True,
        "_is_in_bad_fork": False,
    }
    for name, value in answers.items():
        setattr(cuda, name, lambda *_, value=value, **__: value)
    for name in ("_lazy_init", "empty_cache", "reset_peak_memory_stats", "set_device"):
        setattr(cuda, name, nothing)
    for name in ("manual_seed", "manual_seed_all"):
        setattr(cuda, name, nothing)
    cuda.synchronize = lambda *_: note_wait("synchronize")
    cuda.Event = Event
    cuda.default_generators = (torch.default_generator,)
    torch.Generator = Generator


def _factories() -> None:
    """``tensor`` and ``as_tensor`` fill storage without an operation that could be seen."""
    for name in ("tensor", "as_tensor"):
        setattr(torch, name, _made_there(getattr(torch, name)))


def _made_there(make: Any) -> Any:
    def made(data: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        result: torch.Tensor = make(data, *args, **kwargs)
        if device is None or not on_device(device) or isinstance(result, Simulated):
            return result if device is None else result.to(device)
        note_upload(f"torch.tensor {tuple(result.shape)}")
        return Simulated(result)

    return made


_to = torch.Tensor.to


def _to_from_the_host(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``Tensor.to``, also to the device."""
    if isinstance(self, Simulated) or not (args or kwargs):
        return _to(self, *args, **kwargs)
    if args and isinstance(args[0], torch.Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    plain = {name: value for name, value in kwargs.items() if name != "copy"}
    device, dtype, *_ = torch._C._nn._parse_to(*args, **plain)
    if not on_device(device):
        return _to(self, *args, **kwargs)
    return moved(self, dtype or self.dtype)


_sdpa = torch.nn.functional.scaled_dot_product_attention


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """One kernel, whatever the CPU makes of it."""
    more: dict[str, Any] = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    given = [query, key, value, *([] if attn_mask is None else [attn_mask])]
    ours = [isinstance(one, Simulated) for one in given]
    if not any(ours) or any(one.requires_grad for one in given):
        return _sdpa(query, key, value, attn_mask, dropout_p, **more)
    if not all(ours):
        raise WrongDeviceError("attention: operands on two devices")
    LOG.attention[tuple(query.shape), tuple(key.shape), attn_mask is not None] += 1
    LOG.launches += 1
    with torch._C._DisableTorchDispatch():
        held = [one.elem for one in given]
        mask = held[3] if len(held) > 3 else None
        return Simulated(_sdpa(*held[:3], mask, dropout_p, **more))


_pad_sequence = torch.nn.utils.rnn.pad_sequence


def _padded(sequences: list[torch.Tensor], *args: Any, **kwargs: Any) -> torch.Tensor:
    """It makes its result in C++, in the likeness of what the wrappers claim to be there."""
    if not all(isinstance(one, Simulated) for one in sequences):
        return _pad_sequence(sequences, *args, **kwargs)
    LOG.launches += 1
    with torch._C._DisableTorchDispatch():
        return Simulated(_pad_sequence([one.elem for one in sequences], *args, **kwargs))
