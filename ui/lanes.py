"""What a visitor wants decoded, and what is told while it is."""

from typing import NamedTuple

from presto.records import DecodeConfig, Method
from presto.runs.events import RunEvent


class Lane(NamedTuple):
    """One decoding of the prompt."""

    method: Method
    config: DecodeConfig


class LaneEvent(NamedTuple):
    """What the run of lane number ``lane`` has told."""

    lane: int
    event: RunEvent


class Waiting(NamedTuple):
    """Nothing to show yet; ``message`` says in a sentence for what."""

    message: str


Update = LaneEvent | Waiting
