"""Recorded marginals are normalised over the whole vocabulary and rounded as stored."""

import torch

from presto.decoding.marginals import marginals_from
from presto.records import Marginals


def test_the_likeliest_first_and_normalised_over_the_vocabulary() -> None:
    logits = torch.randn(3, 40, generator=torch.Generator().manual_seed(0))
    marginals = marginals_from(logits, top_k=5)
    for row, ids, log_q in zip(
        torch.log_softmax(logits, -1), marginals.token_ids, marginals.log_q, strict=True
    ):
        torch.testing.assert_close(torch.tensor(log_q), row[list(ids)], atol=1e-5, rtol=0)
        assert list(log_q) == sorted(log_q, reverse=True)
        assert all(value == round(value, 5) for value in log_q)


def test_edges() -> None:
    assert marginals_from(torch.empty(0, 7), 3) == Marginals()
    assert len(marginals_from(torch.zeros(1, 4), 9).token_ids[0]) == 4
    certain = marginals_from(torch.tensor([[1e6, 0.0]]), 2)
    assert certain.log_q == ((0.0, -1e4),)
