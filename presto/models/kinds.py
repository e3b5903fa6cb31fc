"""The kinds of pairs, a record each: how their folders are recognised and how they are loaded.

A new kind is an adapter of its own (as ``dflash.py``) and one entry in ``KINDS``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from presto.models.backbone import Backbone
from presto.models.catalogue import Mode, PairSpec
from presto.models.checkpoint import CONFIG_FILE, is_whole, read_json
from presto.models.device import computes_now, keep_freed_memory, pick_device, pick_dtype
from presto.models.dflash import DFlashSystem
from presto.models.dflash_network import DFlashDrafter
from presto.models.drafter_layouts import is_drafter
from presto.models.loading import CPU, load_causal_lm
from presto.models.nemotron import MODEL_TYPE, NemotronSystem
from presto.models.quadratic import QuadraticGatedSystem, QuadraticNemotronSystem
from presto.models.selfcheck import checked
from presto.models.selfspec import GatedSystem
from presto.models.target import TargetSystem
from presto.models.text import Text, load_text
from presto.records import quoted

ADAPTER_FILE = "adapter_config.json"
Loaded = tuple[TargetSystem, Text]


@dataclass(frozen=True)
class Kind:
    """A kind of pair.

    ``recognises(target, drafter)`` looks at the configuration files of two folders, which are one
    where no drafter is given. ``load(spec, target, drafter, dtype)`` reads them.
    """

    name: str
    drafter: str  # what its drafter is, as the end of a sentence; empty if the target drafts
    modes: tuple[Mode, ...]
    recognises: Callable[[Path, Path], bool]
    load: Callable[[PairSpec, Path, Path, str], Loaded]


def load_target(folder: Path, dtype: str = "auto") -> tuple[Backbone, Text]:
    """A transformers checkpoint folder as backbone and tokenizer, on the device and dtype of
    ``presto.models.device``; ``ValueError`` says in one sentence why it cannot be decoded.
    """
    device = pick_device()
    if device.type == "cpu":
        keep_freed_memory()
    place = device if computes_now(device) else CPU
    model = load_causal_lm(folder, pick_dtype(dtype, device), place)
    return checked(model, device, str(folder)), load_text(folder)


def ends_of(backbone: Backbone, text: Text) -> frozenset[int]:
    """The ids at which transformers' ``generate`` ends for this checkpoint (Qwen3 has two), and the
    tokenizer's end of text. ``ValueError`` for ends that are no ids.
    """
    ends = backbone.model.generation_config.eos_token_id
    listed = [end for end in (ends if isinstance(ends, list) else [ends]) if end is not None]
    for end in listed:
        if not is_whole(end) or end < 0:
            raise ValueError(
                f"generation_config.json: eos_token_id must be token ids, got {quoted(end)}"
            )
    return frozenset({text.tokenizer.eos_token_id, *listed} - {None})


def _load_nemotron(spec: PairSpec, target: Path, drafter: Path, dtype: str) -> Loaded:
    device = pick_device()
    systems = {"linear": NemotronSystem, "quadratic": QuadraticNemotronSystem}
    system = systems[spec.mode].load(spec.name, target, device, pick_dtype(dtype, device))
    return system, load_text(target)


def _load_gated(spec: PairSpec, target: Path, drafter: Path, dtype: str) -> Loaded:
    backbone, text = load_target(target, dtype)
    systems = {"linear": GatedSystem, "quadratic": QuadraticGatedSystem}
    return systems[spec.mode].load(spec.name, backbone, ends_of(backbone, text), drafter), text


def _load_dflash(spec: PairSpec, target: Path, drafter: Path, dtype: str) -> Loaded:
    backbone, text = load_target(target, dtype)
    read = DFlashDrafter.load(drafter)
    return DFlashSystem(spec.name, backbone, ends_of(backbone, text), read), text


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="nemotron",
            drafter="",
            modes=("linear", "quadratic"),
            recognises=lambda target, _: (
                read_json(target / CONFIG_FILE).get("model_type") == MODEL_TYPE
            ),
            load=_load_nemotron,
        ),
        Kind(
            name="gated",
            drafter=f"a draft adapter with {ADAPTER_FILE}",
            modes=("linear", "quadratic"),
            recognises=lambda _, drafter: (drafter / ADAPTER_FILE).is_file(),
            load=_load_gated,
        ),
        Kind(
            name="dflash",
            drafter=f"a DFlash or DSpark drafter, known by its {CONFIG_FILE}",
            modes=("linear",),
            recognises=lambda _, drafter: is_drafter(drafter),
            load=_load_dflash,
        ),
    )
}


def local_pair(target: Path, drafter: Path | None = None, mode: str = "linear") -> PairSpec:
    """The specification of checkpoints in local folders, recognised by their configuration files.

    ``ValueError`` says what the folders are not, or which modes their kind has.
    """
    read_json(target / CONFIG_FILE)  # a folder without a checkpoint is refused first
    alone = [kind for kind in KINDS.values() if not kind.drafter]
    pairs = [kind for kind in KINDS.values() if kind.drafter]
    name, wanted = f"local:{target.name}", " or ".join(kind.drafter for kind in pairs)
    kind = next((k for k in alone if k.recognises(target, target)), None)
    if kind is None and drafter is None:
        raise ValueError(f"{target} does not draft for itself: give --drafter, {wanted}")
    if kind is None and drafter is not None:
        name = f"{name}+{drafter.name}"
        kind = next((k for k in pairs if k.recognises(target, drafter)), None)
    if kind is None:
        raise ValueError(f"{drafter} is no drafter: expected {wanted}")
    chosen = next((m for m in kind.modes if m == mode), None)
    if chosen is None:
        there = ", ".join(kind.modes)
        raise ValueError(f"a {kind.name} pair has no mode {mode!r}: known modes are {there}")
    return PairSpec(
        name=name,
        title=f"Checkpoint {target}",
        kind=kind.name,
        target=str(target),
        drafter=str(drafter) if kind.drafter else "",
        mode=chosen,
    )
