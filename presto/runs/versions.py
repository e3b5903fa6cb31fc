"""Of what a run, a benchmark and a measured cost depend on."""

import platform
from importlib.metadata import version

from presto.decoding.protocols import System
from presto.models.device import device_name, dtype_name
from presto.version import __version__


def versions() -> dict[str, str]:
    """Versions by package name."""
    return {"presto": __version__} | {name: version(name) for name in ("torch", "transformers")}


def where(system: System) -> dict[str, str]:
    """What runs, and on what."""
    return {
        "pair": system.name,
        "mode": system.mode,
        "device": device_name(system.device),
        "dtype": dtype_name(system.dtype),
        "processor": platform.processor() or platform.machine(),
    }
