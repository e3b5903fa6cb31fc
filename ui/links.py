"""Addresses that bring a view back: a recorded run by its title, a live one by prompt, pair and
settings.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from presto.models.catalogue import find, names
from presto.records import MAX_PROMPT_CHARACTERS, DecodeConfig
from presto.runs.requests import own_text
from ui.controls import FIELDS, OWN, config_of


class Asked(NamedTuple):
    """What an address asks for; ``run`` is empty for a live run, ``prompt`` for a recorded one."""

    run: str = ""
    prompt: str = ""
    system: str = ""
    config: DecodeConfig = DecodeConfig()
    problem: str = ""  # what of the address cannot be had, in a sentence


def to_query(prompt: str, system: str, config: DecodeConfig) -> dict[str, str]:
    """Query parameters of a live run: the prompt, the pair, and every setting that is not the
    default.
    """
    default, chosen = asdict(DecodeConfig()), asdict(config)
    known = [name for name in FIELDS if name != OWN]
    changed = {name: str(chosen[name]) for name in known if chosen[name] != default[name]}
    own = {OWN: text} if (text := own_text(config)) else {}
    return {"prompt": prompt, "system": system} | changed | own


def from_query(query: Mapping[str, str]) -> Asked:
    """What ``to_query`` wrote; a broken address says what is wrong and keeps what is right."""
    if "prompt" not in query:
        return Asked(run=query.get("run", ""))
    prompt, system = query["prompt"][:MAX_PROMPT_CHARACTERS], query.get("system", names()[0])
    try:
        find(system)
        return Asked(prompt=prompt, system=system, config=_settings(query))
    except ValueError as error:
        return Asked(
            prompt=prompt, system=names()[0], problem=f"The link's settings were left out: {error}."
        )


def _settings(query: Mapping[str, str]) -> DecodeConfig:
    default = DecodeConfig()
    values = [
        query.get(OWN, "")
        if name == OWN
        else _value(name, query[name], getattr(default, name))
        if name in query
        else getattr(default, name)
        for name in FIELDS
    ]
    return config_of(values)


def _value(name: str, text: str, default: Any) -> Any:
    """A setting's value from its text, in the type of its default."""
    if isinstance(default, bool):
        if text not in ("True", "False"):
            raise ValueError(f"{name}: expected True or False (got {text[:40]!r})")
        return text == "True"
    try:
        return type(default)(text)
    except ValueError:
        raise ValueError(f"{name}: expected a number (got {text[:40]!r})") from None
