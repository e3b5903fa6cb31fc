"""A visitor's claim on the model: which of their runs is wanted. Plain numbers, so that it can live
in the page's session state.
"""

from dataclasses import dataclass


@dataclass
class RunTicket:
    """At most one run of a visitor is wanted; one that no longer is ends itself at its next round.

    (Cancelling from outside instead lets late messages through and, in Gradio 6.31, can fail with a
    KeyError.)
    """

    begun: int = 0
    wanted: int | None = None
    stopped: int | None = None  # the run that the visitor ended with Stop
    shown: str = ""  # the key of the finished run on the page, where that can be replayed

    def begin(self) -> int:
        """A new run, wanted instead of any other; returns its number."""
        self.begun += 1
        self.wanted = self.begun
        return self.begun

    def stop(self) -> None:
        """The visitor pressed Stop."""
        self.stopped, self.wanted = self.wanted, None

    def leave(self) -> None:
        """The visitor turned to something else."""
        self.wanted = None

    def end(self, number: int) -> None:
        """Run ``number`` is over."""
        if self.wanted == number:
            self.wanted = None
