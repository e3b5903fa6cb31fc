"""Recorded marginals are normalised over the whole vocabulary and rounded as stored."""

import torch

from presto.decoding.marginals import drafted
from presto.records import Marginals


def test_the_likeliest_first_and_normalised_over_the_vocabulary() -> None:
    logits = torch.randn(3, 40, generator=torch.Generator().manual_seed(0))
    marginals = drafted(logits, top_k=5).marginals
    for row, ids, log_q in zip(
        torch.log_softmax(logits, -1), marginals.token_ids, marginals.log_q, strict=True
    ):
        torch.testing.assert_close(torch.tensor(log_q), row[list(ids)], atol=1e-5, rtol=0)
        assert list(log_q) == sorted(log_q, reverse=True)
        assert all(value == round(value, 5) for value in log_q)


def test_edges() -> None:
    assert drafted(torch.empty(0, 7), 3).marginals == Marginals()
    assert len(drafted(torch.zeros(1, 4), 9).marginals.token_ids[0]) == 4
    certain = drafted(torch.tensor([[1e6, 0.0]]), 2).marginals
    assert certain.log_q == ((0.0, -1e4),)
