"""Packed linear layers: the same products, the same hooks, half the memory of keeping both."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from presto.models.packed import pack_linears, packs
from presto.models.target import TargetSession
from presto.records import Tree
from tests.support.dflash import dflash
from tests.support.doubles import CPU, tiny_gated

BF16 = torch.bfloat16
SIZES = st.integers(1, 70)

needs_bf16 = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="the CPU has no bfloat16 products"
)


@needs_bf16
def test_torch_still_has_the_operators() -> None:
    assert packs(CPU, BF16)
    assert not packs(CPU, torch.float32)
    assert not packs(torch.device("meta"), BF16)


@needs_bf16
@given(SIZES, SIZES, SIZES, st.booleans(), st.integers(0, 9))
def test_a_packed_layer_computes_the_same(
    rows: int, inputs: int, outputs: int, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    layer = nn.Linear(inputs, outputs, bias=bias, dtype=BF16).requires_grad_(False)
    x = torch.randn(1, rows, inputs, dtype=BF16)
    exact = nn.functional.linear(
        x.double(), layer.weight.double(), layer.bias.double() if bias else None
    )
    layer.register_forward_hook(lambda _module, _inputs, output: output + 1)
    pack_linears(layer)
    torch.testing.assert_close((layer(x) - 1).double(), exact, rtol=0.02, atol=0.03)
    assert layer.weight.is_meta


@needs_bf16
def test_a_packed_pair_verifies_and_drafts_as_before() -> None:
    def seen(packed: bool) -> tuple[torch.Tensor, torch.Tensor]:
        system = tiny_gated(0, dtype=BF16)
        for network in system.networks if packed else ():
            pack_linears(network)
        session = system.start((1, 2, 3, 4), 32)
        assert isinstance(session, TargetSession)
        draft = session.draft(5, 3, 4)
        return session.verify(session.plan(Tree((5,)))), torch.tensor(draft.marginals.log_q)

    for own, packed in zip(seen(False), seen(True), strict=True):
        torch.testing.assert_close(own, packed, rtol=0.05, atol=0.1)


def test_in_full_precision_nothing_is_packed() -> None:
    system = tiny_gated(0, dtype=torch.float32)
    weights = {name: weight.clone() for name, weight in system.backbone.model.named_parameters()}
    pack_linears(system.networks[0])
    for name, weight in system.backbone.model.named_parameters():
        torch.testing.assert_close(weight, weights[name], rtol=0, atol=0)


@needs_bf16
def test_a_packed_drafter_still_makes_its_masks_where_it_computes() -> None:
    system = dflash(layer_types=["full_attention", "full_attention"])
    drafter = system.drafter.to(BF16)
    pack_linears(drafter)
    assert drafter.fc.weight.is_meta
    assert drafter.masks(3, 2).device == torch.device("cpu")
