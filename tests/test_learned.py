"""The scorer ``learned``: what it is taught from, how it learns, and that the kernels compute what
was taught.
"""

from pathlib import Path

import numpy as np
import pytest
import torch

from presto.decoding.loop import decode
from presto.kernels.learned import (
    LEVEL,
    OF_CONTEXT,
    RATIO,
    ROW,
    Networks,
    level_part,
    load_networks,
    network,
    row_features,
    save_networks,
)
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.models.catalogue import find
from presto.models.registry import Pair
from presto.models.selfspec import GatedSystem
from presto.records import DecodeConfig
from presto.runs.references import (
    acceptance,
    load_references,
    save_references,
    write_reference,
)
from presto.runs.requests import method_of
from presto.runs.variants import find_variant, variants
from presto.training.adapter import adapter_states
from presto.training.drafts import (
    Drafter,
    Drafts,
    draft_at,
    drafter_of,
    drafts_along,
    load_drafts,
    save_drafts,
)
from presto.training.scorer import CountNetwork, Rows, ScorerRecipe, fit, joined, rows_of
from tests.support.doubles import Letters, tiny_gated
from tests.support.training import VOCAB, documents, trainer


def drafts() -> list[Drafts]:
    """Random drafts, with the right tokens among the candidates, along the test documents."""
    random, found = np.random.default_rng(0), []
    for document in documents(40):
        roots = np.array([5, 11])
        ids = np.stack([random.permuted(np.tile(np.arange(VOCAB), (4, 1)), axis=1) for _ in roots])
        units = np.sort(random.integers(-400_000, -50_000, ids.shape))[..., ::-1].copy()
        found.append(Drafts(document.tokens, roots, ids.astype(np.int32), units.astype(np.int32)))
    return found


def test_drafts_along_a_text_are_those_of_decoding() -> None:
    training, texts = trainer(), documents()[:3]
    for parameter in training.adapter.up.values():
        torch.nn.init.normal_(parameter, std=0.3)
    mask = training.mask_embedding.detach()
    drafter = Drafter(
        lambda batch, _: adapter_states(training.backbone, training.adapter, mask, batch), 1
    )
    system = GatedSystem("t", training.backbone, frozenset({1}), training.adapter, mask)
    found = draft_at(drafter, training.backbone, texts, np.random.default_rng(3))
    assert [len(one.roots) for one in found] == [12, 12, 12]
    for one in found:
        for root, ids, units in zip(one.roots.tolist(), one.ids, one.units, strict=True):
            prefix = tuple(one.text[:root].tolist())
            marginals = system.start(prefix, 64).draft(prefix[-1], 12, VOCAB).marginals
            ours = np.take_along_axis(units / 1e5, ids.argsort(-1), -1)
            theirs = np.array(marginals.log_q)
            ranks = np.array(marginals.token_ids).argsort(-1)
            np.testing.assert_allclose(ours, np.take_along_axis(theirs, ranks, -1), atol=3e-5)


def test_drafts_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    path, there = tmp_path / "drafts.npz", drafts()
    save_drafts(there, path)
    for ours, theirs in zip(there, load_drafts(path), strict=True):
        for name in ("text", "roots", "ids", "units"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    others = documents(2)[::-1]
    with pytest.raises(ValueError, match="other documents"):
        drafts_along(find("smollm2-gated"), trainer().backbone, others, path, 4)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged drafts"):
        load_drafts(path)


@pytest.mark.parametrize("name", ["smollm2-quadratic", "qwen3-4b-dflash"])
def test_other_pairs_cannot_draft_along_the_embedded_targets_text(name: str) -> None:
    with pytest.raises(ValueError, match="smollm2-gated and smollm2-dflash can"):
        drafter_of(find(name), trainer().backbone)


def test_a_row_is_a_position_behind_the_right_tokens_alone() -> None:
    (text,) = ([4, 9, 4, 9, 4, 9, 4, 9],)
    ids = np.array([[[9, 4], [4, 9], [7, 8], [4, 9]]])  # after 9 4: right, right, absent, unseen
    along = [Drafts(np.array(text), np.array([2]), ids, np.full(ids.shape, -70_000))]
    rows = rows_of(along, None, VOCAB)
    assert rows.right.tolist() == [0, 0]
    assert rows.owner.tolist() == [0, 0]
    counts = rows.inputs[0, LEVEL + 4]  # of 4 9 and 4 4 in 4 9 4, as log(1 + n)
    np.testing.assert_allclose(counts, [np.log(2), 0], rtol=1e-6)


def test_the_kernels_compute_the_network_that_was_taught() -> None:
    rows = rows_of(drafts(), None, VOCAB)
    torch.manual_seed(0)
    model = CountNetwork(torch.from_numpy(rows.inputs))
    torch.nn.init.normal_(model.last.weight)
    expected = model(torch.from_numpy(rows.inputs)).detach().numpy()
    weights = model.weights().astype(np.float64)
    for inputs, wanted in zip(rows.inputs.astype(np.float64)[:50], expected, strict=False):
        width = inputs.shape[1]
        level, out = np.empty((len(weights), width)), np.empty(width)
        level_part(inputs[:LEVEL], weights, level)
        shared = np.ascontiguousarray(inputs[-len(OF_CONTEXT) :, 0])
        network(level, inputs[LEVEL : LEVEL + ROW], shared, weights, out)
        np.testing.assert_allclose(inputs[0] + out, wanted, atol=2e-3)


@pytest.mark.parametrize("first", [0, 1, 2], ids=lambda first: f"after {first} 0")
def test_a_contexts_counts_are_those_of_table_and_text(first: int) -> None:
    """Token 0 and the table's first pair are counted like all others."""
    written, text = [0, 0, 1, 0, 2, 2, 0, 1, 0, 0, 2], [1, 0, 0, 0, 2, 0, 1]
    ngram = NgramModel(4, NgramTable.build([np.array(written)], 4), order=3)
    ngram.extend(text)
    tokens = np.arange(4)
    unigram = np.exp(ngram.logprobs((), tokens))
    out, shared = np.empty((ROW, 4)), np.empty(len(OF_CONTEXT))
    row_features(ngram.counts, (first, 0), tokens, np.log(unigram), unigram, out, shared)

    def seen(ids: list[int], *context: int) -> np.ndarray:
        size = len(context)
        after = [
            ids[i + size] for i in range(len(ids) - size) if tuple(ids[i : i + size]) == context
        ]
        return np.bincount(after, minlength=4)

    pair, last = (first, 0), (0,)
    totals = [seen(written, *pair), seen(text, *pair), seen(written, *last), seen(text, *last)]
    np.testing.assert_allclose(shared[:4], [np.log1p(counts.sum()) for counts in totals])
    np.testing.assert_allclose(
        out[2:6],
        np.log1p(
            [seen(text, *pair), seen(written, *pair), seen(text, *last), seen(written, *last)]
        ),
    )
    assert shared[4] == pytest.approx((np.log(unigram) + RATIO * out[0]).max())


def test_a_row_of_a_text_that_has_only_begun_knows_no_pair() -> None:
    ngram = NgramModel(4, None, order=3)
    ngram.extend([0])
    tokens, shared = np.arange(4), np.empty(len(OF_CONTEXT))
    unigram = np.exp(ngram.logprobs((), tokens))
    out = np.empty((ROW, 4))
    row_features(ngram.counts, (-1, 0), tokens, np.log(unigram), unigram, out, shared)
    assert shared[:2].tolist() == [0.0, 0.0]


def test_it_learns_what_the_ratio_does_not_know() -> None:
    """The right token is the one that repeats the token before, whatever the counts say."""
    along = rows_of(drafts(), None, VOCAB)
    repeats = along.inputs[:, LEVEL + ROW - 1]
    some = repeats.any(1)
    rows = Rows(along.inputs[some], repeats[some].argmax(1), along.owner[some])
    _, curve = fit(joined([rows, rows]), ScorerRecipe(steps=200, batch=64))
    assert min(point["held_out"] for point in curve) < 0.5 * curve[0]["held_out"]


def test_networks_are_kept_in_a_file(tmp_path: Path) -> None:
    path, (static, online) = tmp_path / "n.safetensors", load_shipped()
    save_networks(Networks(online, static), path)
    again = load_networks(path)
    assert np.array_equal(again.static, online)
    assert np.array_equal(again.online, static)
    save_networks(Networks(static[:3], online), path)
    with pytest.raises(ValueError, match=r"expected \(32, 21\) finite numbers"):
        load_networks(path)
    path.write_text("no network")
    with pytest.raises(ValueError, match="no count networks"):
        load_networks(path)


def load_shipped() -> Networks:
    path = Path("assets/ngram/count-scorer.safetensors")
    assert path.stat().st_size <= 20_000
    return load_networks(path)


@pytest.mark.parametrize("scorer", ["pmi", "dual", "learned"])
def test_a_walk_over_a_reference_equals_decoding(scorer: str, tmp_path: Path) -> None:
    system, vocab = tiny_gated(3, VOCAB), VOCAB
    table = NgramTable.build([document.tokens.tolist() for document in documents()], vocab)
    pair = Pair(find("smollm2-gated"), system, Letters(), table)  # type: ignore[arg-type]
    config = DecodeConfig(scorer=scorer, budget=6, draft_length=4, max_new_tokens=40)
    reference = write_reference(pair, "ABCA", config)
    save_references([reference], tmp_path / "r.npz")
    assert load_references(tmp_path / "r.npz") == [reference]
    prompt = reference.text[: reference.prompt]
    rounds = list(decode(system, prompt, config, NgramModel(vocab, table)))
    written = [token for round_ in rounds for token in round_.committed]
    assert written == list(reference.text[reference.prompt :])
    assert acceptance(reference, pair, config) == len(written) / len(rounds)


def test_presto_plus_is_a_method_of_its_own() -> None:
    assert variants()["presto+"].changes == {"scorer": "learned", "normalised": True, "lookup": 12}
    assert variants()["learned"].changes == {"scorer": "learned", "normalised": True}
    assert [find_variant(name).name for name in variants()] == list(variants())
    assert variants()["presto"].changes == {}
    assert method_of(DecodeConfig()) == "presto"
    assert method_of(DecodeConfig(scorer="learned", lookup=12, budget=7)) == "presto+"
    assert method_of(DecodeConfig(scorer="learned")) == "presto"
