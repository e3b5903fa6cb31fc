"""Rooms stand on floors, and README's Layout names every module."""

from pathlib import Path

import pytest

from tests.layout import ROOT, arrows, broken, floors, imports, modules, named, room_of, unnamed

STACK = [["low"], ["left", "right"], ["high"]]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_no_room_imports_a_higher_floor() -> None:
    stack = floors()
    found = arrows(modules(), [room for level in stack for room in level])
    assert found["presto.decoding"] >= {"presto.kernels", "presto.records"}
    assert broken(found, stack) == []


def test_the_layout_names_every_module_and_no_other() -> None:
    assert unnamed(README, modules()) == []


@pytest.mark.parametrize(
    ("extra", "sentences"),
    [
        ({}, 0),
        ({"low": {"high"}}, 2),  # the import, and the circle it closes
        ({"left": {"right"}}, 1),
    ],
)
def test_a_wrong_import_is_told(extra: dict[str, set[str]], sentences: int) -> None:
    right = {"low": set(), "left": {"low"}, "right": {"low"}, "high": {"left", "low"}}
    assert len(broken(right | extra, STACK)) == sentences


def test_imports_inside_functions_count(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import os\nfrom presto import paths\ndef late():\n    from presto.records import Trace\n"
    )
    assert imports(tmp_path / "one.py", modules()) == {"presto.paths", "presto.records"}


def test_a_module_without_a_room_is_refused() -> None:
    rooms = ["presto.models", "presto.face"]
    assert room_of("presto.models.lora", rooms) == "presto.models"
    assert room_of("presto", rooms) == "presto.face"
    with pytest.raises(ValueError, match=r"presto\.attic is in no room"):
        room_of("presto.attic", rooms)


def test_a_forgotten_and_an_invented_module_are_told() -> None:
    edited = README.replace("    lora.py  ", "    lore.py  ")
    assert unnamed(edited, modules()) == [
        "README's Layout does not name presto/models/lora.py",
        "README's Layout names presto/models/lore.py, which is not there",
    ]


def test_folders_and_continued_lines_are_understood() -> None:
    lines = ("a.py  one", "b/    two", "  c.py, d.py  three", "          e.py goes on", "f.py  g")
    text = "\n".join(("## Layout", "```", *lines, "```"))
    assert named(text) == {"a.py", "b/c.py", "b/d.py", "f.py"}
