"""RMS norms as one kernel: the same numbers, and only where they are plain RMS norms."""

import gc
import weakref

import pytest
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from presto.benchmarks.kernels import Kernels
from presto.models.fused import fuse_norms
from tests.support.doubles import tiny_llama


def norm(kind: type, size: int = 48) -> nn.Module:
    torch.manual_seed(1)
    made: nn.Module = kind(size, eps=1e-5)
    nn.init.normal_(made.weight)  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize("rows", [1, 7])
def test_a_fused_norm_is_the_models_own_to_the_last_bit(rows: int) -> None:
    own, given = norm(Qwen3RMSNorm), torch.randn(1, rows, 48)
    expected = own(given)
    fuse_norms(own)
    with Kernels() as kernels, torch.inference_mode():
        found = own(given)
    assert kernels.count == 1
    assert torch.equal(found, expected)


def test_a_norm_that_adds_one_to_its_weight_stays() -> None:
    own, given = norm(GemmaRMSNorm), torch.randn(1, 3, 48)
    expected = own(given)
    fuse_norms(own)
    assert "forward" not in vars(own)
    assert torch.equal(own(given), expected)


def test_norms_made_of_other_arguments_or_of_no_weight_stay() -> None:
    class OtherRMSNorm(nn.Module):
        def __init__(self, config: object) -> None:
            super().__init__()
            self.weight, self.variance_epsilon = nn.Parameter(torch.ones(4)), 1e-5

    class BareRMSNorm(nn.Module):
        pass

    for made in (OtherRMSNorm(None), BareRMSNorm()):
        fuse_norms(made)
        assert "forward" not in vars(made)


def test_a_model_computes_the_same_with_fewer_kernels() -> None:
    backbone = tiny_llama(3, dtype=torch.float32)
    ids = torch.tensor([[3, 5, 7, 9]])
    with torch.inference_mode(), Kernels() as before:
        expected = backbone.model(ids).logits
    fuse_norms(backbone.model)
    with torch.inference_mode(), Kernels() as behind:
        found = backbone.model(ids).logits
    assert torch.equal(found, expected)
    assert behind.count < before.count


def test_a_fused_norm_goes_with_its_last_name() -> None:
    own = norm(Qwen3RMSNorm)
    fuse_norms(own)
    there = weakref.ref(own)
    gc.disable()
    try:
        del own
        assert there() is None
    finally:
        gc.enable()
