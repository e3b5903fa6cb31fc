"""Low-rank adapters that act on chosen rows only, in PEFT's folder layout.

A draft adapter changes how *mask* rows are computed and must leave every other row exactly as the
target computes it. ``LowRankAdapter`` hooks the target's linear layers; ``acting_on(gate)`` says
which rows it touches in the next forward.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from presto.models.checkpoint import (
    TensorInfo,
    check_tensors,
    load_tensors,
    read_header,
    read_json,
)

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."
_READ = frozenset({"peft_type", "r", "lora_alpha", "target_modules"})
_INFORMS = frozenset(  # PEFT's fields that change nothing of how a saved LoRA is computed
    {
        *("task_type", "base_model_name_or_path", "revision", "peft_version", "auto_mapping"),
        *("inference_mode", "lora_dropout", "layers_pattern", "eva_config"),
        *("loftq_config", "corda_config", "megatron_core", "qalora_group_size", "runtime_config"),
    }
)
_NEUTRAL: tuple[object, ...] = (
    None,
    False,
    "none",
    [],
    {},
)  # a feature that is named and not in use
_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")  # others change the target's weights


class LowRankAdapter(nn.Module):
    """LoRA (arXiv 2106.09685) on the linear layers of ``model`` whose last name is in ``targets``,
    inactive by default.

    ``gate [rows, 1]`` multiplies the update: 1 where the adapter acts, 0 where the row stays the
    target's own.
    """

    def __init__(self, model: nn.Module, rank: int, alpha: float, targets: tuple[str, ...]) -> None:
        super().__init__()
        self.rank, self.alpha, self.targets = rank, alpha, targets
        self._gate: torch.Tensor | None = None
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear) and name.rsplit(".", 1)[-1] in targets:
                key = name.replace(".", "/")
                down = torch.empty(rank, module.in_features, dtype=torch.float32)
                nn.init.kaiming_uniform_(down, a=5**0.5)
                self.down[key] = nn.Parameter(down)
                self.up[key] = nn.Parameter(
                    torch.zeros(module.out_features, rank, dtype=torch.float32)
                )
                module.register_forward_hook(self._hook(key))
        if not self.down:
            raise ValueError(f"no linear layer of the model ends in one of {', '.join(targets)}")

    def _hook(self, key: str) -> Any:
        def add_update(
            module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor
        ) -> torch.Tensor:
            if self._gate is None:
                return output
            x = inputs[0]
            update = nn.functional.linear(x, self.down[key].to(x.dtype))
            update = nn.functional.linear(update * self._gate, self.up[key].to(x.dtype))
            return output + update

        return add_update

    @contextmanager
    def acting_on(self, gate: torch.Tensor) -> Iterator[None]:
        """Within the block, rows with ``gate`` 1 carry the adapter (``gate`` broadcasts to ``[...,
        rows, 1]``).
        """
        self._gate = gate * (self.alpha / self.rank)
        try:
            yield
        finally:
            self._gate = None

    def save(self, folder: Path, base_model: str) -> None:
        """Write the folder PEFT reads: ``adapter_config.json`` and ``adapter_model.safetensors``
        (bfloat16).
        """
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for key in self.down:
            name = PREFIX + key.replace("/", ".")
            tensors[f"{name}.lora_A.weight"] = self.down[key].detach().to("cpu", torch.bfloat16)
            tensors[f"{name}.lora_B.weight"] = self.up[key].detach().to("cpu", torch.bfloat16)
        save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
        config = {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": base_model,
            "r": self.rank,
            "lora_alpha": self.alpha,
            "lora_dropout": 0.0,
            "bias": "none",
            "fan_in_fan_out": False,
            "inference_mode": True,
            "target_modules": list(self.targets),
        }
        (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n")

    @classmethod
    def load(
        cls, model: nn.Module, folder: Path, prefix: tuple[str, str] = ("", "")
    ) -> "LowRankAdapter":
        """Attach the adapter of a PEFT folder; ``ValueError`` names the file and the field or
        tensor that is missing, damaged or not expected.

        ``prefix`` = (the checkpoint's, the model's) start of module names, where the two differ.
        """
        rank, alpha, targets = _read_config(folder / CONFIG_FILE)
        found = read_header(folder / WEIGHTS_FILE)
        _check_rank(folder / WEIGHTS_FILE, found, rank)
        adapter = cls(model, rank, alpha, targets)
        stored = {
            key: PREFIX + prefix[0] + key.replace("/", ".").removeprefix(prefix[1])
            for key in adapter.down
        }
        wanted = {
            f"{name}.lora_{side}.weight": tuple(part[key].shape)
            for key, name in stored.items()
            for side, part in (("A", adapter.down), ("B", adapter.up))
        }
        by = f"its target at rank {adapter.rank}"
        check_tensors(folder / WEIGHTS_FILE, found, wanted, by)
        tensors = load_tensors(found)
        for key, name in stored.items():
            adapter.down[key].data = tensors[f"{name}.lora_A.weight"].float()
            adapter.up[key].data = tensors[f"{name}.lora_B.weight"].float()
        return adapter.to(next(model.parameters()).device)


def _check_rank(path: Path, found: Mapping[str, TensorInfo], rank: int) -> None:
    """Refuse another rank than the configuration's before anything of that size is made."""
    downs = {name: info.shape for name, info in found.items() if ".lora_A." in name}
    if not downs:
        raise ValueError(f"{path}: missing tensors with .lora_A. in their names")
    for name, shape in downs.items():
        if shape[:1] != (rank,):
            raise ValueError(
                f"{path}: tensor {name} is {list(shape)}, its target at rank {rank} needs "
                f"{[rank, *shape[1:]]}"
            )


def _read_config(path: Path) -> tuple[int, float, tuple[str, ...]]:
    """Rank, α and target modules of an ``adapter_config.json``; ``ValueError`` names a field that
    is missing, wrong or not supported.
    """
    config = read_json(path)
    if config.get("peft_type") != "LORA":
        raise ValueError(f"{path}: peft_type is {config.get('peft_type')!r}, expected 'LORA'")
    for name, value in config.items():
        neutral = _STARTS if name == "init_lora_weights" else _NEUTRAL
        if name not in _READ | _INFORMS and value not in neutral:
            raise ValueError(f"{path}: {name} is not supported (it is {value!r})")
    if missing := sorted(_READ - config.keys()):
        raise ValueError(f"{path} is no LoRA configuration: {missing[0]} is missing")
    rank, alpha, modules = config["r"], config["lora_alpha"], config["target_modules"]
    if type(rank) is not int or rank < 1:
        raise ValueError(f"{path}: r must be a whole number of at least 1, got {rank!r}")
    if type(alpha) not in (int, float) or not -1e9 <= alpha <= 1e9:
        raise ValueError(f"{path}: lora_alpha must be a number, got {alpha!r}")
    if not isinstance(modules, list) or not all(isinstance(name, str) for name in modules):
        raise ValueError(f"{path}: target_modules must be a list of names, got {modules!r}")
    return rank, float(alpha), tuple(modules)
