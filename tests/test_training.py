"""Training sees what inference computes, resumes where it stopped, and its data survives the
disk.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from presto.models.dflash import DFlashSystem
from presto.models.lora import CONFIG_FILE, LowRankAdapter
from presto.models.selfspec import GatedSystem, save_draft_adapter
from presto.runs.stopping import Stop
from presto.training.adapter import AdapterTrainer
from presto.training.blocks import Batch, block_mask, draw_batch
from presto.training.dflash import DFlashRecipe, DFlashTrainer, layer_ids
from presto.training.shards import load_shards, save_shard
from presto.training.trainer import Trainer
from tests.support.checks import some
from tests.support.doubles import tiny_llama
from tests.support.training import RECIPE, VOCAB, documents, trainer


def test_training_computes_the_marginals_that_inference_drafts() -> None:
    training = trainer()
    for parameter in training.adapter.up.values():
        torch.nn.init.normal_(parameter, std=0.3)
    tokens = torch.from_numpy(documents()[0].tokens.astype(np.int64))[None]
    anchors, masks = torch.tensor([[5, 9]]), 4
    unused = torch.zeros(1, 2, masks, 16)
    batch = Batch(tokens, anchors, unused.long(), unused, torch.ones(1, 2, masks, dtype=torch.bool))
    with torch.no_grad():
        logits = training.backbone.logits(training.hidden(batch, [])[0]).float()
    system = GatedSystem(
        "t", training.backbone, frozenset({1}), training.adapter, training.mask_embedding.detach()
    )
    for block, anchor in enumerate(anchors[0].tolist()):
        prefix = tuple(tokens[0, : anchor + 1].tolist())
        marginals = system.start(prefix, 64).draft(prefix[-1], masks, top_k=VOCAB).marginals
        assert len(marginals.token_ids) == masks
        for row, (ids, log_q) in enumerate(zip(marginals.token_ids, marginals.log_q, strict=True)):
            expected = torch.log_softmax(logits[block, row], -1)[list(ids)]
            torch.testing.assert_close(torch.tensor(log_q), expected, atol=2e-5, rtol=0)


def test_block_mask_shows_the_prefix_and_the_own_block_only() -> None:
    mask = block_mask(torch.tensor([[2, 4]]), rows=2, length=5)[0]
    expected = [
        "11000" "1100",
        "11000" "1100",
        "11110" "0011",
        "11110" "0011",
    ]  # fmt: skip
    assert ["".join(str(int(cell)) for cell in row) for row in mask] == expected


def test_labels_belong_to_the_token_after_the_mask() -> None:
    document = documents()[0]
    batch = draw_batch([document], blocks=5, masks=4, ahead=1, random=np.random.default_rng(1))
    for block, anchor in enumerate(batch.anchors[0].tolist()):
        assert document.answer_start - 1 <= anchor < len(document.tokens) - 2
        for j in range(4):
            predicted = (
                anchor + j + 2
            )  # mask j (0-based) stands at anchor + j + 1 and predicts the token after it
            inside = predicted < len(document.tokens)
            assert bool(batch.known[0, block, j]) == inside
            if inside:
                label = document.label_ids[predicted - document.answer_start]
                assert batch.label_ids[0, block, j].tolist() == label.tolist()
    assert set(batch.known.flatten().tolist()) == {True, False}  # both cases were drawn


def test_only_adapter_and_mask_embedding_learn() -> None:
    training = trainer()
    before = [parameter.clone() for parameter in training.backbone.model.parameters()]
    first = held_loss(training).item()
    for _ in range(25):
        training.train_step()
    assert held_loss(training).item() < first
    for old, new in zip(before, training.backbone.model.parameters(), strict=True):
        assert torch.equal(old, new)


def held_loss(training: Trainer) -> torch.Tensor:
    picked = training.documents[:4]
    return training.loss(draw_batch(picked, 6, 4, training.ahead, np.random.default_rng(7)), picked)


def test_a_resumed_run_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = trainer()
    whole.run(tmp_path / "whole.pt", Stop(), report_every=100)
    part = trainer()
    for _ in range(3):
        part.train_step()
    part.save(tmp_path / "part.pt")
    resumed = trainer()
    resumed.run(tmp_path / "part.pt", Stop(), report_every=100)
    assert resumed.step == RECIPE.steps
    torch.testing.assert_close(resumed.mask_embedding, whole.mask_embedding)
    assert [row["step"] for row in resumed.curve] == [RECIPE.steps]


def test_shards_round_trip(tmp_path: Path) -> None:
    save_shard(tmp_path / "shard-0000.npz", documents(3))
    save_shard(tmp_path / "shard-0001.npz", documents(2))
    loaded = load_shards(tmp_path)
    assert len(loaded) == 5
    for ours, theirs in zip([*documents(3), *documents(2)], loaded, strict=True):
        assert np.array_equal(ours.tokens, theirs.tokens)
        assert np.array_equal(ours.label_ids, theirs.label_ids)
        assert ours.answer_start == theirs.answer_start


def test_the_adapter_folder_round_trips_in_pefts_layout(tmp_path: Path) -> None:
    training = trainer(replace(RECIPE, steps=2))
    training.train_step()
    save_draft_adapter(tmp_path, training.adapter, training.mask_embedding, "base")
    other = tiny_llama(0, VOCAB, torch.float32)
    system = GatedSystem.load("t", other, frozenset({1}), tmp_path)
    for key, parameter in some(training.adapter.up.items()):
        torch.testing.assert_close(system.adapter.up[key], parameter.data, atol=1e-3, rtol=1e-2)
    assert (tmp_path / CONFIG_FILE).exists()
    warm = AdapterTrainer(tiny_llama(0, VOCAB, torch.float32), documents(), RECIPE, init=tmp_path)
    torch.testing.assert_close(warm.mask_embedding.data, system.mask_embedding)
    with pytest.raises(ValueError, match="missing"):
        LowRankAdapter.load(tiny_deeper(), tmp_path)


def tiny_deeper() -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=8,
            hidden_size=8,
            intermediate_size=8,
            num_hidden_layers=3,
            num_attention_heads=2,
        )
    )


def dflash_trainer() -> DFlashTrainer:
    recipe = DFlashRecipe(
        steps=6,
        documents=2,
        rows=12,
        masks=(4,),
        warmup=2,
        head_tokens=VOCAB,
        layers=2,
        block_size=6,
        features=2,
    )
    return DFlashTrainer(tiny_llama(0, VOCAB, torch.float32), documents(), recipe)


def test_dflash_training_computes_the_marginals_that_inference_drafts() -> None:
    training = dflash_trainer()
    for parameter in training.drafter.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    picked = documents()[:2]
    batch = draw_batch(picked, blocks=3, masks=4, ahead=0, random=np.random.default_rng(3))
    with torch.no_grad():
        logits = training.backbone.logits(training.hidden(batch, picked)).float()
    system = DFlashSystem("t", training.backbone, frozenset({1}), training.drafter)
    for text, document in enumerate(picked):
        for block, anchor in enumerate(batch.anchors[text].tolist()):
            prefix = tuple(document.tokens[: anchor + 1].tolist())
            marginals = system.start(prefix, 64).draft(prefix[-1], 4, top_k=VOCAB).marginals
            assert len(marginals.token_ids) == 4
            for row, (ids, log_q) in enumerate(
                zip(marginals.token_ids, marginals.log_q, strict=True)
            ):
                expected = torch.log_softmax(logits[text, block, row], -1)[list(ids)]
                torch.testing.assert_close(torch.tensor(log_q), expected, atol=2e-5, rtol=0)


def test_a_dflash_mask_learns_the_token_at_its_own_place() -> None:
    document = documents()[0]
    batch = draw_batch([document], blocks=8, masks=4, ahead=0, random=np.random.default_rng(1))
    for block, anchor in enumerate(batch.anchors[0].tolist()):
        for j in range(4):
            place = anchor + 1 + j
            assert bool(batch.known[0, block, j]) == (place < len(document.tokens))
            if place < len(document.tokens):
                label = document.label_ids[place - document.answer_start]
                assert batch.label_ids[0, block, j].tolist() == label.tolist()
    assert set(batch.known.flatten().tolist()) == {True, False}  # both cases were drawn


def test_the_dflash_drafter_learns_and_the_target_does_not(tmp_path: Path) -> None:
    training = dflash_trainer()
    before = [parameter.clone() for parameter in training.backbone.model.parameters()]
    first = held_loss(training).item()
    for _ in range(25):
        training.train_step()
    assert held_loss(training).item() < first
    for old, new in zip(before, training.backbone.model.parameters(), strict=True):
        assert torch.equal(old, new)
    training.drafter.save(tmp_path)
    warm = DFlashTrainer(training.backbone, documents(), training.recipe, init=tmp_path)  # type: ignore[arg-type]
    assert held_loss(warm).item() == pytest.approx(held_loss(training).item(), rel=0.02)


def test_feature_layers_are_z_labs_choice() -> None:
    assert layer_ids(36, 5) == (1, 9, 17, 25, 33)
    assert layer_ids(30, 5)[-1] == 27
