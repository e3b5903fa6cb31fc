"""How far a run is, on a terminal: one line that is written over and cleared at the end."""

import sys
import time
from types import TracebackType
from typing import Self

from presto.runs.events import GrowingRun

PER_SECOND = 8


class Progress:
    """A line on standard error; nothing where that is no terminal."""

    def __init__(self, cap: int) -> None:
        self.cap, self.shown, self.next = cap, 0, 0.0
        self.terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.shown:
            self._write("")

    def tell(self, name: str, run: GrowingRun) -> None:
        """Show the run so far, not oftener than an eye can follow."""
        if not self.terminal or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + 1 / PER_SECOND
        sums = run.totals
        self._write(
            f"{name}: {sums.tokens} of at most {self.cap} tokens, {sums.rounds} rounds, "
            f"{sums.tokens_per_second:.1f} tokens/s"
        )

    def _write(self, line: str) -> None:
        print(f"\r{line}{' ' * (self.shown - len(line))}", end="", file=sys.stderr, flush=True)
        self.shown = len(line)
        if not line:
            print("\r", end="", file=sys.stderr, flush=True)
