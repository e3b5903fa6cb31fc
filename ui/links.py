"""Addresses that bring a view back: a recorded run by its title, a live one by prompt, pair and
settings.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from presto.models.catalogue import find, names
from presto.records import MAX_PROMPT_CHARACTERS, DecodeConfig
from presto.runs.requests import AUTO, METHODS, check_method, own_text, without_auto
from presto.runs.variants import PLAIN
from ui.controls import CHOSEN, FIELDS, METHOD, OWN, lane_of, usual, values_of
from ui.lanes import Lane


class Asked(NamedTuple):
    """What an address asks for; ``run`` is empty for a live run, ``prompt`` for a recorded one."""

    run: str = ""
    prompt: str = ""
    system: str = ""
    lane: Lane = Lane("presto", DecodeConfig(), auto=True)
    problem: str = ""  # what of the address cannot be had, in a sentence


def to_query(prompt: str, system: str, lane: Lane) -> dict[str, str]:
    """Query parameters of a live run: the prompt, the pair, the budget, and every setting that is
    not the default; the method where it does not follow from them.
    """
    _, config, auto = lane
    default, chosen = asdict(DecodeConfig()), asdict(config)
    known = [name for name in FIELDS if name in chosen and not (auto and name in CHOSEN)]
    changed = {name: str(chosen[name]) for name in known if chosen[name] != default[name]}
    budget = {"budget": AUTO if auto else str(config.budget)}
    own = {OWN: text} if (text := own_text(config)) else {}
    plain = {METHOD: PLAIN} if lane.method == PLAIN else {}
    return {"prompt": prompt, "system": system} | budget | changed | own | plain


def from_query(query: Mapping[str, str]) -> Asked:
    """What ``to_query`` wrote; a broken address says what is wrong and keeps what is right."""
    if "prompt" not in query:
        return Asked(run=query.get("run", ""))
    prompt, system = query["prompt"][:MAX_PROMPT_CHARACTERS], query.get("system", names()[0])
    try:
        find(system)
        given, auto = without_auto(query)
        auto = auto or given.keys().isdisjoint(CHOSEN)
        return Asked("", prompt, system, _lane(given, usual(system) if auto else {}, auto))
    except ValueError as error:
        return Asked(
            prompt=prompt, system=names()[0], problem=f"The link's settings were left out: {error}."
        )


def _lane(query: Mapping[str, str], known: Mapping[str, Any], auto: bool) -> Lane:
    """The method and settings of an address; ``known`` are not asked of it."""
    method = check_method(query.get(METHOD, "presto"))
    values = dict(zip(FIELDS, values_of(DecodeConfig(), auto, method), strict=True))
    values |= METHODS[method] | dict(known)
    for name in FIELDS:
        if name in query and name not in (AUTO, METHOD):
            values[name] = _value(name, query[name], values[name])
    return lane_of(list(values.values()))


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
