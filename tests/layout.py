"""The rooms of the project: their size, what each imports, and whether the floors hold.

    python -m tests.layout

prints a line per room, highest floor first, and ends with exit code 1 and a sentence for each
import of a higher floor, each circle, and each module that README's Layout does not name or names
in vain. The floors are those of the contract "rooms stand on floors" in pyproject.toml, with app.py
above them; ``presto/__init__.py`` belongs to the room of the face.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACE, PAGE = "presto.face", "app"

Floors = Sequence[Sequence[str]]  # lowest first; rooms on one floor know nothing of each other
Arrows = Mapping[str, set[str]]  # of every room: the rooms that it imports


def floors() -> list[list[str]]:
    """Every floor's rooms, lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    between = [[room.strip() for room in layer.split("|")] for layer in reversed(layers)]
    return [*between, [PAGE]]


def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    paths = [path for folder in ("presto", "viz", "ui") for path in (ROOT / folder).rglob("*.py")]
    named = {path.relative_to(ROOT).with_suffix(""): path for path in sorted(paths)}
    return {
        PAGE: ROOT / "app.py",
        **{".".join(name.parts).removesuffix(".__init__"): path for name, path in named.items()},
    }


def room_of(module: str, rooms: Sequence[str]) -> str:
    """The room a module is in: the longest of ``rooms`` that begins its name.

    ``ValueError`` for a module that is in none.
    """
    if module == "presto":
        return FACE
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    room = next((name for name in names if name in rooms), None)
    if room is None:
        raise ValueError(f"{module} is in no room: rooms are {', '.join(rooms)}")
    return room


def imports(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of the project that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= inner & known.keys() or {node.module or ""}
    return found & known.keys()


def arrows(known: Mapping[str, Path], rooms: Sequence[str]) -> dict[str, set[str]]:
    """Of every room: the other rooms that it imports."""
    result: dict[str, set[str]] = {room: set() for room in rooms}
    for module, path in known.items():
        room = room_of(module, rooms)
        result[room] |= {room_of(name, rooms) for name in imports(path, known)} - {room}
    return result


def broken(found: Arrows, stack: Floors) -> list[str]:
    """A sentence for each import of a room that is not on a lower floor, and for a circle."""
    floor = {room: number for number, rooms in enumerate(stack) for room in rooms}
    sentences = [
        f"{room} imports {other}, which is not on a lower floor"
        for room, others in found.items()
        for other in sorted(others)
        if floor[other] >= floor[room]
    ]
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        sentences.append(f"rooms import each other in a circle: {' ← '.join(error.args[1])}")
    return sentences


def named(readme: str) -> set[str]:
    """The Python files that README's Layout names, as paths.

    An entry is indented by two more columns than its folder: ``NAME[, NAME …]  what it is``. A line
    that is indented further goes on with the text before it.
    """
    block = readme.split("## Layout", 1)[1].split("```")[1]
    found, folders = set(), [""]
    for line in block.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.split(r" {2,}", line.strip(), maxsplit=1)[0].split(", ")
        if depth >= len(folders):
            continue
        folders[depth + 1 :] = [folders[depth] + name for name in names if name.endswith("/")]
        found |= {folders[depth] + name for name in names if name.endswith(".py")}
    return found


def unnamed(readme: str, known: Mapping[str, Path]) -> list[str]:
    """A sentence for each module that the Layout forgets (a folder's line stands for its
    ``__init__.py``) and for each it names that does not exist.
    """
    existing = {path.relative_to(ROOT).as_posix() for path in known.values()}
    expected = {path for path in existing if not path.endswith("__init__.py")}
    listed = named(readme)
    return [
        *(f"README's Layout does not name {path}" for path in sorted(expected - listed)),
        *(
            f"README's Layout names {path}, which is not there"
            for path in sorted(listed - existing)
        ),
    ]


def table(known: Mapping[str, Path], found: Arrows, stack: Floors) -> Iterator[str]:
    """A line per room, highest floor first."""
    rooms = list(found)
    yield f"{'floor':>5}  {'room':18} {'files':>5} {'lines':>6}  imports"
    for number, room in reversed([(n, room) for n, level in enumerate(stack) for room in level]):
        paths = [path for module, path in known.items() if room_of(module, rooms) == room]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        below = ", ".join(sorted(found[room])) or "nothing"
        yield f"{number:5}  {room:18} {len(paths):5} {lines:6}  {below}"


def main() -> int:
    """Print the table and what is wrong; the number of the latter is at most 1."""
    stack, known = floors(), modules()
    found = arrows(known, [room for level in stack for room in level])
    print("\n".join(table(known, found, stack)))
    wrong = broken(found, stack)
    wrong += unnamed((ROOT / "README.md").read_text(encoding="utf-8"), known)
    print("\n".join(wrong or ["no circle, no import of a higher floor, every module is in Layout"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
