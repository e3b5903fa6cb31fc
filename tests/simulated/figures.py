"""What the simulated device is asked for: ``python -m tests.simulated.figures``, as JSON.

Every kind of pair decodes the same text on the CPU and on the device, at T = 0 and at T = 0.8 with
top-p, over a prompt of several prefill slices, with free and with padded shapes; the quadratic
kinds outgrow their cache on the way. Both trainers take a step. Counted are, for a round in the
middle of a run, the launches and each wait of the host for the device.
"""

import tests.simulated.install as simulated

simulated.install()  # before the engine is imported

import json  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from tempfile import TemporaryDirectory  # noqa: E402
from typing import Any  # noqa: E402

import torch  # noqa: E402

from presto.decoding.loop import Run, autoregressive, decode  # noqa: E402
from presto.models import backbone  # noqa: E402
from presto.models.nemotron import NemotronSystem  # noqa: E402
from presto.models.quadratic import QuadraticGatedSystem, QuadraticNemotronSystem  # noqa: E402
from presto.models.target import TargetSystem  # noqa: E402
from presto.records import DecodeConfig  # noqa: E402
from presto.training.adapter import AdapterRecipe, AdapterTrainer  # noqa: E402
from presto.training.dflash import DFlashRecipe, DFlashTrainer  # noqa: E402
from tests.simulated.tensor import LOG, WrongDeviceError  # noqa: E402
from tests.support.dflash import tiny_dflash  # noqa: E402
from tests.support.doubles import CPU, tiny_gated, tiny_llama  # noqa: E402
from tests.support.nemotron import write_checkpoint  # noqa: E402
from tests.support.training import RECIPE, VOCAB, documents  # noqa: E402

DEVICE, SLICE = torch.device("cuda", 0), 8  # rows of a prefill slice: the prompt takes several
PROMPT = tuple(3 + i % 7 for i in range(2 * SLICE + 3))
PLAIN = DecodeConfig(max_new_tokens=20, budget=8, draft_length=5)
SAMPLED = DecodeConfig(max_new_tokens=20, budget=8, draft_length=5, temperature=0.8, top_p=0.9)
WARM = 1  # rounds before those that are counted


def kinds(folder: Path) -> dict[str, Callable[[torch.device], TargetSystem]]:
    """A tiny random pair of every kind."""
    write_checkpoint(folder)

    def quadratic(device: torch.device) -> TargetSystem:
        own = tiny_gated(6, device=device)
        return QuadraticGatedSystem("q", own.backbone, frozenset(), own.adapter, own.mask_embedding)

    return {
        "dflash": lambda device: tiny_dflash(device=device),
        "gated": lambda device: tiny_gated(6, device=device),
        "quadratic": quadratic,
        "nemotron": lambda device: NemotronSystem.load("n", folder, device, torch.float64),
        "nemotron-quadratic": lambda device: QuadraticNemotronSystem.load(
            "n", folder, device, torch.float64
        ),
    }


def text(system: TargetSystem, config: DecodeConfig, plain: bool = False) -> list[int]:
    """What a run writes, without an end."""
    system.eos_ids = frozenset()
    rounds = (autoregressive if plain else decode)(system, PROMPT, config)
    return [token for round_ in rounds for token in round_.committed]


def counted(system: TargetSystem, config: DecodeConfig) -> dict[str, Any]:
    """The most launches, waits and copies of a round."""
    run, launches, waits, uploads = Run.begin(system, PROMPT, config), [], [], []
    while run.finish is None:
        LOG.clear()
        run.draft_round()
        launches.append(LOG.launches)
        waits.append([wait.where.split()[-1] for wait in LOG.waits.elements()])
        uploads.append(sum(LOG.uploads.values()))
    return {
        "launches": max(launches[WARM:]),
        "waits": max(waits[WARM:], key=len),
        "uploads": max(uploads[WARM:]),
    }


def runs(make: Callable[[torch.device], TargetSystem]) -> Iterator[tuple[str, Any]]:
    """The figures of one kind, by name."""
    host, device = make(CPU), make(DEVICE)
    for name, config in (("greedy", PLAIN), ("sampled", SAMPLED)):
        expected = text(host, config, plain=True)
        yield f"{name} equal", text(device, config) == expected
        device.backbone.shapes = "padded"
        yield f"{name} padded equal", text(device, config) == expected
        device.backbone.shapes = "free"
        yield name, counted(device, config)


def losses(device: torch.device) -> list[float]:
    """Two steps of each trainer."""
    small: dict[str, Any] = dict.fromkeys(("layers", "features"), 2) | {"block_size": 4}
    shared = {name: getattr(RECIPE, name) for name in ("steps", "documents", "rows", "masks")}
    recipe = DFlashRecipe(**shared | {"masks": (2,), "warmup": 1, "head_tokens": VOCAB} | small)
    trainers = (
        AdapterTrainer(_target(device), documents(), AdapterRecipe(**vars(RECIPE))),
        DFlashTrainer(_target(device), documents(), recipe),
    )
    return [trainer.train_step() for trainer in trainers for _ in range(2)]


def _target(device: torch.device) -> backbone.Backbone:
    return tiny_llama(0, VOCAB, torch.float32, device=device)


FAULTS: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "a sum of both sides": lambda host, there: there + host,
    "an index of the other side": lambda host, there: host[there.long()],
    "a product of both sides": lambda host, there: there @ host,
    "a concatenation of both sides": lambda host, there: torch.cat([there, host]),
    "a row of the host put into the device's": lambda host, there: there.index_put_(
        (torch.tensor([0, 1], device=DEVICE),), host[:2]
    ),
    "numbers read without a copy": lambda host, there: there.numpy(),
}


def caught(fault: Callable[[torch.Tensor, torch.Tensor], object]) -> bool:
    """Whether a planted fault is refused."""
    host = torch.arange(4.0)
    try:
        fault(host, host.to(DEVICE))
    except (WrongDeviceError, TypeError):
        return True
    return False


def main() -> None:
    """Print all figures."""
    backbone.PREFILL_ROWS = SLICE
    with TemporaryDirectory() as folder:
        found: dict[str, Any] = {
            name: dict(runs(make)) for name, make in kinds(Path(folder)).items()
        }
    found["faults caught"] = {name: caught(fault) for name, fault in FAULTS.items()}
    found["losses"] = {"host": losses(CPU), "device": losses(DEVICE)}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
