"""The public layouts of drafters that are DFlash networks with something more, read into one
``DFlashConfig``.

- z-lab's own: ``dflash_config`` in the configuration (``DFlashConfig.read``), and DFlash 2's, with
  convolutions within the block and a candidate selector;
- DeepSpec's DSpark (architecture ``Qwen3DSparkModel``): rows predict the token behind them, an
  embedding and a head of its own, and a *Markov head*, a low-rank bias of a token's logit by the
  token before it;
- vllm-project's ``speculators`` format, for DFlash and DSpark: the same networks, a vocabulary of
  the draft's own, and the target's layers counted from its embedding, one higher than z-lab counts.

The confidence heads of DSpark decide how much of a linear draft to verify; a tree has no use for
them, so they are not read.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from presto.models.checkpoint import CONFIG_FILE, is_whole, read_json, refuse_quantised
from presto.models.dflash_config import NESTED, DFlashConfig, qwen3_sizes
from presto.records import quoted

DSPARK = "Qwen3DSparkModel"
FORMAT = "speculators_model_type"  # the field that marks the speculators format
_DSPARK_FIELDS = frozenset(
    {
        *("block_size", "num_target_layers", "mask_token_id", "target_layer_ids", "num_anchors"),
        *("enable_confidence_head", "confidence_head_with_markov"),
        *("markov_rank", "markov_head_type"),
    }
)
_SPECULATORS_FIELDS = frozenset(
    {
        *(FORMAT, "architectures", "auto_map", "speculators_config", "speculators_version"),
        *("transformers_version", "dtype", "torch_dtype", "transformer_layer_config"),
        *("draft_vocab_size", "block_size", "target_hidden_size", "aux_hidden_state_layer_ids"),
        *("mask_token_id", "sliding_window_non_causal", "sample_from_anchor", "model_type"),
        *("enable_confidence_head", "confidence_head_with_markov", "tie_word_embeddings"),
        *("markov_rank", "markov_head_type"),
    }
)
_UNREAD = "confidence_head."
_OF_TARGET = ("verifier_norm.", "verifier_lm_head.", "t2d")  # copies that training needed


def is_drafter(folder: Path) -> bool:
    """Whether the folder's configuration is of one of these layouts."""
    return _layout_of(read_json(folder / CONFIG_FILE)) is not None


def read_drafter_config(folder: Path) -> DFlashConfig:
    """The configuration of a drafter in any of the layouts; ``ValueError`` names the field that is
    missing, wrong or not known here.
    """
    path = folder / CONFIG_FILE
    raw = read_json(path)
    read = _layout_of(raw)
    if read is None:
        return DFlashConfig.read(folder)  # says what is missing
    refuse_quantised(folder, raw)
    try:
        return read(folder, raw).checked()
    except KeyError as error:
        raise ValueError(f"{path}: {error} is missing") from None
    except (ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise ValueError(said if said.startswith(str(path)) else f"{path}: {said}") from None


def _layout_of(raw: Mapping[str, Any]) -> Callable[[Path, Mapping[str, Any]], DFlashConfig] | None:
    if FORMAT in raw:
        return _speculators
    if raw.get("architectures") == [DSPARK]:
        return _dspark
    return (lambda folder, _: DFlashConfig.read(folder)) if NESTED in raw else None


def _dspark(folder: Path, raw: Mapping[str, Any]) -> DFlashConfig:
    sizes = qwen3_sizes({name: raw[name] for name in raw if name not in _DSPARK_FIELDS})
    return DFlashConfig(
        block_size=_count(raw, "block_size"),
        num_target_layers=_count(raw, "num_target_layers"),
        mask_token_id=_count(raw, "mask_token_id", least=0),
        target_layer_ids=_layers(raw["target_layer_ids"]),
        sizes=sizes,
        predicts_next=True,
        own_vocabulary=int(sizes.vocab_size),
        unread=(_UNREAD,),
        **_markov(raw, missing=None),
    )


def _speculators(folder: Path, raw: Mapping[str, Any]) -> DFlashConfig:
    kind = raw[FORMAT]
    if kind not in ("dflash", "dspark"):
        raise ValueError(f"{FORMAT} is {quoted(kind)}: dflash and dspark are read here")
    if unknown := sorted(name for name in raw if name not in _SPECULATORS_FIELDS and raw[name]):
        raise ValueError(f"{unknown[0]} is not supported (it is {quoted(raw[unknown[0]])})")
    sizes = qwen3_sizes(raw["transformer_layer_config"])
    if "sliding_attention" in (sizes.layer_types or ()):
        raise ValueError("layer_types has sliding_attention, which is not supported in this layout")
    hidden = raw.get("target_hidden_size") or sizes.hidden_size
    if hidden != sizes.hidden_size:
        raise ValueError(
            f"target_hidden_size is {quoted(hidden)}, the drafter's own {sizes.hidden_size}: only "
            "drafters of the target's size are supported"
        )
    markov = {} if kind == "dflash" else _markov(raw, missing=256)
    return DFlashConfig(
        block_size=_count(raw, "block_size", usual=8),
        num_target_layers=0,
        mask_token_id=_count(raw, "mask_token_id", least=0),
        target_layer_ids=tuple(i - 1 for i in _layers(raw["aux_hidden_state_layer_ids"])),
        sizes=sizes,
        predicts_next=_truth(raw, "sample_from_anchor", kind == "dspark"),
        own_vocabulary=_count(raw, "draft_vocab_size", usual=32000),
        unread=(_UNREAD, *_OF_TARGET),
        **markov,
    )


def _markov(raw: Mapping[str, Any], missing: int | None) -> dict[str, Any]:
    """The Markov head's fields; ``missing``: its rank where none is said, ``None``: it must be."""
    rank = _count(raw, "markov_rank", least=0, usual=missing)
    kind = raw.get("markov_head_type", "vanilla") if rank else "vanilla"
    if kind not in ("vanilla", "gated"):
        raise ValueError(
            f"markov_head_type is {quoted(kind)}: vanilla and gated are supported, which score a "
            "token by the one before it alone"
        )
    return {"markov_rank": rank, "markov_gated": kind == "gated"}


def _layers(given: Iterable[Any]) -> tuple[int, ...]:
    layers = tuple(given)
    for layer in layers:
        if not is_whole(layer) or layer < -1:
            raise ValueError(f"the target's layers must be whole numbers, got {quoted(layer)}")
    return layers


def _count(raw: Mapping[str, Any], name: str, least: int = 1, usual: int | None = None) -> int:
    value = raw[name] if usual is None else raw.get(name, usual)
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {quoted(value)}")
    return value


def _truth(raw: Mapping[str, Any], name: str, usual: bool) -> bool:
    value = raw.get(name, usual)
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {quoted(value)}")
    return value
