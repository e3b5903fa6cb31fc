"""Options that several commands share: which pair decodes, and every setting of a run."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from presto.models.catalogue import PairSpec, find, names
from presto.records import DecodeConfig, Setting, quoted, settings
from presto.registry import Registry
from presto.runs.requests import AUTO, make_config, own_settings
from presto.scorers import SCORERS
from presto.searches import SEARCHES

if TYPE_CHECKING:
    from presto.models.registry import Pair

Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16 or auto.")]
REGISTRIES: dict[str, Registry[Any]] = {"scorer": SCORERS, "search": SEARCHES}
OWN = ("scorer_settings", "search_settings")  # given together, as --set
SET_HELP = "NAME=VALUE, a setting of the scorer's or the search's own; several times."


def _help(setting: Setting) -> str:
    parts = [setting.description.rstrip("."), setting.range]
    if setting.name == "budget":
        parts[-1] += f", or {AUTO}: what is fastest on this device, with the draft length"
    if setting.name in REGISTRIES:
        parts.append(", ".join(REGISTRIES[setting.name]))
    return ": ".join(part for part in parts if part) + "."


def _options() -> dict[str, tuple[Any, Any]]:
    """Type and default of every setting's option; ``None``: the pair has a default of its own."""
    made: dict[str, tuple[Any, Any]] = {}
    for setting in settings().values():
        if setting.name in OWN:
            continue
        kind: Any = setting.type
        default = setting.default
        if setting.name == "stop":
            kind, default = list[str] | None, None
        elif setting.name == "budget":
            kind, default = str | None, None
        elif setting.name == "draft_length":
            kind, default = int | None, None
        made[setting.name] = Annotated[kind, typer.Option(help=_help(setting))], default
    own = Annotated[list[str] | None, typer.Option("--set", help=SET_HELP)]
    return made | {"own": (own, None)}


def option_of(name: str) -> Any:
    """The option of one field of ``DecodeConfig``."""
    setting = settings()[name]
    return Annotated[setting.type, typer.Option(help=_help(setting))]


PAIR: dict[str, tuple[Any, Any]] = {  # option and default
    "system": (
        Annotated[str, typer.Option(help=f"Pair of target and drafter: {', '.join(names())}.")],
        names()[0],
    ),
    "target": (
        Annotated[Path | None, typer.Option(help="Folder of a target, instead of --system.")],
        None,
    ),
    "drafter": (Annotated[Path | None, typer.Option(help="Folder of its drafter.")], None),
    "mode": (Annotated[str, typer.Option(help="linear or quadratic, with --target.")], "linear"),
    "revision": (
        Annotated[str | None, typer.Option(help="Revision of the target on the hub.")],
        None,
    ),
    "dtype": (Dtype, "auto"),
}


@dataclass(frozen=True)
class PairChoice:
    """The pair a command was asked for; nothing is loaded before ``load``."""

    spec: PairSpec
    dtype: str
    revision: str | None

    def load(self) -> "Pair":
        from presto.models.registry import load

        return load(self.spec, self.dtype, self.revision)


def _choice(
    system: str,
    target: Path | None,
    drafter: Path | None,
    mode: str,
    revision: str | None,
    dtype: str,
) -> PairChoice:
    if target is None:
        if drafter is not None:
            raise ValueError(
                f"--drafter {drafter} needs --target: the folder of the model it drafts for"
            )
        return PairChoice(find(system), dtype, revision)
    from presto.models.registry import local_pair

    return PairChoice(local_pair(target, drafter, mode), dtype, None)


def _is_auto(given: dict[str, Any], usually: bool) -> bool:
    """Whether budget and draft length are to be chosen; a budget that is a number becomes one.

    ``usually``: also where neither is given.
    """
    text, own_length = given["budget"], given["draft_length"] is not None
    if text == AUTO:
        given["budget"] = None
        if own_length:
            raise ValueError(f"--budget {AUTO} chooses the draft length too: leave it out")
        return True
    try:
        given["budget"] = None if text is None else int(text)
    except ValueError:
        raise ValueError(f"budget must be a whole number or {AUTO}, got {quoted(text)}") from None
    return usually and text is None and not own_length


def _config(given: dict[str, Any], spec: PairSpec) -> DecodeConfig:
    """The settings as given on the command line, over the pair's usual ones."""
    own = own_settings(given.pop("own") or (), given["scorer"], given["search"])
    usual = {"stop": (), **spec.usual}
    chosen = given | {name: value for name, value in usual.items() if given[name] is None}
    return make_config(**chosen | {"stop": tuple(chosen["stop"])} | own)


def configurable(
    usually_auto: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command all options of ``PAIR`` and every setting of a run.

    It receives them as ``choice``, ``config`` and ``auto``: whether budget and draft length are to
    be chosen for this device, which ``usually_auto`` says of a command line that names neither.
    """
    return lambda command: _with_options(command, usually_auto)


def _with_options(command: Callable[..., None], usually_auto: bool) -> Callable[..., None]:
    options = _options()
    own = [
        p
        for p in inspect.signature(command).parameters.values()
        if p.name not in ("choice", "config", "auto")
    ]
    shared = [(name, default, kind) for name, (kind, default) in (PAIR | options).items()]

    def wrapped(**values: Any) -> None:
        choice = _choice(**{name: values.pop(name) for name in PAIR})
        given = {name: values.pop(name) for name in options}
        auto = _is_auto(given, usually_auto)
        command(choice=choice, config=_config(given, choice.spec), auto=auto, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [p.replace(kind=keyword) for p in own]
    parameters += [
        inspect.Parameter(name, keyword, default=value, annotation=kind)
        for name, value, kind in shared
    ]
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped
