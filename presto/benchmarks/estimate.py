"""What a round should cost on a GPU: kernels counted, bytes and products worked out.

    python -m presto.benchmarks.estimate [--budget 128] [--keys 740]

Kernels are counted in a round of a pair with the true number of layers and narrow ones: their
number does not depend on the width. Bytes and products follow from the true sizes. What a kernel
call, a kernel and a byte cost is assumed (``Gpu``) until a GPU is measured: docs/gpu.md.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import torch
import typer

from presto.benchmarks.kernels import Kernels
from presto.benchmarks.random_pairs import (
    NEMOTRON_8B,
    QWEN_8B,
    Sizes,
    dflash_pair,
    nemotron_pair,
)
from presto.decoding.loop import Run
from presto.models.dflash import DFlashSystem
from presto.models.fused import prepare
from presto.models.target import TargetSystem
from presto.records import DecodeConfig
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import config_for

STAGES = ("draft", "plan", "verify", "commit", "decide")
SEARCH = 0.9  # milliseconds on the host: `presto+` at B = 128 on a slow core, by `make bench`
NARROW: dict[str, Any] = {
    **{"hidden": 32, "inner": 48, "heads": 4, "groups": 2, "head_dim": 8},
    **{"vocab": 96, "mask": 95},
}
PAIRS: dict[str, tuple[Sizes, Callable[..., TargetSystem]]] = {
    "dflash": (QWEN_8B, dflash_pair),
    "nemotron": (NEMOTRON_8B, nemotron_pair),
}
CPU, SMALL = torch.device("cpu"), 2  # bytes of a bfloat16 number


@dataclass(frozen=True)
class Gpu:
    """Assumptions. ``call``: microseconds in which Python asks for a kernel; ``kernel``:
    microseconds between two kernels of a recorded pass; bytes and products per second as far as
    passes of this shape reach them.
    """

    name: str = "H200"
    call: float = 8.0
    kernel: float = 1.2
    bandwidth: float = 0.75 * 4.8e12
    products: float = 0.45 * 989e12


class Launches(NamedTuple):
    """Kernels of a stage: within the networks' layers, which can be recorded, and around them."""

    inside: int
    around: int


class Work(NamedTuple):
    """What a stage reads and writes, and its multiplications with additions."""

    bytes: float
    products: float


class Estimate(NamedTuple):
    """Milliseconds of a stage, as it is called from Python and with its passes recorded."""

    launches: Launches
    eager: float
    recorded: float


def narrow(sizes: Sizes) -> Sizes:
    """The same layers, so narrow that a CPU computes them at once."""
    return replace(sizes, **NARROW, rank=min(sizes.rank, 4))


def counted(system: TargetSystem, config: DecodeConfig) -> dict[str, Launches]:
    """The kernels of every stage of a round that drafts in full."""
    kernels, found = Kernels(), dict.fromkeys(STAGES, (0, 0))
    run = Run.begin(system, list(range(2, 30)), config)
    run.draft_round()
    within = [0]

    def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any) -> Any:
            before, inside = kernels.count, within[0]
            result = call(*args)
            all_, layers = kernels.count - before, within[0] - inside
            found[name] = (layers, all_ - layers)
            return result

        return wrapped

    for name in ("draft", "plan", "verify", "commit"):
        setattr(run.session, name, timed(name, getattr(run.session, name)))
    with _hooked(system, kernels, within), kernels:
        before = kernels.count
        run.draft_round()
        others = sum(map(sum, found.values()))
        found["decide"] = (0, kernels.count - before - others)
    return {name: Launches(*pair) for name, pair in found.items()}


@contextmanager
def _hooked(system: TargetSystem, kernels: Kernels, within: list[int]) -> Iterator[None]:
    """Within the block ``within`` adds up the kernels of the networks' layers."""
    networks = [system.backbone.decoder]
    networks += [system.drafter] if isinstance(system, DFlashSystem) else []
    began = list[int]()
    handles = []
    for network in networks:
        handles.append(network.register_forward_pre_hook(lambda *_: began.append(kernels.count)))
        handles.append(
            network.register_forward_hook(
                lambda *_: within.__setitem__(0, within[0] + kernels.count - began.pop())
            )
        )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _pass(sizes: Sizes, layers: int, rows: int, keys: int) -> Work:
    """So many layers over ``rows``, each seeing ``keys`` positions, and the head."""
    heads, groups = sizes.heads * sizes.head_dim, sizes.groups * sizes.head_dim
    layer = sizes.hidden * (2 * heads + 2 * groups) + 3 * sizes.hidden * sizes.inner
    weights = layers * layer + sizes.hidden * sizes.vocab
    cache, seen = 2 * layers * keys * groups, 2 * layers * rows * keys * heads
    return Work(SMALL * (weights + cache + 2 * rows * sizes.vocab), rows * weights + seen)


def work(sizes: Sizes, budget: int, length: int, keys: int) -> dict[str, Work]:
    """Bytes and products of every stage; ``keys`` are the committed positions."""
    rows = budget + 1
    layers = sizes.drafter_layers or sizes.layers
    logits = SMALL * rows * sizes.vocab
    return {
        "draft": _pass(sizes, layers, length + 1, keys + length + 1),
        "plan": Work(rows * (keys + rows), 0),
        "verify": _pass(sizes, sizes.layers, rows, keys + rows),
        "commit": Work(4 * SMALL * sizes.layers * 16 * sizes.groups * sizes.head_dim, 0),
        "decide": Work(3 * logits, 0),
    }


def estimate(launches: Launches, asked: Work, gpu: Gpu) -> Estimate:
    """A stage's milliseconds. The host and the device work side by side: the slower one counts."""
    busy = 1e6 * max(asked.bytes / gpu.bandwidth, 2 * asked.products / gpu.products)
    eager = max(gpu.call * sum(launches), busy)
    host = gpu.call * launches.around
    recorded = max(host, busy + gpu.kernel * (launches.inside + launches.around))
    return Estimate(launches, eager / 1e3, recorded / 1e3)


def round_of(kind: str, budget: int, keys: int, gpu: Gpu | None = None) -> dict[str, Estimate]:
    """Every stage of a round of Qwen3-8B with DFlash (``dflash``) or Nemotron-8B
    (``nemotron``).
    """
    gpu = gpu or Gpu()
    sizes, build = PAIRS[kind]
    torch.manual_seed(0)
    system = build(narrow(sizes), CPU, torch.float32)
    prepare(system.networks)
    system.backbone.shapes = "padded"
    length = min(31, system.max_draft)
    config = DecodeConfig(budget=budget, draft_length=length, max_new_tokens=256)
    kernels = counted(system, config_for("presto", config))
    asked = work(sizes, budget, length, keys)
    return {name: estimate(kernels[name], asked[name], gpu) for name in STAGES}


def table(stages: dict[str, Estimate]) -> str:
    """For people."""
    lines = ["stage     kernels in layers   around   ms from Python   ms recorded"]
    for name, one in stages.items():
        inside, around = one.launches
        lines.append(f"{name:9} {inside:17,} {around:8,} {one.eager:16.2f} {one.recorded:13.2f}")
    lines.append(f"search (host) {SEARCH:39.2f} {SEARCH:13.2f}")
    eager, recorded = (
        sum(getattr(one, part) for one in stages.values()) + SEARCH
        for part in ("eager", "recorded")
    )
    return "\n".join([*lines, f"round {eager:47.2f} {recorded:13.2f}"])


def main(
    budget: Annotated[int, typer.Option(help="Nodes of the tree.")] = 128,
    keys: Annotated[int, typer.Option(help="Committed positions.")] = 740,
) -> None:
    """Print the estimated round of both public pairs."""
    for kind in PAIRS:
        print(f"{kind}, budget {budget}, {keys:,} keys, {Gpu()}")
        print(table(round_of(kind, budget, keys)), end="\n\n")


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
