"""From a pair's specification to a loaded pair, once per process."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from presto.build import warm_up
from presto.decoding.protocols import System
from presto.kernels.ngram import NgramTable
from presto.models.backbone import Backbone
from presto.models.catalogue import MODES, Mode, PairSpec, find, names
from presto.models.checkpoint import CONFIG_FILE, read_json
from presto.models.device import keep_freed_memory, pick_device, pick_dtype
from presto.models.dflash import DFlashSystem
from presto.models.dflash_network import DFlashDrafter
from presto.models.loading import load_causal_lm
from presto.models.nemotron import MODEL_TYPE, NemotronSystem
from presto.models.quadratic import QuadraticGatedSystem, QuadraticNemotronSystem
from presto.models.selfcheck import checked
from presto.models.selfspec import GatedSystem
from presto.models.sources import resolve
from presto.models.tables import table_of
from presto.models.text import Text, load_text

__all__ = ["Pair", "find", "forget", "load", "load_target", "local_pair", "names"]
GATED = {"linear": GatedSystem, "quadratic": QuadraticGatedSystem}
NEMOTRON = {"linear": NemotronSystem, "quadratic": QuadraticNemotronSystem}


@dataclass(frozen=True)
class Pair:
    """A loaded pair: the system that decodes, its tokenizer and the n-gram table of its target.

    ``models`` names what was loaded: role → source, with the resolved revision of a hub repository.
    """

    spec: PairSpec
    system: System
    text: Text
    table: NgramTable | None
    models: tuple[tuple[str, str], ...] = ()

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Prompt ids under the pair's chat template; ``ValueError`` if the model has no embedding
        for one of them.
        """
        ids = self.text.encode_chat(prompt, **self.spec.template)
        if ids and max(ids) >= self.system.vocab:
            raise ValueError(
                f"the tokenizer writes {self.text.bytes.symbol(max(ids))!r} as token {max(ids)}, "
                f"but the model knows {self.system.vocab} tokens"
            )
        return ids


def local_pair(target: Path, drafter: Path | None = None, mode: str = "linear") -> PairSpec:
    """The specification of checkpoints in local folders, recognised by their configuration
    files.
    """
    chosen = next((known for known in MODES if known == mode), None)
    if chosen is None:
        raise ValueError(f"unknown mode {mode!r}: known modes are {', '.join(MODES)}")
    spec = PairSpec(
        f"local:{target.name}", f"Checkpoint {target}", "nemotron", str(target), mode=chosen
    )
    if read_json(target / CONFIG_FILE).get("model_type") == MODEL_TYPE:
        return spec
    if drafter is None:
        raise ValueError(
            f"{target} does not draft for itself: give --drafter, a DFlash or a draft adapter "
            "folder"
        )
    spec = replace(spec, name=f"{spec.name}+{drafter.name}", drafter=str(drafter))
    if (drafter / "adapter_config.json").is_file():
        return replace(spec, kind="gated")
    if "dflash_config" not in read_json(drafter / CONFIG_FILE):
        raise ValueError(
            f"{drafter} is no drafter: expected config.json with dflash_config, or "
            "adapter_config.json"
        )
    return _linear_only(replace(spec, kind="dflash"))


def _linear_only(spec: PairSpec) -> PairSpec:
    mode: Mode = spec.mode
    if mode != "linear":
        raise ValueError(f"a DFlash pair has no {mode} mode: the drafter is a model of its own")
    return spec


def load(pair: str | PairSpec, dtype: str = "auto", revision: str | None = None) -> Pair:
    """Load a pair onto this machine's device; what is not here yet is fetched first.

    ``revision`` is the target's on the hub. ``ValueError`` and ``WeightsError`` say what to do in
    one sentence.
    """
    return _load(find(pair) if isinstance(pair, str) else pair, dtype, revision)


def forget() -> None:
    """Drop every loaded pair; a run in progress keeps its own until it ends."""
    _load.cache_clear()


@lru_cache(maxsize=2)
def _load(spec: PairSpec, dtype: str, revision: str | None) -> Pair:
    target = resolve(spec.target, revision)
    drafter = resolve(spec.drafter) if spec.drafter else target
    warm_up()
    system, text = _system(spec, target.folder, drafter.folder, dtype)
    return Pair(
        spec,
        system,
        text,
        table_of(spec.name),
        (("target", target.label), ("drafter", drafter.label)),
    )


def _system(spec: PairSpec, target: Path, drafter: Path, dtype: str) -> tuple[System, Text]:
    if spec.kind == "nemotron":
        device = pick_device()
        system = NEMOTRON[spec.mode].load(spec.name, target, device, pick_dtype(dtype, device))
        return system, load_text(target)
    backbone, text = load_target(target, dtype)
    eos = _ends(backbone, text)
    if spec.kind == "gated":
        return GATED[spec.mode].load(spec.name, backbone, eos, drafter), text
    return DFlashSystem(spec.name, backbone, eos, DFlashDrafter.load(drafter)), text


def _ends(backbone: Backbone, text: Text) -> frozenset[int]:
    """The ids at which transformers' ``generate`` ends for this checkpoint (Qwen3 has two), and the
    tokenizer's end of text.
    """
    ends = backbone.model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset({text.tokenizer.eos_token_id, *listed} - {None})


def load_target(folder: Path, dtype: str = "auto") -> tuple[Backbone, Text]:
    """A transformers checkpoint folder as backbone and tokenizer, on the device and dtype of
    ``presto.models.device``; ``ValueError`` says in one sentence why it cannot be decoded.
    """
    device = pick_device()
    if device.type == "cpu":
        keep_freed_memory()
    model = load_causal_lm(folder, pick_dtype(dtype, device))
    return checked(model, device, str(folder)), load_text(folder)
