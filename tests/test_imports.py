"""Importing any module needs no GPU, no weights, no package that exists for CUDA only, no Ray."""

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import presto
import ui
import viz
from tests.support.checks import some

ABSENT = (  # packages that exist for CUDA only, and the optional one
    "triton",
    "flash_attn",
    "bitsandbytes",
    "xformers",
    "cupy",
    "pynvml",
    "tensorrt",
    "apex",
    "deepspeed",
    "ray",
)


def test_what_tests_share_lives_in_their_support() -> None:
    found = [
        f"{path.name}: {line}"
        for path in some(Path(__file__).parent.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"from tests\.(e2e\.|e2e import|.*test_|.*conftest)", line)
    ]
    assert found == []


def test_no_module_imports_a_cuda_package() -> None:
    packages = (presto, viz, ui)
    found = [m.name for p in packages for m in pkgutil.walk_packages(p.__path__, f"{p.__name__}.")]
    modules = sorted(name for name in found if not name.endswith("__main__"))
    assert len(modules) > 60
    code = f"""
import importlib, sys
for name in {ABSENT}:
    sys.modules[name] = None
for name in {modules}:
    importlib.import_module(name)
import torch
assert not torch.cuda.is_initialized()
"""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 0, result.stderr
