"""Low-rank adapters that act on chosen rows only, in PEFT's folder layout.

A draft adapter changes how *mask* rows are computed and must leave every other row exactly as the
target computes it. ``LowRankAdapter`` hooks the target's linear layers; ``acting_on(gate)`` says
which rows it touches in the next forward.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."


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
        """Attach the adapter of a PEFT folder; missing or unexpected tensors are an error.

        ``prefix`` = (the checkpoint's, the model's) start of module names, where the two differ.
        """
        config = json.loads((folder / CONFIG_FILE).read_text())
        if config.get("peft_type") != "LORA":
            raise ValueError(
                f"{folder / CONFIG_FILE}: peft_type is {config.get('peft_type')!r}, expected 'LORA'"
            )
        adapter = cls(
            model, int(config["r"]), float(config["lora_alpha"]), tuple(config["target_modules"])
        )
        tensors = load_file(folder / WEIGHTS_FILE)
        stored = {
            key: PREFIX + prefix[0] + key.replace("/", ".").removeprefix(prefix[1])
            for key in adapter.down
        }
        wanted = {f"{name}.lora_{side}.weight" for name in stored.values() for side in "AB"}
        if wanted != set(tensors):
            missing, extra = sorted(wanted - set(tensors)), sorted(set(tensors) - wanted)
            raise ValueError(
                f"{folder / WEIGHTS_FILE}: missing {missing[:3]}, unexpected {extra[:3]}"
            )
        for key, name in stored.items():
            adapter.down[key].data = tensors[f"{name}.lora_A.weight"].float()
            adapter.up[key].data = tensors[f"{name}.lora_B.weight"].float()
        return adapter.to(next(model.parameters()).device)
