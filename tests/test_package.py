"""The wheel: what is in it, what it says of itself, and that it decodes from another folder.

The environment it is installed into sees the packages of the one that runs the tests, so that
nothing is fetched; ``pip install .`` with all dependencies is tried by hand.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from presto.paths import ASSETS, assets_of, cache_folder
from presto.version import __version__

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = (".git", ".venv", ".hypothesis", ".*_cache", "__pycache__")  # of a copy of the clone
BUNDLED = ("curves", "models", "ngram", "runs")  # the assets that the engine reads


def run(*command: str | Path, cwd: Path, **settings: str) -> str:
    """Standard output of a command that succeeds."""
    result = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=os.environ | settings,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def pip(*arguments: str | Path, cwd: Path) -> None:
    """The running environment's pip, which asks no index."""
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", *arguments, *offline, cwd=cwd)


def files(folder: Path) -> set[str]:
    """Every file under a folder as a relative path, without compiled Python."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the working tree with what an earlier build by another tool may have left."""
    copy = tmp_path_factory.mktemp("clone") / "presto-explorer"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for stale in ("build/lib/presto/stale.py", "presto/__pycache__/stale.cpython-311.pyc"):
        (copy / stale).parent.mkdir(parents=True, exist_ok=True)
        (copy / stale).touch()
    return copy


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from ``clone``, which the build leaves as it was."""
    out, before = tmp_path_factory.mktemp("wheel"), files(clone)
    pip("wheel", "--wheel-dir", out, ".", cwd=clone)
    assert files(clone) == before
    (built,) = out.iterdir()
    return built


def environment(folder: Path) -> Path:
    """Scripts' folder of a new environment that also sees the packages of the running one."""
    venv.create(folder, with_pip=False, symlinks=True)
    places = {"base": str(folder), "platbase": str(folder)}
    running = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    pth = Path(sysconfig.get_path("purelib", "venv", places), "running.pth")
    pth.write_text("\n".join(sorted(running)))
    return Path(sysconfig.get_path("scripts", "venv", places))


def assets_seen(scripts: Path, cwd: Path) -> Path:
    """Where the package that is installed in an environment finds its assets."""
    code = "from presto.paths import ASSETS; print(ASSETS)"
    return Path(run(scripts / "python", "-c", code, cwd=cwd).strip())


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_is_the_engine_with_its_assets(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        (licence,) = (name for name in archive.namelist() if name.endswith("licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    modules = {f"presto/{name}" for name in files(ROOT / "presto")}
    assets = {
        f"presto/assets/{folder}/{name}" for folder in BUNDLED for name in files(ASSETS / folder)
    }
    assert found == modules | assets


def test_the_metadata_is_complete(metadata: Message) -> None:
    assert (metadata["Name"], metadata["Version"]) == ("presto", __version__)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Provides-Extra") == ["mcp", "ray"]


def test_the_dependencies_are_those_of_requirements_txt(metadata: Message) -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = {Requirement(line) for line in lines if not line.startswith("#")}
    required = {Requirement(line) for line in metadata.get_all("Requires-Dist", [])}
    assert {one for one in required if one.marker is None} == listed
    assert {one.name for one in required if one.marker is not None} == {"gradio", "ray"}


@pytest.mark.weights
def test_an_installed_wheel_decodes_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    scripts, elsewhere = environment(tmp_path / "environment"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip("--python", scripts / "python", "install", wheel, cwd=elsewhere)
    assert assets_seen(scripts, elsewhere).is_relative_to(tmp_path / "environment")
    printed = run(
        scripts / "presto",
        *("decode", "Why is the sky blue?", "--max-new-tokens", "4", "--json"),
        cwd=elsewhere,
        PRESTO_CACHE=str(cache_folder()),
        # In a new place the kernels would be compiled anew, which takes 20 seconds.
        NUMBA_DISABLE_JIT="1",
        OMP_NUM_THREADS="1",
    )
    assert len(json.loads(printed)["token_ids"]) == 4
    assert json.loads(printed)["text"].strip()
    assert not list(elsewhere.iterdir())


def test_an_editable_install_is_the_clone(clone: Path, tmp_path: Path) -> None:
    scripts, before = environment(tmp_path / "environment"), files(clone)
    pip("--python", scripts / "python", "install", "--editable", clone, cwd=tmp_path)
    assert assets_seen(scripts, tmp_path) == clone / "assets"
    assert "Usage: presto" in run(scripts / "presto", "--help", cwd=tmp_path)
    assert files(clone) == before


def test_assets_are_looked_for_inside_the_package_first(tmp_path: Path) -> None:
    package = tmp_path / "presto"
    (tmp_path / "assets").mkdir()
    assert assets_of(package) == tmp_path / "assets"
    (package / "assets").mkdir(parents=True)
    assert assets_of(package) == package / "assets"
