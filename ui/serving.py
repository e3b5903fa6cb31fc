"""The one seam for where runs happen: on a thread of this process, on a GPU that ZeroGPU lends, or
on the replicas of a Ray cluster.

Everything else of the page knows nothing of it: limits, the line, Stop and the words for errors are
the same at all three places.
"""

from collections.abc import Generator, Sequence

from ui import local, remote, zero
from ui.lanes import Lane, Update, Waiting


def at_once() -> int:
    """How many runs may be under way at once: there is one device, or a replica each."""
    return remote.at_once() if remote.is_active() else 1


def load_ahead(pairs: Sequence[str]) -> None:
    """Load pairs before anybody asks for them; on ZeroGPU and on a cluster that is done already."""
    if not zero.ACTIVE and not remote.is_active():
        local.load_ahead(pairs)


def decode_lanes(system: str, prompt: str, lanes: Sequence[Lane]) -> Generator[Update, None, None]:
    """Decode the lanes one after another. Closing the generator ends the run and frees its device
    after the round in progress, and so does a visitor who never listens.

    ``ValueError``, ``WeightsError`` and ``ServingError`` say in one sentence why a run cannot go
    on.
    """
    if zero.ACTIVE:
        yield Waiting("Waiting for a GPU…")
        yield from zero.decode_lanes(system, prompt, lanes)
    elif remote.is_active():
        yield from remote.decode_lanes(system, prompt, lanes)
    else:
        yield from local.decode_lanes(system, prompt, lanes)
