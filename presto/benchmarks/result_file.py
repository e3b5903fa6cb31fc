"""The file that a bench leaves, and the one beside it while the bench is under way."""

import json
from pathlib import Path
from typing import Any

from presto.benchmarks.results import BenchResult, parse_result
from presto.records.writing import check_output, write_whole


def content(result: dict[str, Any]) -> bytes:
    """A result file's bytes."""
    return json.dumps(result, indent=1).encode() + b"\n"


class ResultFile:
    """The file of a bench, and the one beside it that holds what is measured until it is over.

    ``ValueError`` if it could not be written, or if an unfinished one would be lost.
    """

    def __init__(self, path: Path | None, resume: bool) -> None:
        if resume and path is None:
            raise ValueError("--resume needs --json: the file of the bench to go on with")
        self.path = None if path is None else check_output(path)
        self.partial = None if path is None else path.with_name(f"{path.stem}.partial.json")
        self.resume = resume
        if self.partial is not None and self.partial.exists() and not resume:
            raise ValueError(
                f"{self.partial} holds a bench that was stopped: add --resume to go on with it, or "
                "delete it"
            )

    def begun(self) -> tuple[BenchResult, Path] | None:
        """What is to be gone on with, and where it lies, if that was asked for and there is any."""
        for path in (self.partial, self.path) if self.resume else ():
            if path is not None and path.is_file():
                return parse_result(path.read_text(encoding="utf-8")), path
        return None

    def write(self, result: dict[str, Any]) -> None:
        """Write the unfinished file, or the finished one in its place."""
        if self.path is None or self.partial is None:
            return
        write_whole(self.path if result["complete"] else self.partial, content(result))
        if result["complete"]:
            self.partial.unlink(missing_ok=True)
