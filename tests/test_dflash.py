"""DFlash drafters: the public layout, an independent plain implementation, and lossless
decoding.
"""

import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import Qwen3Config

from presto.decoding.loop import autoregressive, decode
from presto.models.dflash import DFlashSystem
from presto.models.dflash_config import ARCHITECTURE, DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.records import DecodeConfig
from tests.support.checks import some
from tests.support.dflash import HIDDEN, LAYER_IDS, VOCAB, dflash, sizes, tiny_dflash
from tests.support.examples import examples

SYSTEM = tiny_dflash()  # the plain implementation's weights


@pytest.fixture(scope="module")
def system(device: torch.device) -> DFlashSystem:
    return tiny_dflash(device=device)


def rms(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """RoPE on ``[rows, heads, dim]``, written out."""
    dim = x.shape[-1]
    angles = positions[:, None] / (10000.0 ** (torch.arange(0, dim, 2) / dim))
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    left, right = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def plain_draft(prefix: list[int], masks: int) -> torch.Tensor:
    """The drafter's logits after ``prefix``, from the description alone: no cache, loops over
    heads.
    """
    weights = {name: tensor.double() for name, tensor in SYSTEM.drafter.state_dict().items()}
    model = SYSTEM.backbone.model
    context_ids = torch.tensor([prefix[:-1]])
    states = model(context_ids, output_hidden_states=True, use_cache=False).hidden_states
    features = torch.cat([states[i + 1][0] for i in LAYER_IDS], -1)
    context = rms(features @ weights["fc.weight"].T, weights["hidden_norm.weight"])
    x = SYSTEM.backbone.embeddings(torch.tensor([prefix[-1]] + [28] * masks))
    known = len(context)
    positions = torch.arange(known + len(x)).double()
    for i in range(2):
        w = {
            name.split(f"layers.{i}.")[1]: t
            for name, t in weights.items()
            if name.startswith(f"layers.{i}.")
        }
        rows = rms(x, w["input_layernorm.weight"])
        both = torch.cat([context, rows])
        q = rms(
            (rows @ w["self_attn.q_proj.weight"].T).view(-1, 4, 8), w["self_attn.q_norm.weight"]
        )
        k = rms(
            (both @ w["self_attn.k_proj.weight"].T).view(-1, 2, 8), w["self_attn.k_norm.weight"]
        )
        v = (both @ w["self_attn.v_proj.weight"].T).view(-1, 2, 8)
        q, k = rotate(q, positions[known:]), rotate(k, positions)
        heads = [
            torch.softmax(q[:, h] @ k[:, h // 2].T / math.sqrt(8), -1) @ v[:,
            h // 2] for h in range(4)
        ]  # fmt: skip
        x = x + torch.cat(heads, -1) @ w["self_attn.o_proj.weight"].T
        rows = rms(x, w["post_attention_layernorm.weight"])
        gate = torch.nn.functional.silu(rows @ w["mlp.gate_proj.weight"].T)
        x = x + (gate * (rows @ w["mlp.up_proj.weight"].T)) @ w["mlp.down_proj.weight"].T
    return rms(x, weights["norm.weight"])[1:] @ model.get_output_embeddings().weight.T


def test_the_default_rope_of_the_plain_implementation_is_the_configurations() -> None:
    assert sizes(1).rope_parameters["rope_theta"] == 10000.0


def test_drafts_equal_the_plain_implementation_before_and_after_a_commit(
    system: DFlashSystem,
) -> None:
    prompt = [3, 9, 4, 12, 7]
    rounds = list(
        decode(
            system, prompt, DecodeConfig(max_new_tokens=16, budget=6, draft_length=5, top_k=VOCAB)
        )
    )
    text = [*prompt, *(token for round_ in rounds for token in round_.committed)]
    for round_ in some(round_ for round_ in rounds if round_.marginals.token_ids):
        with torch.no_grad():
            logits = plain_draft(text[: round_.start], len(round_.marginals.token_ids))
        expected = torch.log_softmax(logits, -1)
        for row, (ids, log_q) in enumerate(
            zip(round_.marginals.token_ids, round_.marginals.log_q, strict=True)
        ):
            torch.testing.assert_close(
                torch.tensor(log_q, dtype=torch.float64),
                expected[row, list(ids)],
                atol=1e-4,
                rtol=0,
            )


@settings(max_examples=examples(60))
@given(
    prompt=st.lists(st.integers(2, 27), min_size=1, max_size=8),
    scorer=st.sampled_from(("blind", "pmi", "mixture")),
    search=st.sampled_from(("linear", "beam", "best_first")),
    budget=st.integers(1, 12),
    temperature=st.sampled_from((0.0, 0.9)),
)
def test_lossless(
    system: DFlashSystem,
    prompt: list[int],
    scorer: str,
    search: str,
    budget: int,
    temperature: float,
) -> None:
    config = DecodeConfig(
        scorer=scorer,
        search=search,
        budget=budget,
        temperature=temperature,
        max_new_tokens=18,
        draft_length=5,
    )  # type: ignore[arg-type]
    ours = [token for round_ in decode(system, prompt, config) for token in round_.committed]
    assert ours == [
        token for round_ in autoregressive(system, prompt, config) for token in round_.committed
    ]


@pytest.mark.parametrize("prompt", [20, 253])
def test_a_drafter_of_a_shorter_context_drafts_to_the_end_of_the_targets(prompt: int) -> None:
    """Its own configuration ends at 16 positions, the target's at 256."""
    pair = dflash(max_position_embeddings=16)
    ids = [3 + i % 20 for i in range(prompt)]
    config = DecodeConfig(max_new_tokens=min(24, 256 - prompt), draft_length=5, budget=8)
    rounds = list(decode(pair, ids, config))
    reference = list(autoregressive(pair, ids, config))
    assert [t for r in rounds for t in r.committed] == [t for r in reference for t in r.committed]
    assert sum(len(round_.committed) for round_ in rounds) == config.max_new_tokens
    assert any(round_.marginals.token_ids for round_ in rounds)


def test_the_checkpoint_has_the_public_layout_and_round_trips(tmp_path: Path) -> None:
    SYSTEM.drafter.save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == [ARCHITECTURE]
    assert config["model_type"] == "qwen3"
    assert config["dflash_config"] == {"mask_token_id": 28, "target_layer_ids": [0, 2]}
    tensors = load_file(tmp_path / "model.safetensors")
    layer = {
        "input_layernorm", "post_attention_layernorm", "self_attn.q_proj", "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm", "mlp.gate_proj",
        "mlp.up_proj", "mlp.down_proj",
    }  # fmt: skip
    names = {f"layers.{i}.{part}.weight" for i in range(2) for part in layer}
    assert tensors.keys() == names | {"fc.weight", "hidden_norm.weight", "norm.weight"}
    assert tensors["fc.weight"].shape == (HIDDEN, 2 * HIDDEN)
    loaded = DFlashDrafter.load(tmp_path)
    for name, tensor in SYSTEM.drafter.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], tensor.float(), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize(("hidden", "inner"), [(2560, 9728), (4096, 12288)])  # Qwen3-4B and -8B
def test_the_true_shapes_without_allocating(hidden: int, inner: int) -> None:
    config = Qwen3Config(
        hidden_size=hidden, intermediate_size=inner, num_hidden_layers=5, num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128, vocab_size=151936,
    )  # fmt: skip
    with torch.device("meta"):
        drafter = DFlashDrafter(DFlashConfig(16, 36, 151669, (1, 9, 17, 25, 33), config))
    expected = {
        "fc.weight": (hidden, 5 * hidden),
        "hidden_norm.weight": (hidden,),
        "norm.weight": (hidden,),
    }
    for i in range(5):
        expected |= {
            f"layers.{i}.{name}.weight": (hidden,)
            for name in ("input_layernorm", "post_attention_layernorm")
        }
        expected |= {f"layers.{i}.self_attn.{name}_norm.weight": (128,) for name in "qk"}
        expected |= {f"layers.{i}.self_attn.{name}_proj.weight": (1024, hidden) for name in "kv"}
        expected |= {f"layers.{i}.self_attn.q_proj.weight": (4096, hidden)}
        expected |= {f"layers.{i}.self_attn.o_proj.weight": (hidden, 4096)}
        expected |= {
            f"layers.{i}.mlp.{name}_proj.weight": (inner, hidden) for name in ("gate", "up")
        }
        expected |= {f"layers.{i}.mlp.down_proj.weight": (hidden, inner)}
    assert {name: tuple(tensor.shape) for name, tensor in drafter.state_dict().items()} == expected


def test_a_foreign_drafter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    with pytest.raises(ValueError, match="no DFlash configuration"):
        DFlashDrafter.load(tmp_path)
    drafter = DFlashDrafter(DFlashConfig(6, 7, 28, LAYER_IDS, sizes(2)))
    with pytest.raises(ValueError, match="7 target layers, not 4"):
        DFlashSystem("x", SYSTEM.backbone, frozenset(), drafter)
