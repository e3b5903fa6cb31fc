"""Drafters' folders: everything a configuration can say is honoured or refused by name, damaged
ones are refused in one sentence.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import Qwen3Config

from presto.commands.main import main
from presto.decoding.loop import autoregressive, decode
from presto.models.dflash import DFlashSystem
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.lora import LowRankAdapter
from presto.models.nemotron import LORA_FOLDER, NemotronSystem
from presto.models.registry import load, load_target, local_pair
from presto.models.selfspec import MASK_FILE, load_draft_adapter, save_draft_adapter
from presto.models.text import load_text
from presto.records import DecodeConfig
from presto.training.dflash import DFlashRecipe, DFlashTrainer
from presto.training.documents import Document
from tests.support.checkpoints import edit_config, edit_tensors, truncate, write_model, write_words
from tests.support.dflash import MIXED, PROMPT, SIZES, dflash
from tests.support.doubles import CPU, tiny_gated, tiny_llama
from tests.support.nemotron import MASK, VOCAB, write_checkpoint


def said(action: Any, *arguments: Any) -> str:
    """The one sentence that ``action`` is refused with."""
    with pytest.raises(ValueError, match=r"\w") as error:
        action(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def drafter(tmp_path: Path) -> Path:
    """A DFlash drafter's folder."""
    dflash().drafter.save(tmp_path / "drafter")
    return tmp_path / "drafter"


def nested(folder: Path, **fields: Any) -> None:
    """Set fields of a DFlash drafter's ``dflash_config``; ``...`` removes one."""
    raw = json.loads((folder / "config.json").read_text())
    inner = raw["dflash_config"] | fields
    raw["dflash_config"] = {name: value for name, value in inner.items() if value is not ...}
    (folder / "config.json").write_text(json.dumps(raw))


def test_fields_may_stand_at_the_top_or_nested(drafter: Path) -> None:
    flat = DFlashConfig.read(drafter)
    edit_config(drafter, block_size=...)
    nested(drafter, block_size=6)
    inner = DFlashConfig.read(drafter)
    edit_config(drafter, mask_token_id=28, target_layer_ids=[0, 2])
    nested(drafter, mask_token_id=..., target_layer_ids=...)
    outer = DFlashConfig.read(drafter)
    for config in (inner, outer):
        assert (config.block_size, config.mask_token_id) == (flat.block_size, flat.mask_token_id)
        assert config.target_layer_ids == flat.target_layer_ids


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "default", "rope_theta": 5e5},
        {"rope_type": "linear", "rope_theta": 5e5, "factor": 2.0},
    ],
)
def test_the_rope_is_written_in_both_forms(
    rope: dict[str, Any], drafter: Path, tmp_path: Path
) -> None:
    edit_config(drafter, rope_parameters=rope)
    DFlashConfig.read(drafter).write(tmp_path)
    assert DFlashConfig.read(tmp_path).sizes.rope_parameters == rope
    edit_config(tmp_path, rope_parameters=...)  # what transformers 4 reads
    assert DFlashConfig.read(tmp_path).sizes.rope_parameters == rope


def test_the_base_of_the_rope_is_read_in_both_forms(drafter: Path) -> None:
    edit_config(drafter, rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    newer = DFlashConfig.read(drafter)
    edit_config(drafter, rope_parameters=..., rope_theta=5e5, rope_scaling=None)
    older = DFlashConfig.read(drafter)
    assert newer.sizes.rope_parameters["rope_theta"] == 5e5
    assert older.sizes.rope_parameters["rope_theta"] == 5e5


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    sizes = Qwen3Config(num_hidden_layers=2, **SIZES | MIXED)
    for more in ({}, {"causal": False, "input_embedding_scale": 2.0}, {"output_multiplier": 0.5}):
        config = DFlashConfig(6, 3, 28, (0, 2), sizes, **more)  # type: ignore[arg-type]
        config.write(tmp_path)
        again = DFlashConfig.read(tmp_path)
        assert again.kinds == config.kinds
        assert {k: getattr(again, k) for k in more} == more


@pytest.mark.parametrize(
    ("top", "inner", "causal"),
    [
        ({}, {}, None),
        ({"is_causal": True}, {"causal": False}, True),
        ({"is_causal": False}, {}, False),
        ({}, {"causal": True}, True),
    ],
)
def test_causality_is_read(
    drafter: Path, top: dict[str, bool], inner: dict[str, bool], causal: bool | None
) -> None:
    edit_config(drafter, **top)
    nested(drafter, **inner)
    assert DFlashConfig.read(drafter).causal is causal


def test_layer_types_alone_give_layers_a_window(drafter: Path) -> None:
    edit_config(drafter, sliding_window=4, use_sliding_window=...)
    edit_config(drafter, layer_types=["sliding_attention", "full_attention"])
    assert DFlashConfig.read(drafter).kinds == {"full_attention": None, "sliding_attention": 4}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"architectures": ["DFlash3DraftModel"]}, "architectures is ['DFlash3DraftModel']"),
        ({"architectures": ["DFlash2DraftModel"]}, "'conv_kernel_size' is missing"),
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"layer_types": ["chunked_attention"] * 2}, "layer_types may be"),
        (
            {"layer_types": ["sliding_attention"] * 2, "use_sliding_window": False},
            "use_sliding_window is not true",
        ),
        ({"is_causal": "yes"}, "is_causal must be true or false"),
        ({"attention_sink_bias": True}, "attention_sink_bias is not supported"),
        ({"draft_vocab_size": 8}, "draft_vocab_size is not supported"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantised by fp8"),
        ({"block_size": 0}, "expected a whole number of at least 1, got 0"),
        ({"target_layer_ids": [0, 9], "dflash_config": {"mask_token_id": 3}}, "below num_target"),
        ({"target_layer_ids": 3, "dflash_config": {"mask_token_id": 3}}, "not iterable"),
        ({"hidden_size": "wide"}, "hidden_size"),
        ({"num_hidden_layers": 3, "layer_types": ...}, "missing tensor layers.2."),
        ({"num_hidden_layers": 1, "layer_types": ...}, "unexpected tensor layers.1."),
        ({"intermediate_size": 41}, "is [40, 24], its configuration needs [41, 24]"),
        ({"attention_bias": True}, "missing tensor layers.0.self_attn.k_proj.bias"),
        ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "rope_type dynamic"),
        ({"dflash_config": {"mask_token_id": 3}}, "'target_layer_ids' is missing"),
    ],
)
def test_a_dflash_configuration_is_refused_by_field(
    drafter: Path, fields: dict[str, Any], reason: str
) -> None:
    edit_config(drafter, **fields)
    message = said(DFlashDrafter.load, drafter)
    assert reason in message
    assert str(drafter) in message


@pytest.mark.parametrize("name", ["conv_kernel_size", "selector_rank", "fc_layernorm", "use_swa"])
def test_features_of_newer_drafters_are_refused_by_name_unless_they_are_off(
    drafter: Path, name: str
) -> None:
    nested(drafter, **{name: False})
    DFlashDrafter.load(drafter)
    nested(drafter, **{name: 2})
    assert f"dflash_config.{name} is not supported" in said(DFlashDrafter.load, drafter)


def test_a_damaged_drafter_is_named(drafter: Path) -> None:
    path = drafter / "model.safetensors"
    edit_tensors(path, lambda tensors: {k: tensors[k] for k in tensors if k != "norm.weight"})
    assert "missing tensor norm.weight" in said(DFlashDrafter.load, drafter)
    truncate(path)
    assert f"{path} is cut short" in said(DFlashDrafter.load, drafter)
    path.write_text("version https://git-lfs.github.com/spec/v1\n")
    assert f"{path} is a Git-LFS pointer" in said(DFlashDrafter.load, drafter)
    path.unlink()
    assert "model.safetensors is missing" in said(DFlashDrafter.load, drafter)


def test_a_drafter_of_another_target_is_refused_with_both_numbers() -> None:
    backbone = dflash().backbone
    for config, reason in (
        (DFlashConfig(6, 4, 28, (0, 2), sizes()), "for 4 target layers, not 3"),
        (DFlashConfig(6, 0, 28, (0, 3), sizes()), "reads target layer 3, the target has 3"),
        (DFlashConfig(6, 3, 29, (0, 2), sizes()), "mask_token_id is 29, the target has 29 tokens"),
        (DFlashConfig(6, 3, 28, (0, 2), sizes(hidden_size=32)), "hidden size 32, not 24"),
    ):
        assert reason in said(DFlashSystem, "x", backbone, frozenset(), DFlashDrafter(config))


def sizes(**fields: Any) -> Qwen3Config:
    return Qwen3Config(num_hidden_layers=2, **SIZES | fields)


def test_scales_and_soft_cap_of_a_draft() -> None:
    """log q follows from the usual hidden states: logits times 0.5, capped at ±3."""
    usual = dflash()
    config = DFlashConfig(
        6, 3, 28, (0, 2), sizes(), output_multiplier=0.5, final_logit_softcapping=3.0
    )
    scaled = DFlashDrafter(config)
    scaled.load_state_dict(usual.drafter.state_dict())
    system = DFlashSystem("x", usual.backbone, frozenset(), scaled)
    hidden = torch.randn(4, 24, dtype=torch.float64)
    logits = 3 * torch.tanh(usual.backbone.head(hidden) * 0.5 / 3)
    torch.testing.assert_close(system.drafter.logits(hidden, usual.backbone.head), logits)


def test_the_block_is_embedded_by_the_targets_weights_times_the_drafters_scale() -> None:
    usual = dflash()
    doubled = DFlashDrafter(DFlashConfig(6, 3, 28, (0, 2), sizes(), input_embedding_scale=2.0))
    doubled.load_state_dict(usual.drafter.state_dict())
    system = DFlashSystem("x", usual.backbone, frozenset(), doubled)
    blocks: list[torch.Tensor] = []
    for each in (usual, system):
        hook = each.drafter.register_forward_pre_hook(lambda _, inputs: blocks.append(inputs[0]))
        each.start(PROMPT, 64).draft(PROMPT[-1], 3, top_k=2)
        hook.remove()
    torch.testing.assert_close(blocks[1], 2 * blocks[0])


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A draft adapter's folder for ``tiny_llama(3)``."""
    system = tiny_gated(3)
    save_draft_adapter(tmp_path, system.adapter, system.mask_embedding, "tiny")
    return tmp_path


def edit_adapter(folder: Path, **fields: Any) -> None:
    path = folder / "adapter_config.json"
    raw = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({k: v for k, v in raw.items() if v is not ...}))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"r": 3}, "is [2, 24], its target at rank 3 needs [3, 24]"),
        ({"use_rslora": True}, "use_rslora is not supported (it is True)"),
        ({"use_dora": True}, "use_dora is not supported"),
        ({"bias": "all"}, "bias is not supported"),
        ({"rank_pattern": {"q_proj": 4}}, "rank_pattern is not supported"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is not supported"),
        ({"layers_to_transform": [0]}, "layers_to_transform is not supported"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights is not supported"),
        ({"some_new_method": 1}, "some_new_method is not supported"),
        ({"r": ...}, "r is missing"),
        ({"lora_alpha": ...}, "lora_alpha is missing"),
        ({"target_modules": ...}, "target_modules is missing"),
        ({"target_modules": "all-linear"}, "target_modules must be a list of names"),
        ({"target_modules": ["c_attn"]}, "no linear layer of the model ends in one of c_attn"),
        ({"target_modules": ["q_proj"]}, "unexpected tensor"),
        ({"target_modules": ["q_proj", "v_proj", "up_proj", "k_proj"]}, "missing tensor"),
        ({"r": "two"}, "r must be a whole number"),
        ({"lora_alpha": "two"}, "lora_alpha must be a number"),
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
    ],
)
def test_an_adapter_is_refused_by_field(adapter: Path, fields: dict[str, Any], reason: str) -> None:
    edit_adapter(adapter, **fields)
    assert reason in said(LowRankAdapter.load, tiny_llama(3).model, adapter)


def test_fields_of_peft_that_change_nothing_are_read_over(adapter: Path) -> None:
    edit_adapter(
        adapter,
        use_rslora=False, use_dora=False, rank_pattern={}, modules_to_save=None, revision=None,
        init_lora_weights=True, megatron_core="megatron.core", peft_version="0.19", loftq_config={},
    )  # fmt: skip
    load_draft_adapter(tiny_llama(3).model, adapter)


def test_a_damaged_adapter_is_named(adapter: Path) -> None:
    model = tiny_llama(3).model
    save_file({"mask_embedding": torch.ones(25)}, adapter / MASK_FILE)
    assert f"{adapter / MASK_FILE}: tensor mask_embedding is [25]" in said(
        load_draft_adapter, model, adapter
    )
    (adapter / MASK_FILE).unlink()
    assert f"{MASK_FILE} is missing" in said(load_draft_adapter, model, adapter)
    truncate(adapter / "adapter_model.safetensors")
    assert "adapter_model.safetensors is cut short" in said(LowRankAdapter.load, model, adapter)
    path = adapter / "adapter_config.json"
    path.write_text(path.read_text()[:60])
    assert f"{path} is not JSON" in said(LowRankAdapter.load, model, adapter)


def nemotron(folder: Path) -> NemotronSystem:
    return NemotronSystem.load("tiny", folder, CPU, torch.float64)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"attention_bias": True}, "attention_bias is not supported"),
        ({"num_ar_layers": 2}, "num_ar_layers is not supported"),
        ({"tie_word_embeddings": True}, "tie_word_embeddings is not supported"),
        ({"layer_types": ["sliding_attention"] * 2}, "layer_types may be full_attention only"),
        ({"quantization_config": {"quant_method": "modelopt"}}, "quantised by modelopt"),
        ({"rope_parameters": ..., "rope_theta": 1e4}, "no rope_parameters"),
        ({"mask_token_id": ...}, "has no mask_token_id"),
        ({"mask_token_id": VOCAB}, f"mask_token_id must lie in 0..{MASK}"),
        ({"mask_token_id": True}, f"mask_token_id must lie in 0..{MASK}, got True"),
        ({"eos_token_id": ...}, "has no eos_token_id"),
        ({"num_hidden_layers": 1}, "unexpected tensor model.layers.1."),
        ({"num_hidden_layers": 3}, "missing tensor model.layers.2."),
        ({"vocab_size": VOCAB + 1}, "needs [32, 24]"),
        ({"hidden_size": "wide"}, "hidden_size"),
    ],
)
def test_a_nemotron_folder_is_refused_by_field(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    write_checkpoint(tmp_path)
    edit_config(tmp_path, **fields)
    assert reason in said(nemotron, tmp_path)


def test_a_damaged_nemotron_folder_is_named(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    edit_adapter(tmp_path / LORA_FOLDER, r=2)
    assert "at rank 2 needs [2, 32]" in said(nemotron, tmp_path)
    path = tmp_path / "model.safetensors"
    edit_tensors(path, lambda tensors: tensors | {"vision_tower.weight": torch.ones(1)})
    assert "unexpected tensor 'vision_tower.weight'" in said(nemotron, tmp_path)
    truncate(path)
    assert f"{path} is cut short" in said(nemotron, tmp_path)


def test_a_windowed_nemotron_decodes_as_its_decoder_generates(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    edit_config(tmp_path, sliding_window=5)
    system = nemotron(tmp_path)
    prompt, config = tuple(3 + i % 20 for i in range(16)), DecodeConfig(max_new_tokens=16, budget=6)
    expected = system.backbone.model.generate(
        torch.tensor([prompt]), max_new_tokens=16, do_sample=False, eos_token_id=11
    )[0, 16:].tolist()
    for method in (autoregressive, decode):
        assert [t for r in method(system, prompt, config) for t in r.committed] == expected


def refuse_to_answer(*_: object) -> str:
    raise AssertionError("a question was asked on the console")


def test_remote_code_is_neither_run_nor_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Nemotron folder as published: its code beside it, named by configuration and tokenizer."""
    monkeypatch.setattr("builtins.input", refuse_to_answer)
    write_checkpoint(tmp_path)
    write_words(tmp_path)
    code = {"AutoConfig": "code.Config", "AutoModel": "code.Model"}
    edit_config(tmp_path, auto_map=code)
    (tmp_path / "code.py").write_text("raise AssertionError('remote code was run')")
    load(local_pair(tmp_path), "float32")
    path = tmp_path / "tokenizer_config.json"
    raw = json.loads(path.read_text()) | {"auto_map": {"AutoTokenizer": ["code.Slow", "code.Fast"]}}
    path.write_text(json.dumps(raw))
    load(local_pair(tmp_path, mode="quadratic"), "float32")  # by the class it names besides
    path.write_text(json.dumps({k: v for k, v in raw.items() if k != "tokenizer_class"}))
    assert "has no tokenizer that can be read: " in said(load_text, tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, " has no tokenizer"),
        ("{", " has no tokenizer"),
        ('{"a": 1}', " has no tokenizer"),
        ("version https://git-lfs.github.com/spec/v1", "/tokenizer.json is a Git-LFS pointer"),
    ],
)
def test_a_folder_without_a_readable_tokenizer_is_named(
    tmp_path: Path, content: str | None, reason: str
) -> None:
    write_model("qwen3", tmp_path)
    for path in tmp_path.glob("*token*"):
        path.unlink()
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    assert f"{tmp_path}{reason}" in said(load_target, tmp_path, "float32")


@pytest.mark.parametrize("damage", ["cut", "head", "adapter", "gptq"])
def test_the_command_line_ends_with_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    damage: str,
) -> None:
    target, drafter = tmp_path / "target", tmp_path / "drafter"
    write_model("llama", target)
    system = tiny_gated(3)
    save_draft_adapter(drafter, system.adapter, system.mask_embedding, "tiny")
    if damage == "cut":
        truncate(target / "model.safetensors")
    elif damage == "head":
        edit_tensors(
            target / "model.safetensors", lambda t: {k: t[k] for k in t if k != "lm_head.weight"}
        )
    elif damage == "gptq":
        edit_config(target, quantization_config={"quant_method": "gptq"})
    words = ["presto", "decode", "w1 w2", "--target", str(target), "--drafter", str(drafter)]
    monkeypatch.setattr(sys, "argv", [*words, "--dtype", "float32"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"presto: {tmp_path}")
    assert {
        "cut": "is cut short: tensor",
        "head": "missing tensor lm_head.weight",
        "adapter": "adapter_model.safetensors: ",
        "gptq": "quantised by gptq",
    }[damage] in lines[0]


def test_only_plain_drafters_are_trained(tmp_path: Path) -> None:
    for more in ({}, {"causal": True}, {"output_multiplier": 0.5}):
        config = DFlashConfig(6, 3, 28, (0, 2), sizes(), **more)  # type: ignore[arg-type]
        assert config.is_plain is (not more)
    windowed = dflash(**MIXED)
    windowed.drafter.save(tmp_path)
    recipe = DFlashRecipe(steps=1, documents=1)
    document = Document(
        np.arange(16), 4, np.tile(np.arange(16), (12, 1)), np.zeros((12, 16), np.float32)
    )
    assert "cannot be trained here" in said(
        DFlashTrainer, windowed.backbone, [document] * 2, recipe, tmp_path
    )
