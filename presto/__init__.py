"""PRESTO: prefix-aligned tree drafting for diffusion speculative decoding (arXiv 2607.22634).

    import presto

    pair = presto.load("smollm2-gated")
    trace = presto.generate(pair, "Why is the sky blue?", budget=64, temperature=0.8)
    print(trace.text, trace.tau)

Everything here is loaded when it is first used: importing the package loads no model and no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from presto.version import __version__ as __version__

if TYPE_CHECKING:
    from presto.face import decode, generate, load_recording, replay, round_ends, sweep
    from presto.models.registry import load
    from presto.records import DecodeConfig, Marginals, Round, Trace, Tree
    from presto.registry import Range
    from presto.scorers import scorer
    from presto.searches import search

__all__ = [
    "DecodeConfig",
    "Marginals",
    "Range",
    "Round",
    "Trace",
    "Tree",
    "decode",
    "generate",
    "load",
    "load_recording",
    "replay",
    "round_ends",
    "scorer",
    "search",
    "sweep",
]
_WHERE = {
    "presto.face": ("decode", "generate", "load_recording", "replay", "round_ends", "sweep"),
    "presto.models.registry": ("load",),
    "presto.records": ("DecodeConfig", "Marginals", "Round", "Trace", "Tree"),
    "presto.registry": ("Range",),
    "presto.scorers": ("scorer",),
    "presto.searches": ("search",),
}


def __getattr__(name: str) -> Any:
    """What is offered here, from the module that defines it."""
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'presto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
