"""How many kernels a device would launch, counted without one."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

# Operations that launch nothing: views, empty storage, questions about a tensor.
SILENT = {
    *("view", "_unsafe_view", "slice", "select", "transpose", "t", "permute", "expand", "alias"),
    *("unsqueeze", "squeeze", "detach", "split", "split_with_sizes", "unbind", "as_strided"),
    *("_reshape_alias", "lift_fresh", "narrow", "diagonal", "unfold", "chunk", "set_", "sym_size"),
    *("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "is_same_size"),
    "_local_scalar_dense",
}


def launches(name: str) -> bool:
    """Whether the operation of this name is a kernel."""
    return name not in SILENT and name.rstrip("_") not in SILENT


class Kernels(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is entered, ``count`` goes up with every kernel that a device would launch."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += launches(func._schema.name.split("::")[1])
        return func(*args, **kwargs or {})
