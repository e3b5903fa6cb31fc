"""What one request may ask of this server; the page and the endpoints refuse the same things in the
same words.

The ranges of ``DecodeConfig`` bound each setting, these limits bound their product. Environment
variables change them, so that a Space with two CPU cores can be stricter than one with a GPU.
"""

from collections.abc import Sequence

from presto.models import machine
from presto.models.catalogue import PairSpec, find
from presto.runs.budget import Shape, largest
from presto.runs.requests import check_prompt, config_for
from presto.searches import SEARCHES
from ui import remote, zero
from ui.environment import limit
from ui.lanes import Lane

MAX_LANES = 4
# visitors remembered, those who left included (Gradio keeps about 0.25 MB of each for an hour)
SESSIONS = 256
# "Explore" (two lanes) may ask for the largest tree over 1,024 tokens, or for the longest output
# with the usual trees; four lanes at the ends of their ranges are too much for one visitor.
MAX_WORK = 2 * 1024 * 1024


def max_work() -> int:
    """Most tokens × nodes, summed over the lanes, of one request: ``PRESTO_MAX_WORK``."""
    return limit("PRESTO_MAX_WORK", MAX_WORK)


def work(lane: Lane, system: str) -> int:
    """Tokens × nodes of a lane; a single path has as many nodes as positions, plain decoding only
    the root. Where the budget is chosen later it counts as the largest that may be chosen.
    """
    config = config_for(lane.method, lane.config)
    own = Shape(config.budget, config.draft_length)
    shape = largest(system, config) if lane.auto else own
    path = SEARCHES.find(config.search).single_path
    nodes = 1 if lane.method == "ar" else shape.draft_length if path else shape.budget
    return config.max_new_tokens * nodes


def why_unavailable(spec: PairSpec) -> str:
    """Why a pair cannot run here, as the end of a sentence; empty if it can."""
    if zero.ACTIVE:
        return zero.why_unavailable(spec)
    if remote.is_active():
        return remote.why_unavailable(spec)
    return machine.why_unavailable(spec)


def check_request(prompt: object, system: object, lanes: Sequence[Lane]) -> None:
    """Refuse what cannot or may not run, with one sentence as ``ValueError``, before any model
    call.
    """
    check_prompt(prompt)
    spec = find(system)  # type: ignore[arg-type]
    problem = why_unavailable(spec)
    if problem:
        raise ValueError(f"{spec.title} cannot run here: {problem}")
    if len(lanes) > MAX_LANES:
        raise ValueError(f"{len(lanes)} lanes were asked for, at most {MAX_LANES} are allowed")
    asked, allowed = sum(work(lane, spec.name) for lane in lanes), max_work()
    if asked > allowed:
        raise ValueError(
            f"the request asks for {asked:,} tokens × nodes over {len(lanes)} lanes, at most "
            f"{allowed:,} are allowed: {_remedy(lanes)}"
        )


def _remedy(lanes: Sequence[Lane]) -> str:
    if any(lane.auto for lane in lanes):
        return "turn auto off and set a small budget, or ask for fewer new tokens or lanes"
    return "lower the budget, the number of new tokens or the number of lanes"
