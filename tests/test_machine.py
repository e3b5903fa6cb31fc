"""Which pairs run where, and fetching with a fake hub: disk, resuming, what is here already."""

import json
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.errors import DryRunError, GatedRepoError, LocalEntryNotFoundError

from presto.models import machine, sources
from presto.models.catalogue import EMBEDDED, PAIRS, WeightsError, find
from presto.models.machine import Machine, why_unavailable
from tests.support.checks import some
from ui.controls import pair_facts
from ui.limits import check_request

File = namedtuple("File", "file_size will_download")
REPO = "Qwen/Qwen3-8B"


class Hub:
    """A double of ``huggingface_hub.snapshot_download``: ``files`` are still to come, then
    ``folder`` is there.
    """

    def __init__(self, folder: Path, *files: File, error: Exception | None = None) -> None:
        self.folder, self.files, self.error = folder, files, error
        self.calls: list[dict[str, Any]] = []

    def __call__(self, repo: str, *, dry_run: bool = False, **wanted: Any) -> Any:
        self.calls.append({"repo": repo, "dry_run": dry_run, **wanted})
        if self.error is not None and (dry_run or not isinstance(self.error, DryRunError)):
            raise self.error
        return list(self.files) if dry_run else str(self.folder)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache under ``HF_HOME`` on a disk with 10 GB free."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    usage = namedtuple("usage", "total used free")(100, 90, 10_000_000_000)
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda place: usage if Path(place).exists() else pytest.fail("no folder"),
    )
    return tmp_path


def test_too_little_disk_is_refused_before_a_byte_is_loaded(
    monkeypatch: pytest.MonkeyPatch, disk: Path
) -> None:
    hub = Hub(disk / "0abc", File(12_500_000_000, True), File(5_000_000_000, False))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub)
    with pytest.raises(
        WeightsError,
        match=r"could not be fetched: it needs 12\.5 GB more .*HF_HOME.* 10\.0 GB free\.$",
    ):
        sources.resolve(REPO)
    assert [call["dry_run"] for call in hub.calls] == [True]


def test_only_what_is_missing_counts_so_that_a_download_can_go_on(
    monkeypatch: pytest.MonkeyPatch, disk: Path
) -> None:
    hub = Hub(disk / "0abc", File(16_000_000_000, False), File(2_000_000_000, True))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub)
    assert sources.resolve(REPO, "v2").label == f"{REPO}@0abc"
    assert [call["revision"] for call in hub.calls] == ["v2", "v2"]


def test_without_the_hub_the_cache_is_used(monkeypatch: pytest.MonkeyPatch, disk: Path) -> None:
    hub = Hub(disk / "0abc", error=DryRunError("no connection"))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub)
    assert sources.resolve(REPO).folder == disk / "0abc"


def test_a_gated_repository_is_refused_before_a_byte_is_loaded(
    monkeypatch: pytest.MonkeyPatch, disk: Path
) -> None:
    hub = Hub(disk, error=GatedRepoError.__new__(GatedRepoError))
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub)
    with pytest.raises(WeightsError, match="accept the terms"):
        sources.resolve(REPO)
    assert len(hub.calls) == 1


def test_a_snapshot_is_here_when_all_its_weights_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", Hub(tmp_path))
    assert not sources.is_here(REPO)
    parts = ["model-1.safetensors", "model-2.safetensors"]
    (tmp_path / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": dict(zip("ab", parts, strict=True))})
    )
    (tmp_path / parts[0]).touch()
    assert not sources.is_here(REPO)
    (tmp_path / parts[1]).touch()
    assert sources.is_here(REPO)
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", Hub(tmp_path, error=LocalEntryNotFoundError("absent"))
    )
    assert not sources.is_here(REPO)
    assert sources.is_here(EMBEDDED)


@pytest.mark.parametrize(
    ("has", "said"),
    [
        (
            Machine(16, bfloat16=False),
            "it needs a GPU with 23 GB, or 46 GB of memory, and this machine has 16 GB and no",
        ),
        (
            Machine(30),
            "its weights are not here: fetch 18.5 GB with `python -m presto fetch qwen3-8b-dflash`",
        ),
        (Machine(15.8, "Tesla T4"), "it needs 23 GB of GPU memory, Tesla T4 has 16 GB"),
        (Machine(80, "H100"), "its weights are not here"),
    ],
)
def test_a_pair_that_cannot_run_says_why(
    monkeypatch: pytest.MonkeyPatch, has: Machine, said: str
) -> None:
    monkeypatch.setattr(machine, "is_here", lambda source: source == EMBEDDED)
    assert said in why_unavailable(find("qwen3-8b-dflash"), has)


def test_embedded_pairs_run_anywhere() -> None:
    small = Machine(2, bfloat16=False)
    embedded = some(spec for spec in PAIRS.values() if spec.target == EMBEDDED)
    assert [spec.name for spec in embedded if why_unavailable(spec, small)] == []


def test_the_page_says_so_and_refuses_before_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "this_machine", lambda: Machine(8))
    assert pair_facts("smollm2-gated").startswith("runs here")
    assert pair_facts("nemotron-8b").startswith("cannot run here: it needs a GPU with 22 GB")
    with pytest.raises(
        ValueError, match=r"Nemotron-Labs-Diffusion-8B, .* cannot run here: it needs a GPU"
    ):
        check_request("hello", "nemotron-8b", ())


def test_a_gpu_is_known_by_its_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA L4, 23034'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(machine, "version", lambda name: "2.9.0+cu128")
    found = machine._gpu()
    assert found is not None
    assert (found.gpu, round(found.gigabytes)) == ("NVIDIA L4", 24)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine._gpu() is None
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(machine, "version", lambda name: "2.9.0+cpu")
    assert machine._gpu() is None
