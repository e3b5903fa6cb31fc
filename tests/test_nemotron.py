"""Nemotron-Labs-Diffusion: a tiny checkpoint in the public layout, a plain implementation, lossless
decoding.
"""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import Ministral3Config, Ministral3ForCausalLM

from presto.decoding.loop import autoregressive, decode
from presto.models.nemotron import MODEL_TYPE, NemotronSystem, decoder_config, model_key
from presto.models.quadratic import QuadraticNemotronSystem
from presto.records import DecodeConfig
from tests.support.checks import some
from tests.support.doubles import ancestor_mask
from tests.support.examples import examples
from tests.support.nemotron import (
    ALPHA,
    BETA,
    DIM,
    FACTOR,
    GROUPS,
    HEADS,
    LAYERS,
    MASK,
    ORIGINAL,
    RANK,
    THETA,
    VOCAB,
    write_checkpoint,
)


@pytest.fixture(scope="module")
def tensors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    return write_checkpoint(folder(tmp_path_factory))


def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "nemotron"


@pytest.fixture(scope="module")
def system(
    device: torch.device, tensors: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory
) -> NemotronSystem:
    return NemotronSystem.load("tiny", folder(tmp_path_factory), device, torch.float64)


def yarn_angles(positions: torch.Tensor) -> torch.Tensor:
    """YaRN (arXiv 2309.00071) frequencies times positions, written out."""
    exponents = torch.arange(0, DIM, 2, dtype=torch.float64) / DIM
    plain = 1 / THETA**exponents

    def dimension(rotations: float) -> float:
        return DIM * math.log(ORIGINAL / (rotations * 2 * math.pi)) / (2 * math.log(THETA))

    low, high = max(math.floor(dimension(32.0)), 0), min(math.ceil(dimension(1.0)), DIM - 1)
    ramp = ((torch.arange(DIM // 2, dtype=torch.float64) - low) / max(high - low, 0.001)).clamp(
        0, 1
    )
    return positions[:, None] * (plain / FACTOR * ramp + plain * (1 - ramp))


def rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    cos, sin = (
        angles.cos()[:, None],
        angles.sin()[:, None],
    )  # mscale = mscale_all_dim: no attention factor
    left, right = x[..., : DIM // 2], x[..., DIM // 2 :]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def rms(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight


def plain_logits(
    tensors: dict[str, torch.Tensor],
    ids: list[int],
    positions: list[int],
    mask: torch.Tensor,
    adapted: torch.Tensor,
) -> torch.Tensor:
    """Logits of a whole sequence at once, from the description: no cache; ``adapted [rows]`` marks
    LoRA rows.
    """
    x = tensors["encoder.embed_tokens.weight"][ids]
    where = torch.tensor(positions, dtype=torch.float64)
    angles, scale = yarn_angles(where), 1 + BETA * torch.log(1 + torch.floor(where / ORIGINAL))
    for i in range(LAYERS):
        w = {
            name.split(f"encoder.layers.{i}.")[1]: t
            for name, t in tensors.items()
            if f"encoder.layers.{i}." in name
        }
        rows = rms(x, w["input_layernorm.weight"])
        q = (
            rotate((rows @ w["self_attn.q_proj.weight"].T).view(-1, HEADS, DIM), angles)
            * scale[:, None, None]
        )
        k = rotate((rows @ w["self_attn.k_proj.weight"].T).view(-1, GROUPS, DIM), angles)
        v = (rows @ w["self_attn.v_proj.weight"].T).view(-1, GROUPS, DIM)
        heads = []
        for h in range(HEADS):
            scores = (q[:, h] @ k[:, h // 2].T / math.sqrt(DIM)).masked_fill(~mask, -math.inf)
            heads.append(torch.softmax(scores, -1) @ v[:, h // 2])
        mixed = torch.cat(heads, -1)
        update = (
            mixed
            @ w["self_attn.o_proj.lora_A.weight"].T
            @ w["self_attn.o_proj.lora_B.weight"].T
            * ALPHA
            / RANK
        )
        x = x + mixed @ w["self_attn.o_proj.weight"].T + adapted[:, None] * update
        rows = rms(x, w["post_attention_layernorm.weight"])
        gate = torch.nn.functional.silu(rows @ w["mlp.gate_proj.weight"].T)
        x = x + (gate * (rows @ w["mlp.up_proj.weight"].T)) @ w["mlp.down_proj.weight"].T
    return rms(x, tensors["encoder.norm.weight"]) @ tensors["diffusion_head.weight"].T


@pytest.mark.parametrize("length", [5, 30])  # 30: positions beyond original_max_position_embeddings
def test_drafts_equal_the_plain_implementation(
    system: NemotronSystem, tensors: dict[str, torch.Tensor], length: int
) -> None:
    prefix = [3 + i % 20 for i in range(length)]
    masks, rows = 4, length + 4
    draft = system.start(tuple(prefix), 96).draft(prefix[-1], masks, top_k=VOCAB)
    mask = torch.ones(rows, rows).tril().bool()
    mask[length - 1 :, length - 1 :] = True
    adapted = torch.zeros(rows, dtype=torch.float64)
    adapted[length - 1 :] = 1
    logits = plain_logits(tensors, [*prefix, *[MASK] * masks], list(range(rows)), mask, adapted)[
        length:
    ]
    assert len(draft.marginals.token_ids) == masks
    for row, (ids, log_q) in enumerate(
        zip(draft.marginals.token_ids, draft.marginals.log_q, strict=True)
    ):
        expected = torch.log_softmax(logits[row], -1)[list(ids)]
        torch.testing.assert_close(
            torch.tensor(log_q, dtype=torch.float64), expected, atol=1e-4, rtol=0
        )


@pytest.mark.parametrize("length", [5, 30])
def test_verification_equals_the_plain_implementation(
    system: NemotronSystem, tensors: dict[str, torch.Tensor], length: int
) -> None:
    prefix = [3 + i % 20 for i in range(length)]
    round_ = next(decode(system, prefix, DecodeConfig(max_new_tokens=9, budget=6, draft_length=4)))
    tree = round_.tree
    rows = length - 1 + len(tree.tokens)
    mask = torch.ones(rows, rows).tril().bool()
    mask[length - 1 :, length - 1 :] = ancestor_mask(tree.parents)
    depth = [0] * len(tree.tokens)
    for node, parent in enumerate(tree.parents[1:], start=1):
        depth[node] = depth[parent] + 1
    positions = [*range(length - 1), *(length - 1 + d for d in depth)]
    logits = plain_logits(
        tensors, [*prefix[:-1], *tree.tokens], positions, mask, torch.zeros(rows).double()
    )
    log_p = torch.log_softmax(logits[length - 1 :], -1)
    for node, parent in some(enumerate(tree.parents[1:], start=1)):
        assert round_.log_p[node] == pytest.approx(
            float(log_p[parent, tree.tokens[node]]), abs=1e-4
        )


@settings(max_examples=examples(60))
@given(
    prompt=st.lists(st.integers(2, 29), min_size=1, max_size=20),
    scorer=st.sampled_from(("blind", "pmi")),
    budget=st.integers(1, 12),
    temperature=st.sampled_from((0.0, 0.9)),
)
def test_lossless(
    system: NemotronSystem, prompt: list[int], scorer: str, budget: int, temperature: float
) -> None:
    config = DecodeConfig(
        scorer=scorer, budget=budget, temperature=temperature, max_new_tokens=16, draft_length=6
    )  # type: ignore[arg-type]
    ours = [token for round_ in decode(system, prompt, config) for token in round_.committed]
    assert ours == [
        token for round_ in autoregressive(system, prompt, config) for token in round_.committed
    ]


def test_quadratic_marginals_equal_the_plain_implementation_in_one_forward_per_round(
    device: torch.device, tensors: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory
) -> None:
    quadratic = QuadraticNemotronSystem.load(
        "tiny", folder(tmp_path_factory), device, torch.float64
    )
    prompt, masks = [3 + i % 20 for i in range(14)], 4
    config = DecodeConfig(max_new_tokens=14, budget=5, draft_length=masks, top_k=VOCAB)
    rounds = list(decode(quadratic, prompt, config))
    text = [*prompt, *(token for round_ in rounds for token in round_.committed)]
    assert [round_.forwards for round_ in rounds] == [2, *[1] * (len(rounds) - 1)]
    for round_ in some(round_ for round_ in rounds[1:] if round_.marginals.token_ids):
        # The last accepted node stands before the bonus; its masks stand behind it, the first in
        # the bonus' place.
        known = round_.start - 1
        rows = known + masks + 1
        mask = torch.ones(rows, rows).tril().bool()
        mask[known:, known:] = True
        adapted = torch.zeros(rows, dtype=torch.float64)
        adapted[known:] = 1
        ids = [*text[:known], *[MASK] * (masks + 1)]
        expected = torch.log_softmax(
            plain_logits(tensors, ids, list(range(rows)), mask, adapted)[known + 1 :], -1
        )
        for row, (ids_, log_q) in enumerate(
            zip(round_.marginals.token_ids, round_.marginals.log_q, strict=True)
        ):
            torch.testing.assert_close(
                torch.tensor(log_q, dtype=torch.float64),
                expected[row, list(ids_)],
                atol=1e-4,
                rtol=0,
            )


@pytest.mark.parametrize(
    ("hidden", "inner", "layers"), [(3072, 9216, 26), (4096, 14336, 34)]
)  # 3B and 8B
def test_the_true_shapes_without_allocating(hidden: int, inner: int, layers: int) -> None:
    raw = {
        "model_type": MODEL_TYPE,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
    }
    heads = {
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 131072,
    }
    with torch.device("meta"):
        model = Ministral3ForCausalLM(decoder_config(raw | heads))
    expected = {
        "encoder.embed_tokens.weight": (131072, hidden),
        "diffusion_head.weight": (131072, hidden),
    }
    expected |= {"encoder.norm.weight": (hidden,)}
    for i in range(layers):
        layer = f"encoder.layers.{i}."
        expected |= {
            layer + f"{name}.weight": (hidden,)
            for name in ("input_layernorm", "post_attention_layernorm")
        }
        expected |= {layer + f"self_attn.{name}_proj.weight": (1024, hidden) for name in "kv"}
        expected |= {layer + "self_attn.q_proj.weight": (4096, hidden)}
        expected |= {layer + "self_attn.o_proj.weight": (hidden, 4096)}
        expected |= {layer + f"mlp.{name}_proj.weight": (inner, hidden) for name in ("gate", "up")}
        expected |= {layer + "mlp.down_proj.weight": (hidden, inner)}
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    assert shapes == {model_key(name): shape for name, shape in expected.items()}
    rope = Ministral3Config().rope_parameters
    assert (rope["factor"], rope["original_max_position_embeddings"]) == (16.0, 16384)


def test_foreign_folders_are_refused(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ValueError, match="model_type is 'llama'"):
        NemotronSystem.load("x", tmp_path, torch.device("cpu"), torch.float32)
    with pytest.raises(ValueError, match="unexpected tensor"):
        model_key("vision.tower")
