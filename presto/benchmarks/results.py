"""Result files of ``presto bench`` (``docs/bench.md``), read strictly.

A file comes from anyone. ``parse_result`` takes no field it does not know, no number that is not
finite and no file beyond ``MAX_BYTES``.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from presto.records import STRICT, DecodeConfig, Stages, Trace, explain
from presto.records.measures import Totals, output_ids, totals
from presto.records.tuning import Budget, Length
from presto.registry import NAME
from presto.runs.ends import RoundEnd

MAX_BYTES = 8_000_000
MAX_SETS = 40  # data sets of a file
MAX_METHODS = 24
MAX_RUNS = 100_000
MAX_BLOCKS = 1_000  # of prompts of one set, one after another
LONGEST_REASON = 240  # characters of a refusal
Baseline = Literal["ar", "linear"]
Stage = Literal["draft", "score", "search", "mask", "verify", "commit"]
Amount = Annotated[float, Field(ge=0, le=1e9)]
Signed = Annotated[float, Field(ge=-1e9, le=1e9)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Tokens = Annotated[int, Field(ge=0, le=64)]  # committed in a round: a draft has 31 at most
Name = Annotated[str, Field(max_length=200)]
Variant = Annotated[str, Field(pattern=rf"^({NAME.pattern}|presto\+)$")]  # method, scorer or search


Ends = dict[RoundEnd, Count]  # rounds by why they end; empty where that is not known
Digest = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Source = Annotated[str, Field(max_length=1000)]


def digest(text: str) -> str:
    """Sixteen hexadecimal digits that tell texts apart."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _in_order(low: float, high: float) -> None:
    if low > high:
        raise ValueError(f"low must not exceed high, got {low} and {high}")


@dataclass(frozen=True, config=STRICT)
class Interval:
    """A figure and its 95 % interval; never negative."""

    value: Amount
    low: Amount
    high: Amount

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _in_order(self.low, self.high)
        return self


@dataclass(frozen=True, config=STRICT)
class Gap:
    """A paired difference of macro τ, its 95 % interval and the ratio of the two."""

    value: Signed
    low: Signed
    high: Signed
    ratio: Amount

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _in_order(self.low, self.high)
        return self


@dataclass(frozen=True, config=STRICT)
class Figures:
    """What was measured of a method. ``histogram``: rounds by committed tokens. ``equal_to_ar``:
    (equal, all) texts. ``ends``: rounds by why they end (``presto.runs.ends``).
    """

    tau_macro: Interval
    tau_micro: Amount
    tokens_per_forward: Amount
    histogram: dict[Tokens, Count]
    tokens_per_second: Interval
    ratio_to_ar: Interval | None
    ratio_to_linear: Interval | None
    stages: dict[Stage, Amount]  # seconds
    overhead_share: Interval
    equal_to_ar: tuple[Count, Count] | None
    ends: Ends = Field(default_factory=dict)


@dataclass(frozen=True, config=STRICT)
class Where:
    """On what the figures were measured."""

    pair: Name
    mode: Name
    device: Name
    dtype: Name
    processor: Name


@dataclass(frozen=True, config=STRICT)
class BenchRun:
    """What is kept of one run, so that figures can be made again: of prompt number ``prompt`` (from
    0, over all data sets) by ``method``. ``text`` is a digest of the token ids.
    """

    prompt: Count
    method: Variant
    histogram: dict[Tokens, Count]
    forwards: Count
    seconds: Stages
    text: Digest
    ends: Ends = Field(default_factory=dict)

    @classmethod
    def of(
        cls, prompt: int, method: str, trace: Trace, ends: Iterable[RoundEnd | None] = ()
    ) -> Self:
        """The run of ``trace``, and why its rounds end, as far as it is known."""
        lengths = Counter(len(round_.committed) for round_ in trace.rounds)
        sums, ids = totals(trace), json.dumps(output_ids(trace))
        return cls(
            prompt=prompt,
            method=method,
            histogram=dict(sorted(lengths.items())),
            forwards=sums.forwards,
            seconds=Stages(**{name: round(s, 6) for name, s in asdict(sums.stages).items()}),
            text=digest(ids),
            ends=dict(sorted(Counter(end for end in ends if end).items())),
        )

    @property
    def totals(self) -> Totals:
        """The sums over its rounds."""
        return Totals(
            rounds=sum(self.histogram.values()),
            tokens=sum(length * count for length, count in self.histogram.items()),
            forwards=self.forwards,
            seconds=sum(asdict(self.seconds).values()),
            stages=self.seconds,
        )


@dataclass(frozen=True, config=STRICT)
class Plan:
    """What was asked for, and of which versions: a run that goes on must have the same."""

    methods: Annotated[tuple[Variant, ...], Field(max_length=MAX_METHODS)]
    prompts: Annotated[dict[Name, Count], Field(max_length=MAX_SETS)]  # per data set
    data: Digest  # of all prompts
    models: dict[Name, Source]
    versions: dict[Name, Name]


@dataclass(frozen=True, config=STRICT)
class Part:
    """That a file is part ``number`` (from 1) of the ``of`` parts of a bench: it has every
    ``of``-th prompt. ``sets``: the data sets of all prompts in their order, with their prompts.
    """

    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    sets: Annotated[tuple[tuple[Name, Count], ...], Field(max_length=MAX_BLOCKS)]

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        prompts = sum(count for _, count in self.sets)
        if not self.number <= self.of <= max(1, prompts) <= MAX_RUNS:
            raise ValueError(f"number ≤ of ≤ prompts ≤ {MAX_RUNS} is wanted, got {self}")
        return self


@dataclass(frozen=True, config=STRICT)
class Shape:
    """What was chosen for a method on the device."""

    budget: Budget
    draft_length: Length


Methods = Annotated[dict[Variant, Figures], Field(max_length=MAX_METHODS)]


@dataclass(frozen=True, config=STRICT)
class BenchResult:
    """A result file. Any subset of methods; the parts with a default may be missing.

    ``complete`` is false in the file of a bench that was stopped: its figures are those of the
    ``prompts`` that all methods have decoded, ``runs`` has every run that is over.
    """

    where: Where
    methods: Methods
    config: DecodeConfig | None = None
    # in place of the config's, where it was ``--budget auto``
    chosen: Annotated[dict[Variant, Shape], Field(max_length=MAX_METHODS)] = Field(
        default_factory=dict
    )
    prompts: Annotated[dict[Name, Count], Field(max_length=MAX_SETS)] = Field(default_factory=dict)
    differences: Annotated[dict[Name, Gap], Field(max_length=MAX_METHODS)] = Field(
        default_factory=dict
    )
    datasets: Annotated[dict[Name, Methods], Field(max_length=MAX_SETS)] = Field(
        default_factory=dict
    )
    complete: bool = True
    plan: Plan | None = None
    part: Part | None = None  # in the file of a part
    runs: Annotated[tuple[BenchRun, ...], Field(max_length=MAX_RUNS)] = ()


def basis(result: dict[str, Any]) -> dict[str, Any]:
    """What figures depend on, by name, of a result file's content: those of two files that differ
    in any of it are not figures of one bench.
    """
    whole = {name: result.get(name) for name in ("chosen", "part")}
    return {**result["where"], **result["config"], **result["plan"], **whole}


_RESULT = TypeAdapter(BenchResult)


def parse_result(text: str) -> BenchResult:
    """Read a result file; ``ValueError`` names the first unknown field, wrong type or number that
    is not finite.
    """
    size = len(text.encode(errors="replace"))
    if size > MAX_BYTES:
        raise ValueError(
            f"the benchmark result has {size:,} bytes, at most {MAX_BYTES:,} are allowed"
        )
    try:
        return _RESULT.validate_json(text)
    except ValidationError as error:
        reason = " ".join(explain(error).split())  # names keys of the file, which may be anything
        if len(reason) > LONGEST_REASON:
            reason = f"{reason[: LONGEST_REASON - 1]}…"
        raise ValueError(f"not a valid benchmark result: {reason}") from None
    except UnicodeEncodeError:
        raise ValueError("not a valid benchmark result: it has half a surrogate pair") from None
