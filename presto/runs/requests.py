"""Checks of what a person asks for, before any model is touched; every refusal is one sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from pydantic import ValidationError

from presto.build import check_installed
from presto.records import (
    MAX_PROMPT_CHARACTERS,
    DecodeConfig,
    Method,
    changed,
    explain,
    quoted,
    shown,
)
from presto.records.explain import leaves_a_mark
from presto.registry import Record
from presto.scorers import SCORERS
from presto.searches import SEARCHES

METHODS: dict[str, dict[str, Any]] = {
    "ar": {},
    "linear": {"scorer": "blind", "search": "linear"},
    "blind": {"scorer": "blind"},
    "presto": {},
    "presto+": {"scorer": "learned", "normalised": True, "lookup": 12},
}
assert set(METHODS) == set(get_args(Method))
AUTO = "auto"  # in place of a budget: chosen, with the draft length, for the device


def check_prompt(prompt: object) -> str:
    """The prompt, if it is text a model can read."""
    if not isinstance(prompt, str):
        raise ValueError(f"the prompt must be text, got {type(prompt).__name__}")
    if not any(map(leaves_a_mark, prompt)):
        raise ValueError("the prompt is blank: write at least one visible character")
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        raise ValueError(
            f"the prompt has {len(prompt):,} characters, at most {MAX_PROMPT_CHARACTERS:,} are "
            "allowed"
        )
    for place, character in enumerate(prompt):
        if "\ud800" <= character <= "\udfff":
            raise ValueError(
                f"the prompt has half a surrogate pair (U+{ord(character):04X}) at character "
                f"{place + 1}"
            )
    return prompt


def check_method(method: object) -> Method:
    """A method's name."""
    for known in get_args(Method):
        if method == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f"unknown method {quoted(method)}: known methods are {', '.join(METHODS)}")


def make_config(**values: Any) -> DecodeConfig:
    """Settings from plain values; ``ValueError`` names the first that is out of range."""
    try:
        config = DecodeConfig(**values)
    except ValidationError as error:
        raise ValueError(explain(error)) from None
    check_installed(config)
    return config


def change_config(config: DecodeConfig, changes: Mapping[str, Any]) -> DecodeConfig:
    """``config`` with other values, as ``records.changed`` has it; ``ValueError`` names the first
    that is out of range.
    """
    try:
        return make_config(**asdict(changed(config, changes)))
    except ValidationError as error:
        raise ValueError(explain(error)) from None


def without_auto(settings: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Settings in which the budget may be ``AUTO``, without it, and whether it was."""
    auto = settings.get("budget") == AUTO
    if auto and "draft_length" in settings:
        raise ValueError(f"budget {AUTO!r} chooses draft_length too: leave it out")
    return {k: v for k, v in settings.items() if not auto or k != "budget"}, auto


def own_settings(given: Sequence[str], scorer: str, search: str) -> dict[str, dict[str, float]]:
    """Texts ``NAME=VALUE`` as fields of ``DecodeConfig``: whose setting each of them is.

    ``ValueError`` for a text that is none, or a setting that neither the scorer nor the search has.
    """
    records: dict[str, Record] = {
        "scorer_settings": SCORERS.find(scorer),
        "search_settings": SEARCHES.find(search),
    }
    found: dict[str, dict[str, float]] = {field: {} for field in records}
    for text in given:
        name, _, value = text.partition("=")
        known = [f for f, r in records.items() if name in {own.name for own in r.settings}]
        if not known:
            raise ValueError(f"{shown(text)}: neither {scorer} nor {search} has such a setting")
        try:
            found[known[0]][name] = float(value)
        except ValueError:
            raise ValueError(f"{shown(text)}: expected NAME=NUMBER") from None
    return found


def own_text(config: DecodeConfig) -> str:
    """The same the other way round, separated by commas."""
    own = config.scorer_settings | config.search_settings
    return ", ".join(f"{name}={value:.10g}" for name, value in own.items())


def config_for(method: Method, config: DecodeConfig) -> DecodeConfig:
    """``config`` as a method uses it: ``linear`` drafts one blind path, ``blind`` is the tree
    without correction, ``presto+`` takes the learned one.
    """
    return changed(config, METHODS[method])


def method_of(config: DecodeConfig) -> Method:
    """What decoding a draft by these very settings is called: the method that would change none of
    them, else ``presto``.
    """
    drafting: tuple[Method, ...] = ("presto+", "linear", "blind")
    return next((m for m in drafting if config_for(m, config) == config), "presto")


def without_method(config: DecodeConfig) -> DecodeConfig:
    """``config`` with what makes it another method than ``presto`` at its default: what other
    methods start from.
    """
    default = asdict(DecodeConfig())
    return changed(config, {name: default[name] for name in METHODS[method_of(config)]})
