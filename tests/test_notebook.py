"""The notebook: every cell runs, and nothing is stored of a run but small pictures."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "first_steps.ipynb"
CELLS: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]
LARGEST = 40_000  # bytes of a picture


@pytest.mark.weights
def test_every_cell_runs() -> None:
    """In a process of its own: it registers a scorer."""
    script = "\n".join("".join(cell["source"]) for cell in CODE)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=NOTEBOOK.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "The same text, in 48 passes" in done.stdout
    assert "tokens a round when it is decoded for real" in done.stdout
    assert done.stderr == ""


def test_it_stores_small_pictures_alone() -> None:
    pictures = []
    for cell in CODE:
        assert cell["execution_count"] is None
        for output in cell["outputs"]:
            assert output["data"].keys() == {"image/png"}
            pictures.append(base64.b64decode(output["data"]["image/png"]))
    assert len(pictures) == 2
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert max(map(len, pictures)) < LARGEST


def test_what_it_links_to_is_there() -> None:
    text = "".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
    names = [part.split(")")[0] for part in text.split("](")[1:]]
    assert names
    assert all((NOTEBOOK.parent / name).is_file() for name in names)
