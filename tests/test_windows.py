"""Attention windows: masks of every kind by definition, in targets, drafts and DFlash drafters."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, MistralConfig, Qwen3Config

from presto.decoding.loop import autoregressive, decode
from presto.models.dflash import DFlashSession, DFlashSystem
from presto.models.registry import load_target
from presto.models.selfcheck import WINDOW, short_window
from presto.models.windows import FULL, SLIDING, attention_kinds, context_of, masks_of
from presto.records import DecodeConfig
from tests.support.checkpoints import VOCAB, write_model
from tests.support.dflash import MIXED, PROMPT, dflash
from tests.support.doubles import systems


def test_kinds_are_read_as_transformers_reads_them() -> None:
    assert attention_kinds(LlamaConfig()) == {FULL: None}
    assert attention_kinds(MistralConfig(sliding_window=8)) == {SLIDING: 8}
    assert attention_kinds(MistralConfig(sliding_window=None)) == {FULL: None}
    window = {"use_sliding_window": True, "sliding_window": 8, "num_hidden_layers": 4}
    assert attention_kinds(Qwen3Config(**window, max_window_layers=2)) == {FULL: None, SLIDING: 8}
    assert attention_kinds(Qwen3Config(**window, max_window_layers=0)) == {SLIDING: 8}
    assert attention_kinds(Qwen3Config(sliding_window=8)) == {FULL: None}
    with pytest.raises(ValueError, match="sliding_window must be a positive number"):
        attention_kinds(MistralConfig(sliding_window=-1))


@pytest.mark.parametrize(("rope_type", "context"), [("yarn", 512), ("dynamic", 128)])
def test_a_rope_that_depends_on_the_length_bounds_the_context(rope_type: str, context: int) -> None:
    rope = {"rope_type": rope_type, "rope_theta": 1e4, "factor": 4.0}
    rope["original_max_position_embeddings"] = 128
    assert context_of(LlamaConfig(max_position_embeddings=512)) == 512
    assert context_of(LlamaConfig(max_position_embeddings=512, rope_parameters=rope)) == context


@settings(max_examples=100)
@given(data=st.data(), earlier=st.integers(0, 9), window=st.integers(1, 12))
def test_masks_are_those_of_the_definition(data: st.DataObject, earlier: int, window: int) -> None:
    ahead = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    positions = [earlier + distance for distance in ahead]
    places = [*range(earlier), *positions]
    cells = st.lists(st.booleans(), min_size=len(places), max_size=len(places))
    mask = [data.draw(cells) for _ in positions]
    full, sliding = masks_of(
        {FULL: None, SLIDING: window}, torch.tensor([mask]), torch.tensor([positions])
    )[0].tolist()
    assert full == mask
    assert sliding == [
        [seen and place > row - window for seen, place in zip(cells, places, strict=True)]
        for cells, row in zip(mask, positions, strict=True)
    ]


def test_the_check_at_load_leaves_the_window_as_it_was(tmp_path: Path) -> None:
    write_model("mistral", tmp_path)
    backbone, _ = load_target(tmp_path, "float32")
    with short_window(backbone):
        assert backbone.kinds == {SLIDING: WINDOW}
        assert backbone.model.config.sliding_window == WINDOW
    assert backbone.kinds == {SLIDING: 5}
    assert backbone.model.config.sliding_window == 5


@pytest.mark.parametrize("model_type", ["mistral", "gemma3_text"])
def test_a_windowed_target_decodes_losslessly_past_slices_of_the_prompt(
    tmp_path: Path, model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presto.models.backbone.PREFILL_ROWS", 7)
    write_model(model_type, tmp_path)
    backbone, _ = load_target(tmp_path, "float32")
    prompt = [1 + 5 * i % (VOCAB - 1) for i in range(40)]
    tokens = backbone.model.generate(torch.tensor([prompt]), max_new_tokens=30, do_sample=False)
    config = DecodeConfig(max_new_tokens=30, budget=12, draft_length=6)
    for system in systems(backbone):
        for method in (autoregressive, decode):
            rounds = method(system, prompt, config)
            assert [t for r in rounds for t in r.committed] == tokens[0, len(prompt) :].tolist()


@pytest.mark.parametrize("causal", [None, False, True])
def test_what_rows_of_a_block_see(causal: bool | None) -> None:
    drafter = dflash(causal, **MIXED).drafter
    full, sliding = drafter.masks(7, 3)[0].tolist()  # in the order of ``attention_kinds``
    for row in range(3):
        for place in range(10):
            ahead = place - (7 + row)
            assert full[row][place] == (ahead <= 0 if causal else True)
            blind = ahead > 0 if causal is not False else ahead >= 4
            assert sliding[row][place] == (ahead > -4 and not blind)
    assert drafter.kind_of_layer == [1, 0]


def drafted(system: DFlashSystem, shapes: str = "free") -> torch.Tensor:
    """log q of all tokens at every position of a draft, by token."""
    system.backbone.shapes = shapes  # type: ignore[assignment]
    marginals = system.start(PROMPT, 64).draft(PROMPT[-1], 5, top_k=29).marginals
    rows = zip(marginals.token_ids, marginals.log_q, strict=True)
    return torch.tensor([[q for _, q in sorted(zip(*row, strict=True))] for row in rows])


@pytest.mark.parametrize("fields", [MIXED, MIXED | {"layer_types": [SLIDING] * 2}])
def test_a_windowed_draft_differs_and_is_the_same_in_padded_passes(
    fields: dict[str, object],
) -> None:
    system, full = dflash(**fields), dflash()
    system.drafter.load_state_dict(full.drafter.state_dict())
    assert not torch.allclose(drafted(system), drafted(full), atol=1e-2)
    torch.testing.assert_close(drafted(system), drafted(system, "padded"), atol=1e-4, rtol=0)


def test_a_draft_forgets_what_lies_before_its_window() -> None:
    """The block begins at position 19 and looks back to 16: what features were before is free."""
    system = dflash(**MIXED | {"layer_types": [SLIDING] * 2})
    session = system.start(PROMPT, 64)
    assert isinstance(session, DFlashSession)
    before = session.draft(PROMPT[-1], 5, top_k=5).marginals
    with torch.inference_mode():
        for layer in session.context.layers:
            layer.keys[:, :, :16] = 9.0
    assert session.draft(PROMPT[-1], 5, top_k=5).marginals == before
    with torch.inference_mode():
        session.context.layers[0].keys[:, :, 16] = 9.0
    assert session.draft(PROMPT[-1], 5, top_k=5).marginals != before


@pytest.mark.parametrize("fields", [{}, MIXED, MIXED | {"layer_types": [SLIDING] * 2}])
def test_any_drafter_is_lossless(fields: dict[str, object]) -> None:
    system, config = dflash(**fields), DecodeConfig(max_new_tokens=20, budget=8, draft_length=5)
    ours, plain = (
        [token for round_ in method(system, PROMPT, config) for token in round_.committed]
        for method in (decode, autoregressive)
    )
    assert ours == plain
