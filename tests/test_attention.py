"""Attention over shared keys: the sums of attention head by head, and nothing of it elsewhere."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from presto.models import attention
from presto.models.attention import attend, choose_kernels
from presto.models.target import TargetSession
from presto.records import Tree
from tests.support.doubles import tiny_llama

SIZES = st.integers(1, 5)


@given(SIZES, SIZES, SIZES, st.integers(1, 7), st.sampled_from(["none", "seen", "added"]), SIZES)
def test_each_head_attends_with_the_keys_it_shares(
    batch: int, shared: int, groups: int, rows: int, masked: str, seed: int
) -> None:
    torch.manual_seed(seed)
    columns, size = rows + 4, 6
    query = torch.randn(batch, shared * groups, rows, size, dtype=torch.float64)
    key, value = torch.randn(2, batch, shared, columns, size, dtype=torch.float64)
    seen = torch.rand(batch, 1, rows, columns) < 0.6
    seen[..., 0] = True
    added = torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, float("-inf"))
    mask = {"none": None, "seen": seen, "added": added}[masked]
    output = attend(query, key, value, mask, scale=0.3)
    for head in range(shared * groups):
        own = head // groups
        scores = 0.3 * query[:, head] @ key[:, own].transpose(1, 2)
        scores = scores if mask is None else scores + added[:, 0]
        wanted = scores.softmax(-1) @ value[:, own]
        torch.testing.assert_close(output[:, head], wanted)


def test_a_pass_never_copies_the_keys_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone, read = tiny_llama(0), []

    def sdpa(query: torch.Tensor, key: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
        read.append(key)
        return query

    monkeypatch.setattr(attention.nn.functional, "scaled_dot_product_attention", sdpa)
    session = TargetSession(backbone, (1, 2, 3, 4), capacity=16)
    session.verify(session.plan(Tree((5,))))
    stored = {layer.keys.data_ptr() for layer in session.cache.layers}
    assert [key.data_ptr() in stored for key in read] == [True] * (2 * len(stored))
    assert backbone.model.config._attn_implementation == "sdpa"


def test_cudnns_attention_is_left_out_on_a_gpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = list[bool]()
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", chosen.append)
    choose_kernels(torch.device("cpu"))
    assert chosen == []
    choose_kernels(torch.device("cuda"))
    assert chosen == [False]
