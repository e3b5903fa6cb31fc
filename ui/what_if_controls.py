"""The controls of the panel "What if": fields of ``DecodeConfig`` that a replay can change, as the
fields themselves and the registries describe them.
"""

from typing import Any

from presto.records import DecodeConfig, Setting, settings
from presto.runs.states import FREE
from presto.scorers import SCORERS
from ui.controls import REGISTRIES, STEP

# In the order of the controls.
ASKED = (
    "scorer",
    "lam",
    "normalised",
    "search",
    "budget",
    "top_k",
    "beam_width",
    "lookup",
    "order",
    "correct_first",
)
assert set(ASKED) <= FREE


def controls() -> list[dict[str, Any]]:
    """The controls of the panel, one per name in ``ASKED``: what each is called, does and may
    be.
    """
    known = settings()
    return [_control(known[name]) for name in ASKED]


def _control(setting: Setting) -> dict[str, Any]:
    about = {"name": setting.name, "title": setting.title, "about": setting.description}
    if setting.name in REGISTRIES:
        return about | {"options": options(setting.name)}
    if setting.type is bool:
        return about
    step = 1 if setting.type is int else STEP
    return about | {"low": setting.low, "high": setting.high, "step": step}


def options(kind: str) -> list[str]:
    """Scorers or searches that a record can be replayed with: it does not hold all of a draft."""
    unable = {name for name, scorer in SCORERS.items() if scorer.reads_drafter}
    return [name for name in REGISTRIES[kind] if kind != "scorer" or name not in unable]


def values_of(config: DecodeConfig) -> dict[str, Any]:
    """The controls' values."""
    return {name: getattr(config, name) for name in ASKED}
