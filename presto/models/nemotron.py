"""Nemotron-Labs-Diffusion (arXiv 2607.05722): one model that drafts by diffusion and verifies
causally.

The network is a Ministral 3 decoder (YaRN, queries scaled by 1 + β·log(1 + ⌊position / original
length⌋)) under its own key names. Drafting: ``[seed, mask, …, mask]``, bidirectional inside the
block over the cached prefix, the draft LoRA on every row, nothing written to the cache; row i
predicts position i. Verifying: causal (a tree's ancestor mask), LoRA off. Implemented from the
public description.
"""

import json
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from transformers import Ministral3Config, Ministral3ForCausalLM

from presto.decoding.marginals import marginals_from
from presto.decoding.protocols import Draft
from presto.models.backbone import Backbone
from presto.models.lora import LowRankAdapter
from presto.models.selfspec import SelfSpeculativeSession, SelfSpeculativeSystem

MODEL_TYPE = "nemotron_labs_diffusion"
LORA_FOLDER = "linear_spec_lora"
BLOCK = 32
_PREFIXES = (("encoder.", "model."), ("diffusion_head.", "lm_head."))


def model_key(checkpoint_key: str) -> str:
    """The name inside ``Ministral3ForCausalLM`` of a checkpoint's tensor."""
    for theirs, ours in _PREFIXES:
        if checkpoint_key.startswith(theirs):
            return ours + checkpoint_key.removeprefix(theirs)
    raise ValueError(
        f"unexpected tensor {checkpoint_key!r}: names start with encoder. or diffusion_head."
    )


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a checkpoint folder, if it is of this model type."""
    raw: dict[str, Any] = json.loads((folder / "config.json").read_text())
    if raw.get("model_type") != MODEL_TYPE:
        raise ValueError(
            f"{folder}: model_type is {raw.get('model_type')!r}, expected {MODEL_TYPE!r}"
        )
    if "mask_token_id" not in raw:
        raise ValueError(f"{folder}: config.json has no mask_token_id")
    return raw


def decoder_config(raw: dict[str, Any]) -> Ministral3Config:
    """The decoder's sizes out of a checkpoint's configuration."""
    known = Ministral3Config().to_dict().keys() - {
        "model_type",
        "architectures",
        "dtype",
        "transformers_version",
    }
    return Ministral3Config(**{key: value for key, value in raw.items() if key in known})


def load_model(folder: Path, dtype: torch.dtype) -> Ministral3ForCausalLM:
    """The checkpoint's weights as a transformers model; missing or unexpected tensors are an
    error.
    """
    with torch.device("meta"):
        model = Ministral3ForCausalLM(decoder_config(read_config(folder)))
    tensors: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= {model_key(name): tensor.to(dtype) for name, tensor in load_file(path).items()}
    wanted = model.state_dict().keys()
    if wanted != tensors.keys():
        missing, extra = sorted(wanted - tensors.keys()), sorted(tensors.keys() - wanted)
        raise ValueError(f"{folder}: missing {missing[:3]}, unexpected {extra[:3]}")
    model.load_state_dict(tensors, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(
        model.config
    )  # its tables are no weights: meta until now
    return model


class NemotronSystem(SelfSpeculativeSystem):
    """One checkpoint in both roles, drafting linearly (one block ahead of every verification)."""

    mode = "linear"
    max_draft = BLOCK - 1

    @classmethod
    def load(cls, name: str, folder: Path, device: torch.device, dtype: torch.dtype) -> Self:
        """Read a checkpoint folder with its ``linear_spec_lora``."""
        raw = read_config(folder)
        backbone = Backbone(load_model(folder, dtype).to(device))
        adapter = LowRankAdapter.load(backbone.model, folder / LORA_FOLDER, prefix=_PREFIXES[0])
        eos = raw["eos_token_id"]
        mask = backbone.embeddings.weight[raw["mask_token_id"]]
        return cls(
            name, backbone, frozenset(eos if isinstance(eos, list) else [eos]), adapter, mask
        )

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "NemotronSession":
        return NemotronSession(self, prompt_ids, capacity)


class NemotronSession(SelfSpeculativeSession):
    """One sequence; the seed's K/V is written by the verification that follows, never by a
    draft.
    """

    @torch.inference_mode()
    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        """One pass over the seed and ``length`` masks, all rows adapted and seeing each other."""
        hidden = self.block(anchor, length, plain_seed=False)[1:]
        marginals = marginals_from(self.backbone.logits(hidden), top_k)
        return Draft(marginals, None, forwards=1, hidden=hidden)
