"""300 broken inputs of every kind; ``python -m tests.fuzz`` runs more of them."""

import subprocess
import sys

from tests.fuzz.kinds import FILES, REQUESTS


def test_no_broken_input_is_answered_wrongly() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--cases", "300"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*FILES, *REQUESTS]
    for line in lines:
        kind, answered, _, refused, *_ = line.split()
        assert int(answered) + int(refused) == 300, line
        assert int(refused) > 9, line
        assert int(answered) > 9 or kind == "gguf", line  # only the true file has its digest
