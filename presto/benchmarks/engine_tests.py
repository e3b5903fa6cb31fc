"""The engine's property tests on one device, within a time."""

import subprocess
import sys
from pathlib import Path
from typing import Any

FILES = ("lossless", "tree_attention", "quadratic", "nemotron", "dflash", "fixed")


def run_tests(device: str, seconds: float) -> dict[str, Any]:
    """``passed`` is ``None`` if they did not end in time; they need pytest and hypothesis."""
    folder = Path(__file__).resolve().parents[2]
    names = [f"tests/test_{name}.py" for name in FILES]
    # A warning of a GPU's libraries is no failure of the engine.
    command = [sys.executable, "-m", "pytest", "-W", "default", "-k", device, *names]
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            timeout=seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"passed": None, "summary": f"did not end within {seconds:.0f} s", "failures": []}
    lines = [line for line in (result.stderr + result.stdout).splitlines() if line.strip()]
    failures = [line for line in lines if line.startswith("FAILED")]
    return {"passed": result.returncode == 0, "summary": lines[-1], "failures": failures}
