"""Nemotron-Labs-Diffusion (arXiv 2607.05722): one model that drafts by diffusion and verifies
causally.

The network is a Ministral 3 decoder (YaRN, queries scaled by 1 + β·log(1 + ⌊position / original
length⌋)) under its own key names. Drafting: ``[seed, mask, …, mask]``, bidirectional inside the
block over the cached prefix, the draft LoRA on every row, nothing written to the cache; row i
predicts position i. Verifying: causal (a tree's ancestor mask), LoRA off. Implemented from the
public description.
"""

from pathlib import Path
from typing import Any, Self

import torch
from transformers import Ministral3Config, Ministral3ForCausalLM

from presto.decoding.marginals import drafted
from presto.decoding.protocols import Draft, Session
from presto.models.checkpoint import (
    CONFIG_FILE,
    check_tensors,
    is_whole,
    load_tensors,
    read_json,
    read_tensors,
    refuse_layers,
    refuse_quantised,
    sentence,
)
from presto.models.lora import LowRankAdapter
from presto.models.selfcheck import checked
from presto.models.selfspec import SelfSpeculativeSession, SelfSpeculativeSystem
from presto.models.windows import FULL

MODEL_TYPE = "nemotron_labs_diffusion"
LORA_FOLDER = "linear_spec_lora"
BLOCK = 32
_PREFIXES = (("encoder.", "model."), ("diffusion_head.", "lm_head."))
_OLD_ROPE = ("rope_theta", "rope_scaling")  # what configurations had before rope_parameters
_NOT_SUPPORTED = (  # each would change the network
    *("attention_bias", "mlp_bias", "tie_word_embeddings"),
    *("num_ar_layers", "num_diffusion_layers"),
)


def model_key(checkpoint_key: str) -> str:
    """The name inside ``Ministral3ForCausalLM`` of a checkpoint's tensor."""
    for theirs, ours in _PREFIXES:
        if checkpoint_key.startswith(theirs):
            return ours + checkpoint_key.removeprefix(theirs)
    raise ValueError(
        f"unexpected tensor {checkpoint_key!r}: names start with encoder. or diffusion_head."
    )


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a checkpoint folder, if it is of this model type; ``ValueError`` names a
    field that is missing or not supported.
    """
    path = folder / CONFIG_FILE
    raw = read_json(path)
    if raw.get("model_type") != MODEL_TYPE:
        raise ValueError(
            f"{folder}: model_type is {raw.get('model_type')!r}, expected {MODEL_TYPE!r}"
        )
    refuse_quantised(folder, raw)
    for name in ("mask_token_id", "eos_token_id"):
        if name not in raw:
            raise ValueError(f"{path} has no {name}")
    for name in _NOT_SUPPORTED:
        if raw.get(name):
            raise ValueError(f"{path}: {name} is not supported (it is {raw[name]!r})")
    if set(raw.get("layer_types") or ()) - {FULL}:
        raise ValueError(f"{path}: layer_types may be {FULL} only, got {raw['layer_types']}")
    if any(name in raw for name in _OLD_ROPE) and "rope_parameters" not in raw:
        raise ValueError(f"{path} has {' or '.join(_OLD_ROPE)}, but no rope_parameters")
    return raw


def decoder_config(raw: dict[str, Any]) -> Ministral3Config:
    """The decoder's sizes out of a checkpoint's configuration."""
    known = Ministral3Config().to_dict().keys() - {
        "model_type",
        "architectures",
        "dtype",
        "transformers_version",
    }
    fields = {key: value for key, value in raw.items() if key in known}
    return Ministral3Config(**fields)


def load_model(folder: Path, dtype: torch.dtype) -> Ministral3ForCausalLM:
    """The checkpoint's weights as a transformers model; ``ValueError`` names the file and the field
    or tensor that is missing, damaged or not expected.
    """
    raw, found = read_config(folder), read_tensors(folder)
    refuse_layers(folder / CONFIG_FILE, raw.get("num_hidden_layers"), found)
    try:
        with torch.device("meta"):
            model = Ministral3ForCausalLM(decoder_config(raw))
        rotary = type(model.model.rotary_emb)(model.config)  # its tables are no weights
    except Exception as error:  # building a model from any configuration may raise anything
        raise ValueError(f"{folder / CONFIG_FILE}: {sentence(error)}") from error
    ours = {model_key(name): info for name, info in found.items()}
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    check_tensors(folder, ours, wanted, "its configuration")
    tensors = {model_key(name): tensor.to(dtype) for name, tensor in load_tensors(found).items()}
    model.load_state_dict(tensors, assign=True)
    model.model.rotary_emb = rotary
    return model


class NemotronSystem(SelfSpeculativeSystem):
    """One checkpoint in both roles, drafting linearly (one block ahead of every verification)."""

    mode = "linear"
    max_draft = BLOCK - 1

    @classmethod
    def load(cls, name: str, folder: Path, device: torch.device, dtype: torch.dtype) -> Self:
        """Read a checkpoint folder with its ``linear_spec_lora``."""
        raw = read_config(folder)
        backbone = checked(load_model(folder, dtype), device, str(folder))
        adapter = LowRankAdapter.load(backbone.model, folder / LORA_FOLDER, prefix=_PREFIXES[0])
        mask, ends = raw["mask_token_id"], raw["eos_token_id"]
        if not is_whole(mask) or not 0 <= mask < backbone.vocab:
            raise ValueError(
                f"{folder / CONFIG_FILE}: mask_token_id must lie in 0..{backbone.vocab - 1}, got "
                f"{mask!r}"
            )
        eos = frozenset(ends if isinstance(ends, list) else [ends])
        return cls(name, backbone, eos, adapter, backbone.embeddings.weight[mask])

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> Session:
        return NemotronSession(self, prompt_ids, capacity)


class NemotronSession(SelfSpeculativeSession):
    """One sequence; the seed's K/V is written by the verification that follows, never by a
    draft.
    """

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """One pass over the seed and ``length`` masks, all rows adapted and seeing each other."""
        hidden = self.block(anchor, length, plain_seed=False)[1:]
        logits = self.backbone.logits(hidden)
        return drafted(logits, top_k, hidden, forwards=1)
