"""What replicas and the page tell each other: plain records that can be pickled, without torch."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from presto.records import DecodeConfig, Method
from presto.runs.events import DeviceMeasured, RunEvent

Lane = tuple[Method, DecodeConfig, bool]  # one decoding; whether its budget is to be chosen
Lanes = Sequence[Lane]
Failure = Literal["refused", "memory", "fault"]


class Failed(NamedTuple):
    """Why a run cannot go on.

    ``refused``: the message is a sentence for the visitor; ``memory``: the replica's device has too
    little; ``fault``: the replica's log has the details.
    """

    failure: Failure
    message: str = ""


class Told(NamedTuple):
    """What lane number ``lane`` tells."""

    lane: int
    event: RunEvent | DeviceMeasured | Failed


class Facts(NamedTuple):
    """What a cluster serves: the most replicas of every pair, by the pair's name."""

    replicas: dict[str, int]
