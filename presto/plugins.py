"""Scorers and searches from files: ``--plugin FILE.py`` and ``PRESTO_PLUGINS``.

Running such a file registers what it decorates with ``@presto.scorer`` and ``@presto.search``.
Installed packages need none of this: their entry points are found by the registries.
"""

import os
import runpy
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "PRESTO_PLUGINS"  # files, separated as in PATH
OPTION = "--plugin"
_loaded: list[Path] = []


def loaded() -> tuple[Path, ...]:
    """The files that were run, whole paths in their order: another process may run them too."""
    return tuple(_loaded)


def load_plugin(path: Path) -> None:
    """Run a plugin's file. ``ValueError`` in one sentence if it is not there or fails."""
    if not path.is_file():
        raise ValueError(f"no such plugin file: {path}")
    try:
        runpy.run_path(str(path), run_name=f"presto_plugin_{path.stem}")
    except Exception as error:
        raise ValueError(f"the plugin {path} failed: {type(error).__name__}: {error}") from error
    _loaded.append(path.resolve())


def load_named() -> None:
    """Run the plugins that the environment names."""
    for name in os.environ.get(VARIABLE, "").split(os.pathsep):
        if name:
            load_plugin(Path(name))


def take_options(arguments: Sequence[str]) -> list[str]:
    """Run the plugins named by ``--plugin FILE`` options; returns the other arguments.

    Plugins are loaded before the options are made, so that ``--help`` lists what they bring.
    """
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        option, equals, value = argument.partition("=")
        if option != OPTION:
            rest.append(argument)
        elif path := value if equals else next(waiting, ""):
            load_plugin(Path(path))
        else:
            raise ValueError(f"{OPTION} needs a file: {OPTION} FILE.py")
    return rest
