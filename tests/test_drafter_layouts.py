"""Drafters in other public layouts: an independent plain reference, losslessness, refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.decoding.loop import Run, autoregressive, decode
from presto.models.dflash import DFlashSystem
from presto.models.dflash_network import DFlashDrafter
from presto.models.drafter_layouts import read_drafter_config
from presto.models.kinds import KINDS
from presto.records import DecodeConfig
from presto.scorers import SCORERS
from tests.support.checks import some
from tests.support.doubles import tiny_gated
from tests.support.drafters_on_disk import (
    BLOCK,
    DFLASH2,
    DSPARK,
    GROUP,
    HIDDEN,
    LAYERS,
    LAYOUTS,
    MASK,
    READ,
    SIZES,
    SPECULATORS,
    TAPS,
    VOCAB,
    pair,
    write_drafter,
)
from tests.support.examples import examples

Weights = dict[str, torch.Tensor]


@pytest.fixture(scope="module", params=sorted(LAYOUTS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Weights, DFlashSystem]:
    """A layout's configuration, its weights in float64, and the pair that was loaded from it."""
    folder = tmp_path_factory.mktemp(request.param)
    weights = write_drafter(folder, LAYOUTS[request.param])
    doubles = {
        name: tensor.double() if tensor.is_floating_point() else tensor
        for name, tensor in weights.items()
    }
    return LAYOUTS[request.param], doubles, pair(folder)


def rms(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """RoPE on ``[rows, heads, 8]``, written out."""
    angles = positions[:, None] / (10000.0 ** (torch.arange(0, 8, 2) / 8))
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    return torch.cat([x[..., :4] * cos - x[..., 4:] * sin, x[..., 4:] * cos + x[..., :4] * sin], -1)


def convolved(weights: Weights, name: str, source: Any, rows: Any, side: int) -> Any:
    """A DFlash 2 convolution by its definition, loop by loop; rows as they are in other layouts."""
    if f"{name}.base_kernel" not in weights:
        return rows
    base = weights[f"{name}.base_kernel"][side]
    changes = source @ weights[f"{name}.kernel_projection.weight"].T
    changes = changes.view(len(rows), 2, TAPS, -1)[:, side]
    out = torch.zeros_like(rows)
    for i in range(len(rows)):
        for tap in range(min(TAPS, i + 1)):
            for c in range(HIDDEN):
                kernel = base[tap, c] + changes[i, tap, c // GROUP]
                out[i, c] += kernel * rows[i - tap, c]
    return out


def plain_states(weights: Weights, system: DFlashSystem, prefix: list[int], rows: int) -> Any:
    """The drafter's final states ``[rows, H]`` of anchor and masks, without a cache."""
    model = system.backbone.model
    states = model(torch.tensor([prefix[:-1]]), output_hidden_states=True).hidden_states
    read = torch.cat([states[layer + 1][0] for layer in READ], -1)
    context = rms(read @ weights["fc.weight"].T, weights["hidden_norm.weight"])
    config = system.drafter.config
    embedding = weights.get("embed_tokens.weight", system.backbone.embeddings.weight)
    x = embedding[[prefix[-1]] + [MASK] * (rows - 1)] * config.input_embedding_scale
    places = torch.arange(len(context) + rows).double()
    for layer in range(LAYERS):
        w = {
            name.removeprefix(f"layers.{layer}.").removesuffix(".weight"): tensor
            for name, tensor in weights.items()
            if name.startswith(f"layers.{layer}.")
        }
        at = f"layers.{layer}.attention_conv"
        source = rms(x, w["input_layernorm"])
        seen = torch.cat([context, convolved(weights, at, source, source, 0)])
        q = (seen[len(context) :] @ w["self_attn.q_proj"].T).view(rows, 4, 8)
        k, v = ((seen @ w[f"self_attn.{n}_proj"].T).view(-1, 2, 8) for n in "kv")
        q = rotate(rms(q, w["self_attn.q_norm"]), places[len(context) :])
        k = rotate(rms(k, w["self_attn.k_norm"]), places)
        heads = [
            torch.softmax(q[:, h] @ k[:, h // 2].T / 8**0.5, -1) @ v[:, h // 2] for h in range(4)
        ]
        mixed = torch.cat(heads, -1) @ w["self_attn.o_proj"].T
        x = x + convolved(weights, at, source, mixed, 1)
        at, source = f"layers.{layer}.mlp_conv", rms(x, w["post_attention_layernorm"])
        y = convolved(weights, at, source, source, 0)
        gate = torch.nn.functional.silu(y @ w["mlp.gate_proj"].T) * (y @ w["mlp.up_proj"].T)
        x = x + convolved(weights, at, source, gate @ w["mlp.down_proj"].T, 1)
    return rms(x, weights["norm.weight"])


def plain_logits(weights: Weights, system: DFlashSystem, states: Any) -> torch.Tensor:
    if "lm_head.weight" in weights:
        return states @ weights["lm_head.weight"].T
    scaled = states @ system.backbone.head.weight.T * 0.8
    return torch.tanh(scaled / 9.0) * 9.0


def ahead_of(config: dict[str, Any]) -> bool:
    """Whether rows predict the token behind them."""
    return bool(config.get("sample_from_anchor", "dflash_config" not in config))


def ids_of(weights: Weights) -> list[int]:
    """The target's ids of the draft's vocabulary."""
    if "d2t" not in weights:
        return list(range(VOCAB))
    return [token + int(shift) for token, shift in enumerate(weights["d2t"])]


@pytest.mark.parametrize("length", [1, 3, BLOCK - 1])
def test_marginals_are_those_of_the_plain_reference(
    length: int, made: tuple[dict[str, Any], Weights, DFlashSystem]
) -> None:
    config, weights, system = made
    prefix, ahead = [3, 9, 4, 11], ahead_of(config)
    states = plain_states(weights, system, prefix, length + (not ahead))[not ahead :]
    expected = torch.log_softmax(plain_logits(weights, system, states), -1)
    session = system.start(tuple(prefix), 64)
    draft = session.draft(prefix[-1], length, 6)
    ids = ids_of(weights)
    assert len(draft.marginals.token_ids) == length
    for row, tokens, log_q in zip(
        expected, draft.marginals.token_ids, draft.marginals.log_q, strict=True
    ):
        best = row.sort(descending=True)
        assert list(tokens) == [ids[i] for i in best.indices[:6].tolist()]
        assert log_q == pytest.approx(best.values[:6].tolist(), abs=2e-5)


def test_a_block_that_predicts_the_next_token_drafts_as_many_as_it_has(
    made: tuple[dict[str, Any], Weights, DFlashSystem],
) -> None:
    config, _, system = made
    assert system.max_draft == BLOCK - (not ahead_of(config))


def plain_bias(config: dict[str, Any], weights: Weights, before: int, state: Any) -> torch.Tensor:
    known = weights["markov_head.markov_w1.weight"][before]
    if config["markov_head_type"] == "gated":
        gate = weights["markov_head.gate_proj.weight"] @ torch.cat([state, known])
        known = known * torch.sigmoid(gate + weights["markov_head.gate_proj.bias"])
    return weights["markov_head.markov_w2.weight"] @ known


def test_pair_scores_are_those_of_the_plain_markov_head(
    made: tuple[dict[str, Any], Weights, DFlashSystem],
) -> None:
    config, weights, system = made
    if not config.get("markov_rank"):
        assert system.scores_pairs == ("candidate_selector.successor_codebook" in weights)
        return
    prefix, length, ids = [3, 9, 4, 11], 3, ids_of(weights)
    states = plain_states(weights, system, prefix, length)
    draft = system.start(tuple(prefix), 64).draft(prefix[-1], length, 6)
    tokens = np.array(draft.marginals.token_ids)
    parents = np.vstack([np.full((1, 6), prefix[-1]), tokens[:-1]])
    outside = next((token for token in range(VOCAB) if token not in ids), None)
    if outside is not None:
        tokens[1, 2] = outside
    assert draft.pairs is not None
    found = draft.pairs(parents, tokens)
    for depth, state in enumerate(states):
        logits = weights["lm_head.weight"] @ state
        blind = torch.log_softmax(logits, -1)
        for rank, before in enumerate(parents[depth].tolist()):
            aligned = torch.log_softmax(logits + plain_bias(config, weights, before, state), -1)
            expected = [
                float(aligned[ids.index(t)] - blind[ids.index(t)]) if t in ids else 0.0
                for t in tokens[depth].tolist()
            ]
            assert found[depth, rank] == pytest.approx(expected, abs=1e-4)


@settings(max_examples=examples(70))
@given(
    prompt=st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=6),
    scorer=st.sampled_from(("blind", "pmi", "learned", "markov")),
    search=st.sampled_from(("best_first", "beam", "linear")),
    budget=st.integers(1, 12),
    draft_length=st.integers(1, 7),
    temperature=st.sampled_from((0.0, 0.8)),
    seed=st.integers(0, 9),
    weight=st.sampled_from((0.0, 0.7)),
)
def test_what_is_decoded_is_the_targets_own_text(
    made: tuple[dict[str, Any], Weights, DFlashSystem],
    prompt: list[int],
    scorer: str,
    weight: float,
    **more: Any,
) -> None:
    _, _, system = made
    if scorer == "markov" and not system.scores_pairs:
        scorer = "pmi"
    own = {"ngram": weight} if scorer == "markov" else {}
    config = DecodeConfig(max_new_tokens=12, scorer=scorer, scorer_settings=own, top_k=8, **more)
    rounds, plain = decode(system, prompt, config), autoregressive(system, prompt, config)
    assert [t for r in rounds for t in r.committed] == [t for r in plain for t in r.committed]


def test_the_selectors_scores_are_those_among_the_candidates(
    made: tuple[dict[str, Any], Weights, DFlashSystem],
) -> None:
    _, weights, system = made
    if "candidate_selector.predecessor_codebook" not in weights:
        return
    prefix, length = [3, 9, 4, 11], 3
    states = plain_states(weights, system, prefix, length + 1)[1:]
    logits = plain_logits(weights, system, states)
    draft = system.start(tuple(prefix), 64).draft(prefix[-1], length, 6)
    tokens = np.array(draft.marginals.token_ids)
    parents = np.vstack([np.full((1, 6), prefix[-1]), tokens[:-1]])
    assert draft.pairs is not None
    found = draft.pairs(parents, tokens)
    first, second, project = (
        weights[f"candidate_selector.{name}"]
        for name in ("predecessor_codebook", "successor_codebook", "hidden_projection.weight")
    )
    for depth, state in enumerate(states):
        unary = logits[depth][tokens[depth].tolist()]
        for rank, before in enumerate(parents[depth].tolist()):
            edges = second[tokens[depth].tolist()] @ (first[before] * (project @ state))
            expected = torch.log_softmax(unary + edges, 0) - torch.log_softmax(unary, 0)
            assert found[depth, rank] == pytest.approx(expected.tolist(), abs=1e-4)


def test_the_pair_scores_are_what_the_tree_was_ranked_by(
    made: tuple[dict[str, Any], Weights, DFlashSystem],
) -> None:
    _, _, system = made
    if not system.scores_pairs:
        return
    config = DecodeConfig(max_new_tokens=9, scorer="markov", lam=1.0, budget=12, draft_length=3)
    run = Run.begin(system, [3, 9, 4, 11], config)
    tree = run.draft_round().tree
    draft = system.start((3, 9, 4, 11), 64).draft(11, 3, config.top_k + 1)
    assert draft.pairs is not None
    for node in some(range(1, len(tree.tokens))):
        depth, above = 0, tree.parents[node]
        while above:
            depth, above = depth + 1, tree.parents[above]
        tokens = np.array(draft.marginals.token_ids)[:, : config.top_k]
        parents = np.full((3, 1), tree.tokens[tree.parents[node]])
        score = float(draft.pairs(parents, tokens)[depth, 0, tree.rank[node]])
        assert tree.log_rho[node] == pytest.approx(score, abs=2e-5)


def test_a_pair_without_such_scores_is_refused_before_any_pass() -> None:
    config = DecodeConfig(scorer="markov")
    with pytest.raises(ValueError, match="the scorer markov needs a drafter that scores a token"):
        Run.begin(tiny_gated(1), [3, 4], config)
    assert SCORERS["markov"].reads_drafter


@pytest.mark.parametrize(("hidden", "inner"), [(2560, 9728), (4096, 12288)])  # Qwen3-4B and -8B
def test_dsparks_true_shapes_without_allocating(hidden: int, inner: int, tmp_path: Path) -> None:
    sizes = {"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 5}
    heads = {"num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128}
    more = {"vocab_size": 151_936, "layer_types": ["full_attention"] * 5, "block_size": 7}
    read = {"num_target_layers": 36, "target_layer_ids": [1, 9, 17, 25, 33], "markov_rank": 256}
    config = DSPARK | sizes | heads | more | read | {"mask_token_id": 151_669}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        drafter = DFlashDrafter(read_drafter_config(tmp_path))
    shapes = {name: tuple(tensor.shape) for name, tensor in drafter.state_dict().items()}
    assert shapes["markov_head.markov_w1.weight"] == (151_936, 256)
    assert shapes["markov_head.markov_w2.weight"] == (151_936, 256)
    assert shapes["embed_tokens.weight"] == shapes["lm_head.weight"] == (151_936, hidden)
    assert shapes["fc.weight"] == (hidden, 5 * hidden)
    assert len(shapes) == 7 + 5 * 11


def without(config: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key != name}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (DSPARK | {"markov_head_type": "rnn"}, "markov_head_type is 'rnn': vanilla and gated"),
        (without(DSPARK, "markov_rank"), "'markov_rank' is missing"),
        (DSPARK | {"block_size": "seven"}, "block_size must be a whole number of at least 1"),
        (DSPARK | {"block_size": True}, "block_size must be a whole number of at least 1"),
        (DSPARK | {"target_layer_ids": [1.5]}, "layers must be whole numbers, got 1.5"),
        (DSPARK | {"target_layer_ids": [9]}, "target_layer_ids must be below num_target_layers 4"),
        (
            DFLASH2 | {"dflash_config": without(DFLASH2["dflash_config"], "selector_rank")},
            "'selector_rank' is missing",
        ),
        (
            DFLASH2 | {"dflash_config": DFLASH2["dflash_config"] | {"conv_group_size": 7}},
            "conv_group_size must divide hidden_size 24, got 7",
        ),
        (
            DFLASH2 | {"architectures": ["DFlashDraftModel"]},
            "conv_kernel_size is not supported in a DFlash drafter",
        ),
        (SPECULATORS | {"speculators_model_type": "eagle3"}, "'eagle3': dflash and dspark are"),
        (SPECULATORS | {"fp4_layers": [3]}, r"fp4_layers is not supported \(it is \[3\]\)"),
        (
            SPECULATORS | {"target_hidden_size": 48},
            "target_hidden_size is 48, the drafter's",
        ),
        (SPECULATORS | {"sample_from_anchor": "yes"}, "sample_from_anchor must be true or false"),
        (
            SPECULATORS
            | {
                "transformer_layer_config": SIZES
                | {
                    "layer_types": ["full_attention", "sliding_attention"],
                    "sliding_window": 4,
                    "use_sliding_window": True,
                }
            },
            "sliding_attention, which is not supported in this layout",
        ),
    ],
)
def test_what_a_configuration_says_is_honoured_or_refused_by_name(
    config: dict[str, Any], said: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=said) as refused:
        read_drafter_config(tmp_path)
    assert str(refused.value).startswith(str(tmp_path / "config.json"))


def test_a_vocabulary_that_names_a_token_twice_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    write_drafter(tmp_path, SPECULATORS)
    path = tmp_path / "model.safetensors"
    found = load_file(path)
    found["d2t"][1] = found["d2t"][0] - 1
    save_file(found, path)
    with pytest.raises(ValueError, match="d2t must lead to 17 different tokens below 29"):
        pair(tmp_path)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_each_layout_is_recognised_as_a_drafter(layout: str, tmp_path: Path) -> None:
    write_drafter(tmp_path, LAYOUTS[layout])
    assert KINDS["dflash"].recognises(tmp_path, tmp_path)
