"""Any causal language model that transformers loads decodes to what its own ``generate`` writes, or
is refused in one sentence before it decodes: whole, damaged, and with one field changed.
"""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from presto.decoding.loop import autoregressive, decode
from presto.decoding.protocols import System
from presto.models.catalogue import PairSpec
from presto.models.kinds import ends_of
from presto.models.loading import gaps
from presto.models.registry import Pair, load_target
from presto.models.text import Text
from presto.records import DecodeConfig
from tests.support.checkpoints import (
    ARCHITECTURES,
    VOCAB,
    edit_config,
    edit_tensors,
    truncate,
    write_model,
)
from tests.support.doubles import systems

PROMPT = tuple(1 + 7 * i % (VOCAB - 1) for i in range(24))
CONFIG = DecodeConfig(max_new_tokens=20, budget=8, draft_length=4)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model_type(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(model_type: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp(model_type)
    write_model(model_type, folder)
    return folder


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test may damage."""
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def generated(folder: Path) -> list[int]:
    """What transformers itself writes, greedily."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    output = model.generate(
        torch.tensor([PROMPT]), max_new_tokens=CONFIG.max_new_tokens, do_sample=False
    )
    return output[0, len(PROMPT) :].tolist()


def written(system: System, method: Any) -> list[int]:
    return [token for round_ in method(system, PROMPT, CONFIG) for token in round_.committed]


def refusal(folder: Path) -> str:
    """The sentence a folder is refused with, empty if it is not."""
    said = ""
    try:
        load_target(folder, "float32")
    except ValueError as error:
        said = str(error)
    assert "\n" not in said
    assert not said or str(folder) in said
    return said


def test_plain_and_tree_decoding_equal_generate(folder: Path) -> None:
    expected = generated(folder)
    assert len(set(expected)) > 2, "a model that repeats itself tells nothing"
    backbone, _ = load_target(folder, "float32")
    for system in systems(backbone):
        assert written(system, autoregressive) == expected
        assert written(system, decode) == expected


def test_padded_passes_equal_generate(folder: Path) -> None:
    backbone, _ = load_target(folder, "float32")
    backbone.shapes = "padded"
    for system in systems(backbone):
        assert written(system, decode) == generated(folder)


def test_a_missing_tensor_is_named(copy: Path) -> None:
    path = copy / "model.safetensors"
    whole = path.read_bytes()
    names: list[str] = []
    edit_tensors(path, lambda tensors: names.extend(sorted(tensors)) or tensors)
    for name in names[:: max(1, len(names) // 3)]:
        path.write_bytes(whole)
        edit_tensors(path, lambda tensors, name=name: {k: tensors[k] for k in tensors if k != name})
        assert "missing tensor" in refusal(copy)


def test_a_truncated_and_a_missing_shard_are_named(model_type: str, tmp_path: Path) -> None:
    write_model(model_type, tmp_path, shard="20KB")
    first, second, *_ = sorted(tmp_path.glob("model-*.safetensors"))
    truncate(second)
    assert f"{second} is cut short: tensor" in refusal(tmp_path)
    first.unlink()
    assert f"its shard {first.name} is missing" in refusal(tmp_path)


SHARE = 4  # an architecture is tried with every fourth change, each fourth one with all of them
CHANGES: list[dict[str, Any]] = [
    {"num_hidden_layers": 2, "layer_types": ...},
    {"num_hidden_layers": 4, "layer_types": ...},
    {"hidden_size": 40},
    {"vocab_size": VOCAB + 2},
    {"num_key_value_heads": 1},
    {"sliding_window": 3},
    {"sliding_window": None},
    {"layer_types": ["full_attention"] * 3},
    {"layer_types": ["chunked_attention"] * 3},
    {"rms_norm_eps": 0.5},
    {"rope_theta": 50.0},
    {"tie_word_embeddings": True},
    {"tie_word_embeddings": False},
    {"attention_bias": True},
    {"logits_scaling": 2.0, "final_logit_softcapping": 2.0},
    {"max_position_embeddings": "many"},
    {"max_position_embeddings": ...},
    {"is_encoder_decoder": True},
    {"model_type": "unheard_of"},
    {"quantization_config": {"quant_method": "gptq", "bits": 4}},
]


def test_a_changed_field_is_followed_or_refused(model_type: str, copy: Path) -> None:
    whole = (copy / "config.json").read_text()
    start = list(ARCHITECTURES).index(model_type) % SHARE
    for change in CHANGES if start == 0 else CHANGES[start::SHARE]:
        (copy / "config.json").write_text(whole)
        edit_config(copy, **change)
        if not refusal(copy):
            backbone, _ = load_target(copy, "float32")
            assert written(systems(backbone)[0], decode) == generated(copy), change


def write_config(folder: Path, model_type: str, **fields: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({"model_type": model_type} | fields))
    return folder


@pytest.mark.parametrize(
    ("model_type", "fields", "reason"),
    [
        ("mamba", {}, "keeps a recurrent state"),
        ("jamba", {}, "keeps a recurrent state"),
        ("qwen3_next", {}, "keeps a recurrent state"),
        ("rwkv", {}, "keeps a recurrent state"),
        ("xlstm", {}, "keeps a recurrent state"),
        ("qwen3", {"layer_types": ["linear_attention"] * 32}, "keeps a recurrent state"),
        ("gemma3", {}, "is a multimodal model"),
        ("t5", {}, "is an encoder-decoder model"),
        ("vit", {}, "is no causal language model"),
        ("gpt_neo", {}, "layers of kind local"),
        ("llama", {"attention_chunk_size": 8}, "layers of kind chunked_attention"),
        ("qwen3", {"layer_types": ["chunked_attention"] * 32}, "layers of kind chunked_attention"),
        ("bitnet_2", {}, "knows no model type 'bitnet_2'"),
        ("own", {"auto_map": {"AutoConfig": "a.B"}}, "without code from its repository"),
        (None, {}, "knows no model type None"),
    ],
)
def test_other_kinds_are_refused_by_name_before_their_weights_are_read(
    tmp_path: Path, model_type: str, fields: dict[str, Any], reason: str
) -> None:
    assert reason in refusal(write_config(tmp_path, model_type, **fields))


@pytest.mark.parametrize("model_type", ["bloom", "mpt"])
def test_positions_by_index_are_found_by_the_check_at_load(tmp_path: Path, model_type: str) -> None:
    write_model(model_type, tmp_path)
    edit_config(tmp_path, max_position_embeddings=256)
    assert f"model type {model_type}" in refusal(tmp_path)
    assert "verif" in refusal(tmp_path)


def test_a_window_that_the_architecture_does_not_have_is_refused(tmp_path: Path) -> None:
    write_model("llama", tmp_path)
    edit_config(tmp_path, sliding_window=5)
    assert "differ from those of its own forward" in refusal(tmp_path)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    write_model("llama", tmp_path)
    edit_tensors(
        tmp_path / "model.safetensors",
        lambda tensors: tensors | {"model.norm.weight": tensors["model.norm.weight"] * math.nan},
    )
    assert "not finite" in refusal(tmp_path)


def test_gaps_in_numbered_names() -> None:
    names = [
        f"layers.{i}.experts.{j}.{w}" for i in (1, 2) for j in range(3) for w in ("up", "norm.w")
    ]
    assert gaps(names) == []
    names.remove("layers.2.experts.1.norm.w")
    assert gaps(["head", *names]) == ["layers.2.experts.1.norm.w"]


def test_a_tied_head_is_the_embedding(tmp_path: Path) -> None:
    write_model("qwen3", tmp_path, tie_word_embeddings=True)
    backbone, _ = load_target(tmp_path, "float32")
    assert backbone.head.weight is backbone.embeddings.weight
    assert written(systems(backbone)[0], decode) == generated(tmp_path)
    edit_config(tmp_path, tie_word_embeddings=False)
    assert "missing tensor lm_head.weight" in refusal(tmp_path)


def test_ends_are_those_of_generate_and_of_the_tokenizer(tmp_path: Path) -> None:
    write_model("llama", tmp_path)
    backbone, text = load_target(tmp_path, "float32")
    assert ends_of(backbone, text) == frozenset()
    backbone.model.generation_config.eos_token_id = [5, 6]
    text.tokenizer.eos_token = "w7"
    assert ends_of(backbone, text) == {5, 6, 7}
    for wrong in (True, "x", [5, {}], -1, 5.5):
        backbone.model.generation_config.eos_token_id = wrong
        with pytest.raises(ValueError, match=r"^generation_config\.json: eos_token_id must be"):
            ends_of(backbone, text)


def test_settings_of_generate_that_are_not_followed_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_model("llama", tmp_path)
    load_target(tmp_path, "float32")
    assert not caplog.messages
    path = tmp_path / "generation_config.json"
    usual = {"repetition_penalty": 1.0, "num_beams": 1, "temperature": 0.6, "top_p": 0.9}
    path.write_text(json.dumps(usual | {"do_sample": True}))
    load_target(tmp_path, "float32")
    assert not caplog.messages
    path.write_text(json.dumps(usual | {"repetition_penalty": 1.05, "suppress_tokens": [3]}))
    load_target(tmp_path, "float32")
    assert caplog.messages == [
        f"{path} asks for repetition_penalty 1.05, suppress_tokens [3]: not applied here, the "
        "model's own choices are decoded"
    ]


def test_a_token_that_the_model_has_no_row_for_is_refused_by_name(tmp_path: Path) -> None:
    write_model("llama", tmp_path)
    backbone, text = load_target(tmp_path, "float32")
    text.tokenizer.add_tokens(["w99"])
    text = Text(text.tokenizer)
    pair = Pair(PairSpec("x", "", "gated", ""), systems(backbone)[0], text, None)
    assert pair.encode("w1 w2") == (1, 2)
    text.tokenizer.chat_template += "w99"
    with pytest.raises(ValueError, match="'w99' as token 48, but the model knows 48 tokens"):
        pair.encode("w1 w2 ")
