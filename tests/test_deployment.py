"""What a deployment reads: the Space's front matter and the Dockerfile, held against the project
itself.
"""

import re
import shlex
import shutil
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import pytest
import yaml
from gradio_client import Client
from huggingface_hub import SpaceHardware
from packaging.requirements import Requirement
from packaging.version import Version

from presto.build import warm_up
from presto.models.catalogue import EMBEDDED, PAIRS
from presto.paths import cache_folder
from tests.support.checks import some
from tests.support.server import APP, served

ROOT = APP.parent
LEFT_OUT = "smoothing.unigrams-"  # one kernel among those compiled beforehand
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")


@pytest.fixture(scope="module")
def front() -> dict[str, Any]:
    _, block, _ = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return dict(yaml.safe_load(block))


def requirement(name: str) -> Requirement:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(Requirement(line) for line in lines if re.match(rf"{name}\b", line))


def test_the_space_runs_what_the_project_requires(front: dict[str, Any]) -> None:
    assert front["sdk"] == "gradio"
    assert front["sdk_version"] in requirement("gradio").specifier
    assert Version(front["sdk_version"]) <= Version(version("gradio")), (
        "a version that exists, and that is tested"
    )
    assert front["python_version"] == "3.12"
    assert (ROOT / front["app_file"]).is_file()
    assert front["suggested_hardware"] in {hardware.value for hardware in SpaceHardware}
    for torch in ("2.8.0", "2.11.0"):  # oldest and newest on ZeroGPU
        assert torch in requirement("torch").specifier


def test_a_page_without_models_requires_the_same_without_torch() -> None:
    def lines(name: str) -> set[str]:
        return {
            line
            for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
            if not line.startswith("#")
        }

    page, whole = lines("requirements-page.txt"), lines("requirements.txt")
    left_out = {Requirement(line).name for line in whole - page}
    assert left_out == {"torch", "transformers", "accelerate", "gguf", "tokenizers"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert page - whole == set(extras["optional-dependencies"]["ray"])
    assert page - whole <= lines("requirements-dev.txt")


def test_the_space_card_is_complete(front: dict[str, Any]) -> None:
    assert len(front["short_description"]) <= 60
    assert "arxiv:2607.22634" in front["tags"]
    hub = {source for spec in PAIRS.values() for source in (spec.target, spec.drafter)}
    assert {source for source in hub if source != EMBEDDED and source.count("/") == 1} <= set(
        front["models"]
    )


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    local = some(link for link in links if "://" not in link)
    assert [link for link in local if not (ROOT / link).is_file()] == []


def steps(lines: list[str]) -> list[list[str]]:
    """What Python is asked to do, one command after another, without flags that only choose how
    loud or cached.
    """
    quiet = {"--quiet", "--no-cache-dir", "--disable-pip-version-check"}
    commands = [shlex.split(line) for line in lines]
    starts = [
        next((i for i, word in enumerate(words) if re.search(r"python3?$", word)), None)
        for words in commands
    ]
    return [
        [word for word in words[start + 1 :] if word not in quiet]
        for words, start in zip(commands, starts, strict=True)
        if start is not None
    ]


def test_the_image_takes_the_steps_of_make_run() -> None:
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", "run", "BIN=.none/bin"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    run = [line.split("||")[-1].strip() for line in made.stdout.splitlines()]
    docker = [
        line.removeprefix("RUN ")
        for line in DOCKERFILE.splitlines()
        if re.match(r"RUN \S*python", line)
    ]
    (serve,) = re.findall(r"^CMD \[(.*)\]$", DOCKERFILE, flags=re.MULTILINE)
    expected = [[word.replace(".none", ".venv") for word in step] for step in steps(run)]
    assert steps([*docker, serve.replace(",", " ")]) == expected
    assert len(expected) == 4, "venv, install, fetch, serve"


def test_the_image_serves_without_privileges() -> None:
    assert "USER 1000" in DOCKERFILE
    copies = some(line for line in DOCKERFILE.splitlines() if line.startswith("COPY"))
    assert DOCKERFILE.rindex("USER 1000") < DOCKERFILE.index("COPY")
    assert [line for line in copies if "--chown=1000" not in line] == []
    assert "EXPOSE 7860" in DOCKERFILE
    assert "HEALTHCHECK" in DOCKERFILE
    assert [line for line in copies if not (ROOT / line.split()[2]).exists()] == []


def sources() -> set[tuple[str, int]]:
    """Every file that the app may read, with the time of its last change."""
    files = [
        path for folder in ("presto", "ui", "viz", "assets") for path in (ROOT / folder).rglob("*")
    ]
    return {
        (str(path), path.stat().st_mtime_ns) for path in (*files, *ROOT.iterdir()) if path.is_file()
    }


@pytest.mark.weights
def test_the_app_serves_with_a_read_only_root(tmp_path: Path) -> None:
    image = dict(
        word.split("=", 1)
        for word in re.search(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE).group(1).split()
    )  # type: ignore[union-attr]
    temporary = {
        name: value.replace("/tmp", str(tmp_path), 1)
        for name, value in image.items()
        if "/tmp" in value
    }
    assert temporary.keys() == {"HF_HOME", "GRADIO_TEMP_DIR", "NUMBA_CACHE_DIR"}
    settings = temporary | {
        "HOME": "/proc/none",  # not even root may write there
        "XDG_CACHE_HOME": "/proc/none",
        "PRESTO_CACHE": str(cache_folder()),
        "TMPDIR": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": image["PYTHONDONTWRITEBYTECODE"],
        "OMP_NUM_THREADS": "1",
    }
    warm_up()
    compiled, kept = Path(numba.config.CACHE_DIR), tmp_path / "numba"
    shutil.copytree(compiled, kept, ignore=shutil.ignore_patterns(f"{LEFT_OUT}*"))
    before = sources()
    with served(APP, tmp_path / "log", **settings) as url:
        client = Client(url, verbose=False)
        trace = client.predict("Hello!", "presto", "", {"max_new_tokens": 4}, api_name="/decode")
        client.close()
    assert trace["rounds"]
    assert sources() == before
    assert list(kept.rglob(f"{LEFT_OUT}*")), "what was not compiled yet is compiled and kept"
