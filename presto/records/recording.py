"""Runs that belong together: several methods on one prompt and seed."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from presto.records.bounds import MAX_LANES, Name, Words
from presto.records.config import STRICT, DecodeConfig
from presto.records.trace import Trace


@dataclass(frozen=True, config=STRICT)
class Recording:
    """Runs of several methods on one prompt and seed, shown side by side; what ``presto record``
    writes.
    """

    title: Name
    note: Words
    traces: Annotated[tuple[Trace, ...], Field(min_length=1, max_length=MAX_LANES)]
    schema_version: Literal[1] = 1

    @model_validator(mode="after")
    def _one_prompt(self) -> Self:
        check_lanes(self.traces)
        return self


def check_lanes(traces: Sequence[Trace]) -> None:
    """``ValueError`` unless all runs continue one prompt with the same sampling: else their texts
    need not agree.
    """
    for trace in traces[1:]:
        if trace.prompt_ids != traces[0].prompt_ids:
            raise ValueError("lanes can be compared on one prompt only; these have several")
        if _sampling(trace.config) != _sampling(traces[0].config):
            raise ValueError(
                "lanes can be compared with one seed and temperature only; these have several"
            )


def _sampling(config: DecodeConfig) -> tuple[float, ...]:
    greedy = config.temperature == 0
    return () if greedy else (config.temperature, config.top_p, config.sample_top_k, config.seed)
