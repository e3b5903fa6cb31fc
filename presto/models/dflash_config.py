"""What a DFlash drafter's ``config.json`` says: read in the public layouts, honoured or refused by
name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from transformers import Qwen3Config

from presto.models.checkpoint import CONFIG_FILE, is_whole, read_json, refuse_quantised
from presto.models.windows import FULL, SLIDING, Kinds, attention_kinds

ARCHITECTURE = "DFlashDraftModel"
SECOND = "DFlash2DraftModel"  # with convolutions and a candidate selector
_OF_SECOND = ("conv_kernel_size", "conv_group_size", "selector_rank", "selector_top_k")
NESTED = "dflash_config"
_OWN = frozenset(  # of a drafter, beside its Qwen3 sizes; the newer cards nest them
    {
        "block_size",
        "num_target_layers",
        "mask_token_id",
        "target_layer_ids",
        "is_causal",
        "causal",
        "input_embedding_scale",
        "output_multiplier",
        "final_logit_softcapping",
    }
)
_OF_QWEN3 = frozenset(Qwen3Config().to_dict()) | {
    *("rope_scaling", "rope_theta", "torch_dtype", "auto_map", "_name_or_path", "architectures"),
    *("transformers_version", NESTED),
}
_USUAL = {  # what a configuration says only if it is otherwise
    "causal": None,
    "input_embedding_scale": 1.0,
    "output_multiplier": 1.0,
    "final_logit_softcapping": None,
}
_MOVING_ROPE = ("dynamic", "longrope")  # rotate a cached key by the length known at the time


@dataclass(frozen=True)
class DFlashConfig:
    """A drafter's ``config.json``; the usual Qwen3 sizes are kept in ``sizes``.

    ``causal``: whether rows of a block are blind to later ones, ``None``: in layers with a window.
    ``num_target_layers`` 0: the configuration does not say; layer -1 is the target's embedding.
    ``predicts_next``: row j of a block predicts the token behind it, not its own.
    ``own_vocabulary``: tokens of the drafter's own head, which then has an embedding of its own
    too; 0: both are the target's. ``markov_rank``: of the head that scores a token after the one
    before it, 0: there is none; ``markov_gated``: whether that head reads hidden states.
    ``conv_taps``: rows of a block that its convolutions see, 0: there are none; ``conv_group``:
    channels that share a kernel's change. ``selector_rank``: of a score of pairs of candidates.
    ``unread``: beginnings of the names of tensors that a tree has no use for.
    """

    block_size: int
    num_target_layers: int
    mask_token_id: int
    target_layer_ids: tuple[int, ...]
    sizes: Qwen3Config
    causal: bool | None = None
    input_embedding_scale: float = 1.0
    output_multiplier: float = 1.0
    final_logit_softcapping: float | None = None
    predicts_next: bool = False
    own_vocabulary: int = 0
    markov_rank: int = 0
    markov_gated: bool = False
    conv_taps: int = 0
    conv_group: int = 1
    selector_rank: int = 0
    unread: tuple[str, ...] = ()

    @property
    def scores_pairs(self) -> bool:
        """Whether the drafter has a score of its own of a token after the one before it."""
        return bool(self.markov_rank or self.selector_rank)

    @property
    def kinds(self) -> Kinds:
        """The kinds of attention of the layers, see ``presto.models.windows``."""
        return attention_kinds(self.sizes)

    def is_causal(self, kind: str) -> bool:
        """Whether rows of a block are blind to later ones in layers of this kind."""
        return kind == SLIDING if self.causal is None else self.causal

    @property
    def sees_all(self) -> bool:
        """Whether every row of a block sees the context and the block whole, in every layer."""
        return not any(window or self.is_causal(kind) for kind, window in self.kinds.items())

    @property
    def _unusual(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _USUAL}
        return {name: value for name, value in fields.items() if value != _USUAL[name]}

    @property
    def is_plain(self) -> bool:
        """Whether the drafter is as in the paper: no windows, no causal blocks, no scales, nothing
        of its own beside the layers.
        """
        own = self.predicts_next or self.own_vocabulary or self.scores_pairs or self.conv_taps
        return self.sees_all and not self._unusual and not own

    @classmethod
    def read(cls, folder: Path) -> "DFlashConfig":
        """Parse ``config.json``; ``ValueError`` names the field that is missing, wrong or not known
        here.
        """
        path = folder / CONFIG_FILE
        raw = read_json(path)
        if not isinstance(raw.get(NESTED), dict):
            raise ValueError(f"{path} is no DFlash configuration: {NESTED} is missing")
        refuse_quantised(folder, raw)
        _refuse_unknown(path, raw)
        said = raw | raw[NESTED]
        try:
            return cls(
                block_size=_count(said.get("block_size", 16)),
                num_target_layers=_count(said.get("num_target_layers", 0), least=0),
                mask_token_id=_count(said["mask_token_id"], least=0),
                target_layer_ids=tuple(_count(i, least=-1) for i in said["target_layer_ids"]),
                sizes=qwen3_sizes(raw),
                causal=_causal(raw, raw[NESTED]),
                input_embedding_scale=float(said.get("input_embedding_scale", 1.0)),
                output_multiplier=float(said.get("output_multiplier", 1.0)),
                final_logit_softcapping=said.get("final_logit_softcapping") or None,
                **_of_second(raw),
            ).checked()
        except KeyError as error:
            raise ValueError(f"{path} is no DFlash configuration: {error} is missing") from None
        except (ValueError, TypeError, StrictDataclassError) as error:
            raise ValueError(f"{path}: {' '.join(str(error).split())}") from None

    def checked(self) -> "DFlashConfig":
        """This configuration; ``ValueError`` if its parts do not fit each other."""
        if not self.target_layer_ids:
            raise ValueError("target_layer_ids must name at least one layer")
        above = self.num_target_layers or max(self.target_layer_ids) + 1
        if max(self.target_layer_ids) >= above:
            raise ValueError(
                f"target_layer_ids must be below num_target_layers {above}, got "
                f"{max(self.target_layer_ids)}"
            )
        if self.sizes.hidden_size % self.conv_group:
            raise ValueError(
                f"conv_group_size must divide hidden_size {self.sizes.hidden_size}, got "
                f"{self.conv_group}"
            )
        rope = (self.sizes.rope_parameters or {}).get("rope_type")
        if rope in _MOVING_ROPE:
            raise ValueError(f"rope_type {rope} is not supported in a drafter")
        return self

    @property
    def _rope_of_version_4(self) -> dict[str, Any]:
        """The rotation in the words of transformers 4, which reads no ``rope_parameters`` and takes
        10,000 as the base where it finds none.
        """
        rope = dict(self.sizes.rope_parameters or {})
        base = rope.pop("rope_theta", None)
        scaling = rope if rope.get("rope_type", "default") != "default" else None
        return {"rope_theta": base, "rope_scaling": scaling} if base is not None else {}

    def write(self, folder: Path) -> None:
        """Write ``config.json`` as z-lab's drafters have it."""
        extra: dict[str, Any] = {
            "mask_token_id": self.mask_token_id,
            "target_layer_ids": list(self.target_layer_ids),
        }
        extra |= self._unusual
        raw = (
            self.sizes.to_diff_dict()
            | self._rope_of_version_4
            | {
                "architectures": [ARCHITECTURE],
                "model_type": "qwen3",
                "block_size": self.block_size,
                "num_target_layers": self.num_target_layers,
                NESTED: extra,
            }
        )
        (folder / CONFIG_FILE).write_text(json.dumps(raw, indent=2) + "\n")


def _refuse_unknown(path: Path, raw: dict[str, Any]) -> None:
    """Refuse another architecture, and every field that is set and has no meaning here."""
    named = raw.get("architectures") or [ARCHITECTURE]
    if named not in ([ARCHITECTURE], [SECOND]):
        raise ValueError(f"{path}: architectures is {named}, expected {[ARCHITECTURE]}")
    known = _OWN | {*_OF_SECOND} if named == [SECOND] else _OWN
    if raw.get("model_type", "qwen3") != "qwen3":
        raise ValueError(f"{path}: model_type is {raw['model_type']!r}, expected 'qwen3'")
    unknown = [name for name, value in raw.items() if value and name not in _OF_QWEN3 | known]
    unknown += [
        f"{NESTED}.{name}" for name, value in raw[NESTED].items() if value and name not in known
    ]
    if unknown:
        raise ValueError(
            f"{path}: {unknown[0]} is not supported in a DFlash drafter "
            f"(it is {(raw | raw[NESTED])[unknown[0].removeprefix(NESTED + '.')]!r})"
        )


def _of_second(raw: dict[str, Any]) -> dict[str, Any]:
    """What the second architecture has beside the first."""
    if raw.get("architectures") != [SECOND]:
        return {}
    said = raw | raw[NESTED]
    taps, group, rank, _ = (_count(said[name]) for name in _OF_SECOND)
    return {"conv_taps": taps, "conv_group": group, "selector_rank": rank}


def qwen3_sizes(raw: Mapping[str, Any]) -> Qwen3Config:
    """The Qwen3 part; ``layer_types`` alone is enough to give layers a window."""
    skipped = _OWN | {*_OF_SECOND} | {"architectures", "model_type", "auto_map", NESTED}
    fields = {name: value for name, value in raw.items() if name not in skipped}
    types = raw.get("layer_types") or []
    if set(types) - {FULL, SLIDING}:
        raise ValueError(f"layer_types may be {FULL} and {SLIDING}, got {sorted(set(types))}")
    if SLIDING in types and fields.setdefault("use_sliding_window", True) is not True:
        raise ValueError(f"layer_types has {SLIDING}, but use_sliding_window is not true")
    return Qwen3Config(**fields)


def _causal(raw: dict[str, Any], nested: dict[str, Any]) -> bool | None:
    """``is_causal`` of the configuration, else ``causal`` of its DFlash part."""
    said = (raw.get("is_causal"), nested.get("is_causal"), nested.get("causal"))
    value = next((value for value in said if value is not None), None)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"is_causal must be true or false, got {value!r}")
    return value


def _count(value: Any, least: int = 1) -> int:
    if not is_whole(value) or value < least:
        raise ValueError(f"expected a whole number of at least {least}, got {value!r}")
    return value
