"""Every setting of a run, and how a violation of its range is put into one sentence."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Scorer = Literal["blind", "product", "pmi", "mixture", "dart"]
Search = Literal["linear", "beam", "best_first"]


@dataclass(frozen=True, config=STRICT)
class DecodeConfig:
    """Every setting of a run. Ranges are checked on construction; ``explain`` turns a violation
    into one sentence.
    """

    scorer: Scorer = "pmi"
    normalised: bool = True
    search: Search = "best_first"
    lam: Annotated[float, Field(ge=0, le=4)] = 0.7  # λ of s = log q + λ·log ρ
    order: Annotated[int, Field(ge=2, le=3)] = 3  # of the n-gram model
    budget: Annotated[int, Field(ge=1, le=1024)] = 32  # nodes of the tree, the root not counted
    top_k: Annotated[int, Field(ge=1, le=64)] = 32  # candidates per position
    beam_width: Annotated[int, Field(ge=1, le=1024)] = 32
    draft_length: Annotated[int, Field(ge=1, le=31)] = (
        12  # drafted positions per round: block size - 1
    )
    correct_first: bool = True  # apply the n-gram correction on the tree's first level too
    static_ngram: bool = True
    online_ngram: bool = True
    sampled_draft: bool = (
        False  # linear search at T > 0 draws from the marginals instead of taking the likeliest
    )
    temperature: Annotated[float, Field(ge=0, le=4)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    sample_top_k: Annotated[int, Field(ge=0)] = (
        0  # keep the target's k likeliest tokens when sampling; 0: all
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    max_new_tokens: Annotated[int, Field(ge=1, le=8192)] = 128
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = ()


def explain(error: ValidationError) -> str:
    """The first violation as one sentence: which field, what was got, what is allowed."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "value"
    got = repr(first["input"])
    shown = got if len(got) <= 60 else got[:57] + "…"
    return f"{place}: {first['msg']} (got {shown})"
