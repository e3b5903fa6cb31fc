"""The dependencies of the package, read from requirements.txt when it is built: no second list."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """The lines of requirements.txt as the package's dependencies."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "requirements.txt").read_text(encoding="utf-8")
        lines = (line.strip() for line in text.splitlines())
        metadata["dependencies"] = [line for line in lines if line and not line.startswith("#")]
