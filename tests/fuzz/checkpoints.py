"""Folders of weights with one file changed: configurations, headers, adapters."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import torch
from transformers import Qwen3Config

from presto.models.catalogue import PairSpec
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.lora import LowRankAdapter
from presto.models.registry import forget, load, load_target, local_pair
from presto.models.selfspec import save_draft_adapter
from presto.records import DecodeConfig
from presto.runs.runner import finished
from tests.fuzz.mutations import change_bytes, changed_json, changed_safetensors
from tests.support.checkpoints import CONTEXT, VOCAB, write_model
from tests.support.nemotron import write_checkpoint
from tests.support.tokenizer import write_tokenizer

Case = Callable[[], object]
SHORT = DecodeConfig(max_new_tokens=4, budget=4, draft_length=3)


def changed_file(random: Random, path: Path, data: bytes) -> bytes:
    """A JSON or safetensors file of a checkpoint, changed."""
    if path.suffix == ".safetensors":
        return changed_safetensors(random, data)
    if random.random() < 0.1:
        return change_bytes(random, data)
    return changed_json(random, json.loads(data))


class Folders:
    """Pairs in local folders. A case changes one file of ``names``; the last one is put back."""

    names: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write()
        files = [path for path in sorted(folder.rglob("*")) if path.name in self.names]
        self.sound = {path: path.read_bytes() for path in files}
        assert self.sound
        self.changed = files[0]

    def write(self) -> None:
        """Write the sound folders: a target with a DFlash drafter, and a model of its own."""
        write_model("qwen3", self.folder / "target", num_hidden_layers=2)
        sizes = Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=1,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            max_position_embeddings=CONTEXT,
        )
        DFlashDrafter(DFlashConfig(6, 2, 1, (0, 1), sizes)).save(self.folder / "drafter")
        write_checkpoint(self.folder / "alone")
        write_tokenizer(self.folder / "alone")

    def case(self, random: Random) -> Case:
        self.changed.write_bytes(self.sound[self.changed])
        self.changed = random.choice(list(self.sound))
        self.changed.write_bytes(changed_file(random, self.changed, self.sound[self.changed]))
        return self.use

    def pair(self) -> tuple[PairSpec, str]:
        """The pair whose file was changed, and a prompt in its words."""
        if self.folder / "alone" in self.changed.parents:
            return local_pair(self.folder / "alone"), "ab"
        return local_pair(self.folder / "target", self.folder / "drafter"), "w1 w2"

    def use(self) -> None:
        """Load the pair and decode with it."""
        forget()
        spec, prompt = self.pair()
        finished(load(spec, "float32"), prompt, "presto", SHORT)


class Configs(Folders):
    """Their JSON files."""

    names = (
        "config.json",
        "generation_config.json",
        "tokenizer_config.json",
        "adapter_config.json",
    )


class Headers(Folders):
    """Their weights."""

    names = ("model.safetensors", "adapter_model.safetensors")


class Adapters(Folders):
    """Draft adapters of a gated pair."""

    names = ("adapter_config.json", "adapter_model.safetensors", "mask_embedding.safetensors")

    def write(self) -> None:
        write_model("llama", self.folder / "target", num_hidden_layers=1)
        backbone, _ = load_target(self.folder / "target", "float32")
        adapter = LowRankAdapter(backbone.model, rank=2, alpha=2.0, targets=("q_proj", "v_proj"))
        save_draft_adapter(self.folder / "drafter", adapter, torch.ones(32), "tiny")
