"""Named pairs of target and drafter, loaded once per process."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from presto.device import keep_freed_memory, pick_device, pick_dtype
from presto.models.backbone import Backbone
from presto.models.quadratic import QuadraticSystem
from presto.models.selfspec import GatedSystem
from presto.models.weights import embedded_target
from presto.ngram import NgramTable
from presto.protocols import System
from presto.search import warm_up
from presto.text import Text

ASSETS = Path(__file__).resolve().parents[2] / "assets"
ADAPTER = ASSETS / "models" / "smollm2-draft-adapter"
TABLE = ASSETS / "ngram" / "smollm2.npz"


@dataclass(frozen=True)
class PairSpec:
    """What is known of a pair before it is loaded."""

    name: str
    title: str
    licence: str


@dataclass(frozen=True)
class Pair:
    """A loaded pair: the system that decodes, its tokenizer and the n-gram table of its target."""

    spec: PairSpec
    system: System
    text: Text
    table: NgramTable | None

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Prompt ids under the pair's chat template."""
        return self.text.encode_chat(prompt)


PAIRS = {
    spec.name: spec
    for spec in (
        PairSpec("smollm2-gated", "SmolLM2-135M-Instruct, drafting for itself through a gated adapter", "Apache-2.0"),
        PairSpec("smollm2-quadratic", "The same pair, drafting and verifying in one pass per round", "Apache-2.0"),
    )
}


def names() -> tuple[str, ...]:
    """Names of the known pairs, the default first."""
    return tuple(PAIRS)


def find(name: str) -> PairSpec:
    """The pair called ``name``; ``ValueError`` lists the known ones."""
    if name not in PAIRS:
        raise ValueError(f"unknown pair {name!r}: known pairs are {', '.join(PAIRS)}")
    return PAIRS[name]


@lru_cache(maxsize=2)
def load(name: str, dtype: str = "auto") -> Pair:
    """Load a pair onto this machine's device; the target is fetched first if it is not here yet."""
    spec = find(name)
    warm_up()
    backbone, text = load_target(embedded_target(), dtype)
    kind = QuadraticSystem if name == "smollm2-quadratic" else GatedSystem
    system = kind.load(name, backbone, frozenset({text.tokenizer.eos_token_id}), ADAPTER)
    return Pair(spec, system, text, NgramTable.load(TABLE) if TABLE.exists() else None)


def load_target(folder: Path, dtype: str = "auto") -> tuple[Backbone, Text]:
    """A transformers checkpoint folder as backbone and tokenizer, on the device and dtype of ``presto.device``."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    device = pick_device()
    if device.type == "cpu":
        keep_freed_memory()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=pick_dtype(dtype, device)).to(device)
    return Backbone(model), Text(AutoTokenizer.from_pretrained(folder))
