"""From a person's request to a growing ``Trace``: what the app, the command line and the recorder
all call.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from traceback import clear_frames
from typing import Any

from presto.decoding.loop import Run
from presto.decoding.output import cut_at_stop
from presto.kernels.ngram import NgramModel
from presto.models.device import device_name, dtype_name
from presto.models.memory import is_out_of_memory, release
from presto.models.registry import Pair, find, load
from presto.models.registry import forget as forget
from presto.records import NGRAM, DecodeConfig, Finish, Method, Round, Trace
from presto.records.measures import (
    acceptance_length,
    output_ids,
    stage_totals,
    tokens_per_second,
    total_seconds,
)
from presto.runs.requests import check_method, check_prompt, config_for
from presto.version import __version__


def prepare(system: str) -> None:
    """Load a pair, so that ``stream`` begins at once; if need be the pairs loaded before make room
    for it.
    """
    try:
        load(system)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        clear_frames(error.__traceback__)
    else:
        return
    forget()
    release()
    load(system)


def stream(
    system: str, prompt: str, method: str, config: DecodeConfig, dtype: str = "auto"
) -> Iterator[Trace]:
    """Decode ``prompt``; yields the trace after the prefill and after every round.

    Until the run is over its ``finish`` is ``stopped``: closing the generator leaves a valid trace.
    Raises ``ValueError`` with one sentence for a request that cannot run, before any model call.
    """
    check_prompt(prompt)
    find(system)
    yield from trace_run(load(system, dtype), prompt, check_method(method), config)


def trace_run(pair: Pair, prompt: str, method: Method, config: DecodeConfig) -> Iterator[Trace]:
    """``stream`` on a loaded pair."""
    recorder = Recorder(pair, prompt, method, config_for(method, config))
    yield recorder.trace("stopped")
    run = recorder.run
    for round_ in run.rounds(Run.step if method == "ar" else Run.play):
        recorder.rounds.append(round_)
        yield recorder.trace(run.finish or "stopped")


def rounds(pair: Pair, prompt: str, method: Method, config: DecodeConfig) -> Iterator[Round]:
    """One run's rounds as they come."""
    run = Recorder(pair, prompt, method, config_for(method, config)).run
    yield from run.rounds(Run.step if method == "ar" else Run.play)


def finished(pair: Pair, prompt: str, method: Method, config: DecodeConfig) -> Trace:
    """The whole run's trace."""
    *_, last = trace_run(pair, prompt, method, config)
    return last


@dataclass
class Recorder:
    """A run and what has been recorded of it."""

    pair: Pair
    prompt: str
    method: Method
    config: DecodeConfig
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        began = time.perf_counter()
        config, system = self.config, self.pair.system
        table = self.pair.table if config.static_ngram else None
        self.table = {} if table is None else {NGRAM: self.pair.spec.table}
        ngram = NgramModel(system.vocab, table, online=config.online_ngram, order=config.order)
        self.run = Run.begin(
            system, self.pair.encode(self.prompt), config, ngram, self.pair.text.piece
        )
        system.synchronise()
        self.prefill_seconds = round(time.perf_counter() - began, 6)
        self.created = datetime.now(UTC).isoformat(timespec="seconds")
        self.pieces = self.pair.text.labels(self.run.prompt_ids)

    def trace(self, finish: Finish) -> Trace:
        """What has been recorded so far."""
        system = self.pair.system
        if self.rounds:
            self.pieces |= self.pair.text.labels(self.rounds[-1].tokens() - self.pieces.keys())
        return Trace(
            system=system.name,
            mode=system.mode,
            method=self.method,
            config=self.config,
            device=device_name(system.device),
            dtype=dtype_name(system.dtype),
            template=self.pair.spec.template_name,
            models=dict(self.pair.models) | self.table,
            prompt=self.prompt,
            prompt_ids=self.run.prompt_ids,
            rounds=tuple(self.rounds),
            pieces=dict(self.pieces),
            finish=finish,
            prefill_seconds=self.prefill_seconds,
            versions={
                "presto": __version__,
                "torch": version("torch"),
                "transformers": version("transformers"),
            },
            created=self.created,
        )


def summary(pair: Pair, trace: Trace) -> dict[str, Any]:
    """What ``presto decode --json`` prints of a finished run."""
    ids = output_ids(trace)
    return {
        "text": cut_at_stop(pair.text.decode(ids), trace.config.stop),
        "token_ids": ids,
        "tau": round(acceptance_length(trace), 4),
        "rounds": len(trace.rounds),
        "seconds": round(total_seconds(trace), 4),
        "tokens_per_second": round(tokens_per_second(trace), 2),
        "stages": asdict(stage_totals(trace)),
        "finish": trace.finish,
        "narrowest_margin": min((round_.margin for round_ in trace.rounds), default=None),
    }
