"""A tensor that says it lies on cuda:0, and what every operation on such tensors does.

A ``Simulated`` tensor holds a CPU tensor. Each operation runs on what its operands hold, refuses
what CUDA refuses (operands on two devices), and is counted: kernels that a device would launch,
bytes that they make, and everything that lets the host wait for the device.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from presto.benchmarks.kernels import launches
from tests.simulated import ROOT

DEVICE = torch.device("cuda", 0)
# Operations whose result has a size that the device must tell the host first.
SIZED = {
    *("nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "is_nonzero"),
    *("repeat_interleave", "bincount", "equal"),
}
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}


class WrongDeviceError(RuntimeError):
    """What CUDA refuses: operands on two devices."""


class Wait(NamedTuple):
    """Why the host waited, and where."""

    why: str
    where: str


@dataclass
class Log:
    """What was asked of the device."""

    launches: int = 0
    waits: Counter[Wait] = field(default_factory=Counter)
    uploads: Counter[Wait] = field(default_factory=Counter)  # small copies from the host
    largest: int = 0  # bytes of one operation's result
    attention: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def clear(self) -> None:
        """Count anew."""
        self.__dict__.update(Log().__dict__)


LOG = Log()


class Simulated(torch.Tensor):
    """A tensor on cuda:0 that holds ``elem``, a tensor of the CPU."""

    elem: torch.Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem: torch.Tensor) -> "Simulated":
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=torch.device("cpu"),  # of the wrapper: a build without CUDA makes no other
            requires_grad=False,
        )
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})

    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)
    is_cpu = property(lambda self: False)

    @property
    def data(self) -> "Simulated":
        with torch._C._DisableTorchDispatch():
            return Simulated(self.elem.detach())

    @data.setter
    def data(self, value: torch.Tensor) -> None:
        if not isinstance(value, Simulated):
            raise WrongDeviceError("the data of a tensor on the device must lie there too")
        self.elem = value.elem

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        copy = kwargs.pop("copy", False)
        if args and isinstance(args[0], torch.Tensor):
            args = (args[0].device, args[0].dtype, *args[1:])
        device, dtype, *_ = torch._C._nn._parse_to(*args, **kwargs)
        if device is not None and device.type == "cpu":
            return moved(self, dtype or self.dtype)
        result = self if dtype in (None, self.dtype) else torch.Tensor.to(self, dtype)
        return result.clone() if copy and result is self else result

    def cpu(self, *_: Any, **__: Any) -> torch.Tensor:
        return self.to("cpu")

    def cuda(self, *_: Any, **__: Any) -> "Simulated":
        return self

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def __bool__(self) -> bool:
        return bool(self.item())

    def get_device(self) -> int:
        return 0

    def data_ptr(self) -> int:
        return self.elem.data_ptr()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    __array__ = numpy

    def __repr__(self, **_: Any) -> str:
        return f"Simulated({self.elem!r})"

    def __deepcopy__(self, memo: Any) -> "Simulated":
        return Simulated(self.elem.clone()).requires_grad_(self.requires_grad)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _again, (self.elem.detach(), self.requires_grad)


def _again(elem: torch.Tensor, requires_grad: bool) -> Simulated:
    return Simulated(elem).requires_grad_(requires_grad)


class _Moved(torch.autograd.Function):
    """A copy to the other side that gradients can follow back."""

    @staticmethod
    def forward(context: Any, given: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        context.dtype = given.dtype
        with torch._C._DisableTorchDispatch():
            if isinstance(given, Simulated):
                note_wait(f"to the host {tuple(given.shape)}")
                return given.elem.detach().to(dtype).clone()
            note_upload(f"to the device {tuple(given.shape)}")
            return Simulated(given.detach().to(dtype).clone())

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return _Moved.apply(gradient, context.dtype), None


def moved(given: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """``given`` on the other side, the host's or the device's."""
    return _Moved.apply(given, dtype)


def note_wait(why: str) -> None:
    """The host waits for the device."""
    LOG.waits[Wait(why, _where())] += 1


def note_upload(why: str) -> None:
    """The host hands the device something and goes on."""
    LOG.uploads[Wait(why, _where())] += 1


def _where() -> str:
    """The line of ours that is being run."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(str(ROOT / "presto")):
            return f"{Path(name).relative_to(ROOT)}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return "elsewhere"


class Device(TorchDispatchMode):
    """While it is entered, what is made on cuda:0 is simulated."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})


def on_device(device: Any) -> bool:
    """Whether this names the device."""
    return device is not None and torch.device(device).type == "cuda"


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Carry out one operation."""
    flat, spec = tree_flatten((args, kwargs))
    ours = [value for value in flat if isinstance(value, Simulated)]
    name = func._schema.name.split("::")[1]
    result_here = bool(ours)
    if name == "_to_copy":
        result_here = _copied_here(args[0], kwargs)
    elif name == "copy_":
        _check_copy(*args[:2])
    elif name in INDEXED:
        _check_index(func, name, args)
    elif ours:
        _check_operands(func, name, flat, kwargs)
    elif kwargs.get("device") is not None:
        result_here = on_device(kwargs["device"])
    elif in_backward() and not any(isinstance(value, torch.Tensor) for value in flat):
        result_here = True  # what autograd makes in the likeness of a gradient
    output = _computed(func, name, flat, spec)
    return _wrapped(func, name, args, kwargs, output) if result_here else output


def _computed(func: Any, name: str, flat: list[Any], spec: Any) -> Any:
    held = [value.elem if isinstance(value, Simulated) else value for value in flat]
    args, kwargs = tree_unflatten(held, spec)
    if on_device(kwargs.get("device")):
        kwargs = kwargs | {"device": torch.device("cpu")}
    output = func(*args, **kwargs)
    return output.clone() if name == "_to_copy" and output is args[0] else output


def _wrapped(func: Any, name: str, args: Any, kwargs: dict[str, Any], output: Any) -> Any:
    """The results on the device, counted; what was written in place keeps its wrapper."""
    written = {id(one.elem): one for one in _written(func, args, kwargs)}
    made = 0

    def wrap(value: Any) -> Any:
        nonlocal made
        if not isinstance(value, torch.Tensor) or isinstance(value, Simulated):
            return value
        if id(value) in written:
            return written[id(value)]
        made += value.numel() * value.element_size()
        return Simulated(value)

    result = tree_map(wrap, output)
    if launches(name):
        LOG.launches += 1
        LOG.largest = max(LOG.largest, made)
    return result


def _written(func: Any, args: Any, kwargs: dict[str, Any]) -> list[Simulated]:
    found = list[Any]()
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[place] if place < len(args) else kwargs.get(argument.name)
            found += given if isinstance(given, list | tuple) else [given]
    return [value for value in found if isinstance(value, Simulated)]


def _copied_here(given: torch.Tensor, kwargs: dict[str, Any]) -> bool:
    """Whether a copy ends up on the device."""
    device, here = kwargs.get("device"), isinstance(given, Simulated)
    goes = here if device is None or (here and in_backward()) else on_device(device)
    if here and not goes:
        note_wait(f"to the host {tuple(given.shape)}")
    elif goes and not here:
        note_upload(f"to the device {tuple(given.shape)}")
    return goes


def _check_copy(target: torch.Tensor, source: torch.Tensor) -> None:
    if isinstance(source, Simulated) and not isinstance(target, Simulated):
        note_wait(f"copied to the host {tuple(source.shape)}")
    elif isinstance(target, Simulated) and not isinstance(source, Simulated):
        note_upload(f"copied to the device {tuple(source.shape)}")


def _check_index(func: Any, name: str, args: Any) -> None:
    target, index = args[0], [part for part in args[1] if part is not None]
    if not isinstance(target, Simulated):
        if any(isinstance(part, Simulated) for part in index):
            raise _refusal(func, [target, *index])
        return
    for part in index:
        if not isinstance(part, Simulated):
            note_upload(f"index {tuple(part.shape)}")
        if part.dtype in (torch.bool, torch.uint8):
            note_wait("a boolean index")
    if name != "index" and len(args) > 2 and not isinstance(args[2], Simulated) and args[2].dim():
        raise _refusal(func, [target, args[2]])


def _check_operands(func: Any, name: str, flat: list[Any], kwargs: dict[str, Any]) -> None:
    hosts = [v for v in flat if isinstance(v, torch.Tensor) and not isinstance(v, Simulated)]
    # A number that lies in a tensor of the host may stand beside tensors of the device.
    if any(value.dim() for value in hosts):
        raise _refusal(func, flat)
    if hosts and torch.Tag.pointwise not in func.tags and name not in ("fill_", "where"):
        raise _refusal(func, flat)
    if name == "_local_scalar_dense":
        note_wait("a number")
    elif name in SIZED and kwargs.get("output_size") is None:
        note_wait(name)


def _refusal(func: Any, values: list[Any]) -> WrongDeviceError:
    sides = [
        ("device" if isinstance(value, Simulated) else "host") + str(tuple(value.shape))
        for value in values
        if isinstance(value, torch.Tensor)
    ]
    return WrongDeviceError(f"{func}: operands on two devices: {', '.join(sides)} at {_where()}")


def in_backward() -> bool:
    """Whether autograd runs: its own operations say no device."""
    frame = sys._getframe(1)
    for _ in range(10):
        if frame is None:
            return False
        if frame.f_code.co_name == "_engine_run_backward":
            return True
        frame = frame.f_back
    return False
