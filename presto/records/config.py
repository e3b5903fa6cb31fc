"""Every setting of a run, described once: the command line, the page and the docs read it here."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from presto.records.bounds import MAX_BUDGET, MAX_DEPTH, MAX_NEW_TOKENS, MAX_WIDTH

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
Group = Literal["score", "search", "drafting", "sampling", "output"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Own = Annotated[dict[Name, float], Field(max_length=32)]  # settings of a scorer's or search's own
# Logits are divided by it: below, the quotients lose the noise, and at last overflow.
LEAST_TEMPERATURE = 1e-6


def _setting(default: Any, group: Group, title: str, description: str, **limits: Any) -> Any:
    return Field(
        default, title=title, description=description, json_schema_extra={"group": group}, **limits
    )


def _own(group: Group, title: str) -> Any:
    about = f"Numbers by name, for what the {group} chosen has of its own."
    return Field(title=title, description=about, json_schema_extra={"group": group})


def _greedy_or_warm(temperature: float) -> float:
    if 0 < temperature < LEAST_TEMPERATURE:
        raise ValueError(f"must be 0 (greedy) or at least {LEAST_TEMPERATURE:g}")
    return temperature


@dataclass(frozen=True, config=STRICT)
class DecodeConfig:
    """Every setting of a run.

    Ranges are checked on construction; ``explain`` turns a violation into one sentence. Whether the
    scorer and the search are installed is checked where a run begins: a record may name others.
    """

    scorer: Name = _setting("pmi", "score", "Scorer", "How candidates are ranked.")
    normalised: bool = _setting(
        True, "score", "Normalised", "Scores are rescaled so that children keep their mass."
    )
    search: Name = _setting("best_first", "search", "Search", "Which candidates become nodes.")
    lam: float = _setting(0.7, "score", "λ", "Weight of the correction.", ge=0, le=4)
    order: int = _setting(3, "score", "n-gram order", "Order of the n-gram model.", ge=2, le=3)
    budget: int = _setting(
        32,
        "search",
        "Budget",
        "Nodes of the draft tree, the root not counted.",
        ge=1,
        le=MAX_BUDGET,
    )
    top_k: int = _setting(32, "search", "Top-K", "Candidates per position.", ge=1, le=MAX_WIDTH)
    beam_width: int = _setting(
        32, "search", "Beam width", "Nodes that a beam search keeps per depth.", ge=1, le=1024
    )
    lookup: int = _setting(
        0,
        "search",
        "Lookup",
        "Nodes kept for what followed the text's last tokens where they stood before.",
        ge=0,
        le=MAX_DEPTH,
    )
    draft_length: int = _setting(
        12, "drafting", "Draft length", "Drafted positions per round.", ge=1, le=MAX_DEPTH
    )
    correct_first: bool = _setting(
        True, "score", "Correct level 1", "The correction applies to the first drafted token too."
    )
    static_ngram: bool = _setting(
        True, "score", "Static n-gram", "Text that the target wrote beforehand is counted."
    )
    online_ngram: bool = _setting(
        True, "score", "Online n-gram", "The prompt and the output of this run are counted."
    )
    sampled_draft: bool = _setting(
        False,
        "drafting",
        "Sampled draft",
        "Linear search at T > 0 draws from the marginals instead of taking the likeliest token.",
    )
    temperature: Annotated[float, AfterValidator(_greedy_or_warm)] = _setting(
        0.0, "sampling", "Temperature", "0 is greedy.", ge=0, le=4
    )
    top_p: float = _setting(
        1.0, "sampling", "Top-p", "Nucleus of the target's sampling.", gt=0, le=1
    )
    sample_top_k: int = _setting(
        0,
        "sampling",
        "Sampling top-k",
        "Only the target's k likeliest tokens are sampled; 0 keeps all.",
        ge=0,
        le=1000,
    )
    # Pages and other JSON readers hold numbers up to 2^53 exactly.
    seed: int = _setting(0, "sampling", "Seed", "Of the position-keyed noise.", ge=0, le=2**53)
    max_new_tokens: int = _setting(
        128, "output", "Max new tokens", "Cap on emitted tokens.", ge=1, le=MAX_NEW_TOKENS
    )
    stop: tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...] = _setting(
        (), "output", "Stop", "Strings that end the output.", max_length=64, strict=False
    )
    scorer_settings: Annotated[Own, _own("score", "Scorer's own")] = field(
        default_factory=dict, hash=False
    )
    search_settings: Annotated[Own, _own("search", "Search's own")] = field(
        default_factory=dict, hash=False
    )


class Setting(NamedTuple):
    """One field of ``DecodeConfig`` for whoever shows or reads it; numbers lie in low to high."""

    name: str
    title: str
    description: str
    group: Group
    type: Any
    default: Any
    low: float | None = None
    high: float | None = None
    open_low: bool = False  # whether ``low`` itself is excluded

    @property
    def range(self) -> str:
        """The range in words, empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{'above ' * self.open_low}{self.low:.16g} to {self.high:.16g}"


def settings() -> dict[str, Setting]:
    """All fields of ``DecodeConfig`` by name."""
    hints = get_type_hints(DecodeConfig)
    described: dict[str, FieldInfo] = DecodeConfig.__pydantic_fields__  # type: ignore[attr-defined]
    return {name: _described(name, hints[name], info) for name, info in described.items()}


def _described(name: str, hint: Any, info: FieldInfo) -> Setting:
    low = next((limit for limit in info.metadata if isinstance(limit, Ge | Gt)), None)
    high = next((limit for limit in info.metadata if isinstance(limit, Le)), None)
    extra: Any = info.json_schema_extra
    return Setting(
        name=name,
        title=info.title or name,
        description=info.description or "",
        group=extra["group"],
        type=hint,
        default=info.get_default(call_default_factory=True, validated_data={}),
        low=low.ge if isinstance(low, Ge) else low.gt if low else None,  # type: ignore[arg-type]
        high=high.le if high else None,  # type: ignore[arg-type]
        open_low=isinstance(low, Gt),
    )


def changed(config: DecodeConfig, changes: Mapping[str, Any]) -> DecodeConfig:
    """``config`` with other values; another scorer or search begins with its own defaults."""
    fresh: dict[str, Any] = {
        f"{kind}_settings": {}
        for kind in ("scorer", "search")
        if changes.get(kind, getattr(config, kind)) != getattr(config, kind)
    }
    return replace(config, **fresh | dict(changes))
