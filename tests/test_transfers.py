"""One copy each way per round: the draft and the decision leave the device once each, the tree
enters it once.
"""

from collections import Counter
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from presto.decoding.loop import Run
from presto.models.quadratic import QuadraticGatedSystem
from presto.models.target import TargetSession, TargetSystem
from presto.records import DecodeConfig, Tree
from tests.support.dflash import tiny_dflash
from tests.support.doubles import tiny_gated

DFLASH, GATED = tiny_dflash(), tiny_gated(6)
QUADRATIC = QuadraticGatedSystem(
    "q", GATED.backbone, GATED.eos_ids, GATED.adapter, GATED.mask_embedding
)
EXACT_READS = 2  # of the exact row, on the host by then: its likeliest token and its margin


class ScalarReads(TorchDispatchMode):
    """Counts ``item()``, ``int()``, ``float()``, ``bool()`` of tensors: on a device each of them
    waits and copies.
    """

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **kwargs or {})


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counts: Counter[str] = Counter()

    def counted(name: str) -> Any:
        original = getattr(torch.Tensor, name)

        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            counts[name] += name == "cpu" or any(isinstance(value, torch.device) for value in args)
            return original(tensor, *args, **kwargs)

        return call

    for name in ("cpu", "to"):
        monkeypatch.setattr(torch.Tensor, name, counted(name))
    return counts


@pytest.mark.parametrize(("system", "scalars"), [(DFLASH, 0), (GATED, EXACT_READS), (QUADRATIC, 0)])
def test_draft_and_decision_leave_the_device_once_each(
    system: TargetSystem, scalars: int, copies: Counter[str]
) -> None:
    config = DecodeConfig(budget=8, draft_length=5, max_new_tokens=40)
    run = Run.begin(system, (3, 9, 4), config)  # type: ignore[arg-type]
    run.draft_round()
    copies.clear()
    with ScalarReads() as reads:
        run.draft_round()
    assert run.finish is None
    assert copies["cpu"] == 2
    assert reads.count == scalars


@pytest.mark.parametrize("system", [DFLASH, GATED, QUADRATIC])
def test_the_tree_enters_the_device_once(system: TargetSystem, copies: Counter[str]) -> None:
    session: TargetSession = system.start((3, 9, 4), 64)  # type: ignore[attr-defined]
    session.draft(4, 3, 4)  # type: ignore[attr-defined]
    copies.clear()
    zeros = (0.0,) * 4
    session.plan(Tree((4, 5, 6, 7), (-1, 0, 0, 1), (0,) * 4, zeros, zeros, zeros, zeros))
    assert copies["to"] == 1
