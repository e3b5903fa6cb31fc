"""What a visitor wants decoded, and what is told while it is."""

from typing import NamedTuple

from presto.records import DecodeConfig, Method
from presto.runs.events import DeviceMeasured, RunEvent, RunStarted

MEASURING = "Measuring once what passes cost on this device, for the budget: a second or two…"


class Lane(NamedTuple):
    """One decoding of the prompt. ``auto``: budget and draft length are chosen for the device."""

    method: Method
    config: DecodeConfig
    auto: bool = False

    def after(self, event: RunEvent | DeviceMeasured) -> "Lane":
        """The lane when its run has told ``event``: at the start, what was chosen is known."""
        began = self.auto and isinstance(event, RunStarted)
        return Lane(self.method, event.head.config) if began else self  # type: ignore[union-attr]


class LaneEvent(NamedTuple):
    """What the run of lane number ``lane`` has told."""

    lane: int
    event: RunEvent


class Waiting(NamedTuple):
    """Nothing to show yet; ``message`` says in a sentence for what."""

    message: str


Update = LaneEvent | Waiting


def told(lane: int, event: RunEvent | DeviceMeasured) -> Update:
    """What a lane's run has told, for the visitor."""
    return Waiting(MEASURING) if isinstance(event, DeviceMeasured) else LaneEvent(lane, event)
