"""A transformers checkpoint folder as a model: every tensor of it read from the folder, or a
refusal in one sentence.

Nothing a folder brings is run: no remote code, no pickled weights.
"""

import logging
import math
import re
from collections.abc import Iterable, Mapping
from itertools import chain, product
from pathlib import Path
from typing import Any

import torch

from presto.models.checkpoint import (
    CONFIG_FILE,
    FLOATS,
    TensorInfo,
    read_json,
    read_tensors,
    refuse_layers,
    refuse_missing,
    refuse_quantised,
    refuse_unexpected,
    sentence,
)
from presto.models.memory import is_out_of_memory
from presto.models.windows import attention_kinds, context_of

logger = logging.getLogger(__name__)
CPU = torch.device("cpu")
FREE, RATIO = 10_000_000, 2  # parameters more than the files hold: told by name, tensor by tensor
_LOCAL = {"trust_remote_code": False, "local_files_only": True}
_RECURRENT_LAYERS = {"linear_attention", "mamba", "recurrent", "conv", "hybrid", "hybrid_sliding"}
_RECURRENT_MODELS = {"rwkv", "xlstm"}  # without kinds of layers
_USUAL = {  # settings that change what greedy ``generate`` writes, and their usual values
    "repetition_penalty": (None, 1.0),
    "no_repeat_ngram_size": (None, 0),
    "num_beams": (None, 1),
    "min_length": (None, 0),
    "min_new_tokens": (None, 0),
    "guidance_scale": (None, 1.0),
    "bad_words_ids": (None,),
    "suppress_tokens": (None,),
    "begin_suppress_tokens": (None,),
    "forced_bos_token_id": (None,),
    "forced_eos_token_id": (None,),
    "sequence_bias": (None,),
}


def load_causal_lm(folder: Path, dtype: torch.dtype, device: torch.device = CPU) -> Any:
    """The causal language model of a folder; ``ValueError`` names the file and the field or tensor
    that is missing, damaged or not supported.

    Its tensors go to ``device`` one by one, as they are read: a model of the size of the GPU's
    memory needs no room in the host's.
    """
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging as transformers_logging

    config = read_model_config(folder)
    found = read_tensors(folder)
    _check_headers(found)
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()  # what it would report is checked below
    refuse_layers(folder / CONFIG_FILE, config.num_hidden_layers, found)
    try:
        _check_size(config, found)
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            device_map=None if device == CPU else {"": device},
            **_LOCAL,
        )
    except _SizeError as error:
        raise ValueError(f"{folder / CONFIG_FILE}: {error}") from None
    except Exception as error:  # building a model from any configuration may raise anything
        if is_out_of_memory(error):
            raise
        refuse_missing(folder, gaps(found), config.model_type)
        raise ValueError(
            f"{folder}: transformers cannot load {config.model_type} from it: {sentence(error)}"
        ) from error
    if report["mismatched_keys"]:  # experts are stacked: one fewer is another shape
        refuse_missing(folder, gaps(found), config.model_type)
    _check_report(folder, config.model_type, report)
    _tell_unheeded(folder, model.generation_config)
    return model


class _SizeError(ValueError):
    """A configuration describes another model than the files hold."""


def _check_size(config: Any, found: Mapping[str, TensorInfo]) -> None:
    """Refuse sizes that the files do not have before memory of that size is asked for: tensors of
    another shape are made anew while they are read.
    """
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    described = sum(parameter.numel() for parameter in model.parameters())
    stored = sum(math.prod(info.shape) for info in found.values())
    if described > FREE + RATIO * stored:
        raise _SizeError(f"it describes {described:,} parameters, the weight files hold {stored:,}")


def read_model_config(folder: Path) -> Any:
    """The configuration of a folder's causal language model, if that is a kind that can be decoded
    here: attention over cached keys, text only, no quantised weights.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig

    path = folder / CONFIG_FILE
    raw = read_json(path)
    refuse_quantised(folder, raw)
    if (folder / "adapter_config.json").is_file():
        raise ValueError(
            f"{folder} holds an adapter beside the model (adapter_config.json): merge it into the "
            "weights first"
        )
    try:
        config = AutoConfig.from_pretrained(folder, **_LOCAL)
    except Exception as error:  # as many kinds of error as there are configuration classes
        raise ValueError(f"{path}: {_unreadable(raw, error)}") from error
    kind = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    problem = _not_decodable(config, kind)
    if problem:
        raise ValueError(f"{path}: model type {config.model_type} {problem}")
    try:
        attention_kinds(config)
        context_of(config)
    except ValueError as error:
        raise ValueError(f"{path}: model type {config.model_type}: {error}") from None
    return config


def _unreadable(raw: dict[str, Any], error: Exception) -> str:
    """Why transformers makes no configuration of ``raw``."""
    from transformers import CONFIG_MAPPING, __version__

    name = raw.get("model_type")
    if isinstance(name, str) and name in CONFIG_MAPPING:
        return sentence(error)
    remote = " without code from its repository, which is never run" if "auto_map" in raw else ""
    return f"transformers {__version__} knows no model type {name!r}{remote}"


def _not_decodable(config: Any, kind: Any) -> str:
    """Why models of this kind are refused, as the end of a sentence."""
    if config.is_encoder_decoder:
        return "is an encoder-decoder model: only decoders are decoded here"
    if _is_composed(config):
        return "is a multimodal model: only text models are decoded here"
    if kind is None:
        return "is no causal language model"
    if _is_recurrent(config, kind):
        return "keeps a recurrent state (a state-space or hybrid model), which no tree can share"
    return ""


def _is_recurrent(config: Any, kind: Any) -> bool:
    """Whether a model sums up its past in a state instead of keeping keys of all of it.

    Newer versions of transformers name the kinds of its layers, older ones mark its class; a few
    models have neither.
    """
    layers = set(getattr(config, "layer_types", None) or ())
    named = config.model_type in _RECURRENT_MODELS or layers & _RECURRENT_LAYERS
    return bool(named or getattr(kind, "_is_stateful", False))


def _is_composed(config: Any) -> bool:
    """Whether a configuration is made of several, for text, images, sound."""
    if any("vision" in name or "audio" in name for name in config.sub_configs):
        return True
    try:
        return config.get_text_config() is not config
    except ValueError:  # it has several for text
        return True


def gaps(names: Iterable[str]) -> list[str]:
    """Numbered names that are missing between others: expert 2 of layer 0, if that layer has more
    experts and other layers have an expert 2.
    """
    numbers: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    for name in names:
        words = re.split(r"(?<=\.)(\d+)(?=\.)", name)
        numbers.setdefault(tuple(words[::2]), set()).add(tuple(map(int, words[1::2])))
    return [
        "".join(chain(*zip(words, map(str, absent), strict=False), words[-1:]))
        for words, present in numbers.items()
        for absent in sorted(set(product(*map(set, zip(*present, strict=True)))) - present)
    ]


def _check_headers(found: Mapping[str, TensorInfo]) -> None:
    for name, info in found.items():
        if info.dtype not in FLOATS and name.endswith("weight"):
            raise ValueError(f"{info.file}: tensor {name} is quantised ({info.dtype})")


def _check_report(folder: Path, kind: str, report: dict[str, Any]) -> None:
    """Refuse weights that were not read, from transformers' report on what was."""
    by = f"{kind} by its {CONFIG_FILE}"
    refuse_missing(folder, report["missing_keys"], by)
    for name, found, wanted in sorted(report["mismatched_keys"]):
        raise ValueError(f"{folder}: tensor {name} is {list(found)}, {by} needs {list(wanted)}")
    refuse_unexpected(folder, report["unexpected_keys"], by)
    for message in report.get("error_msgs") or ():
        raise ValueError(f"{folder}: {sentence(message)}")


def _tell_unheeded(folder: Path, generation: Any) -> None:
    """Warn of settings that transformers' ``generate`` would follow and plain decoding does not."""
    asked = {name: getattr(generation, name, None) for name in _USUAL}
    unheeded = [f"{n} {value}" for n, value in asked.items() if value not in _USUAL[n]]
    if unheeded:
        logger.warning(
            "%s asks for %s: not applied here, the model's own choices are decoded",
            folder / "generation_config.json",
            ", ".join(unheeded),
        )
