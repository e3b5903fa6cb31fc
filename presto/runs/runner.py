"""From a person's request to a run's events and its ``Trace``: what the app, the command line and
the recorder all call.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from traceback import clear_frames
from typing import Any

from presto.decoding.loop import Run, check_fits
from presto.decoding.output import cut_at_stop
from presto.models.device import device_name, dtype_name
from presto.models.memory import is_out_of_memory, release
from presto.models.registry import Pair, find, load, ngram_for
from presto.models.registry import forget as forget
from presto.records import NGRAM, DecodeConfig, Method, Round, Trace
from presto.records.measures import (
    acceptance_length,
    output_ids,
    stage_totals,
    tokens_per_second,
    total_seconds,
)
from presto.records.tuning import Tuning
from presto.runs.events import DeviceMeasured, RoundDecoded, RunEvent, RunStarted, collected
from presto.runs.requests import check_method, check_prompt, config_for
from presto.runs.tuning import must_measure, tuned
from presto.runs.variants import PLAIN
from presto.runs.versions import versions


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
    system: str,
    prompt: str,
    method: str,
    config: DecodeConfig,
    dtype: str = "auto",
    auto: bool = False,
) -> Generator[RunEvent | DeviceMeasured, None, None]:
    """Decode ``prompt``; yields the run's start after the prefill, then every round.

    With ``auto`` budget and draft length are chosen for this device (``presto.runs.budget``); if
    its costs are not known yet, that they are measured is told first.
    Closing the generator ends the run after the round in progress. Raises ``ValueError`` with one
    sentence for a request that cannot run, before any model call.
    """
    check_prompt(prompt)
    find(system)
    yield from told(load(system, dtype), prompt, method, config, auto)


def told(
    pair: Pair, prompt: str, method: str, config: DecodeConfig, auto: bool = False
) -> Generator[RunEvent | DeviceMeasured, None, None]:
    """``stream`` by a loaded pair."""
    check_prompt(prompt)
    chosen = check_method(method)
    if auto and chosen != PLAIN and must_measure(pair, config_for(chosen, config)):
        check_fits(len(pair.encode(prompt)), config, pair.system.context)
        yield DeviceMeasured()
    yield from run_events(pair, prompt, chosen, config, auto)


def run_events(
    pair: Pair, prompt: str, method: Method, config: DecodeConfig, auto: bool = False
) -> Generator[RunEvent, None, None]:
    """A run by a loaded pair: its start after the prefill, then every round."""
    config, tuning = config_for(method, config), None
    if auto and method != PLAIN:
        check_fits(len(pair.encode(prompt)), config, pair.system.context)
        config, tuning = tuned(pair, config)
    run, head = _begin(pair, prompt, method, config, tuning)
    yield RunStarted(head)
    seen = set(head.pieces)
    for round_ in run.rounds(Run.plain_round if method == "ar" else Run.draft_round):
        new = round_.tokens() - seen
        seen |= new
        over = pair.text.decode(run.output.tokens) if run.finish else ""
        output = cut_at_stop(over, config.stop)
        yield RoundDecoded(round_, pair.text.labels(new), run.finish, output)


def rounds(
    pair: Pair, prompt: str, method: Method, config: DecodeConfig, auto: bool = False
) -> Iterator[Round]:
    """One run's rounds as they come."""
    for event in run_events(pair, prompt, method, config, auto):
        if isinstance(event, RoundDecoded):
            yield event.round


def finished(
    pair: Pair, prompt: str, method: Method, config: DecodeConfig, auto: bool = False
) -> Trace:
    """The whole run's trace."""
    return collected(run_events(pair, prompt, method, config, auto))


def _begin(
    pair: Pair, prompt: str, method: Method, config: DecodeConfig, tuning: Tuning | None
) -> tuple[Run, Trace]:
    """Read the prompt; the run before its first round, and its record."""
    began = time.perf_counter()
    system, spec = pair.system, pair.spec
    counted = pair.table is not None and config.static_ngram
    run = Run.begin(system, pair.encode(prompt), config, ngram_for(pair, config), pair.text.piece)
    system.synchronise()
    seconds = round(time.perf_counter() - began, 6)
    head = Trace(
        system=system.name,
        mode=system.mode,
        method=method,
        config=config,
        device=device_name(system.device),
        dtype=dtype_name(system.dtype),
        template=spec.template_name,
        models=dict(pair.models) | ({NGRAM: spec.table} if counted else {}),
        prompt=prompt,
        prompt_ids=run.prompt_ids,
        rounds=(),
        pieces=pair.text.labels(run.prompt_ids),
        finish="stopped",
        prefill_seconds=seconds,
        versions=versions(),
        tuning=tuning,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return run, head


def summary(trace: Trace) -> dict[str, Any]:
    """What ``presto decode --json`` prints of a finished run."""
    ids = output_ids(trace)
    return {
        "text": trace.text,
        "token_ids": ids,
        "tau": round(acceptance_length(trace), 4),
        "rounds": len(trace.rounds),
        "budget": trace.config.budget,
        "draft_length": trace.config.draft_length,
        "seconds": round(total_seconds(trace), 4),
        "tokens_per_second": round(tokens_per_second(trace), 2),
        "stages": asdict(stage_totals(trace)),
        "finish": trace.finish,
        "narrowest_margin": min((round_.margin for round_ in trace.rounds), default=None),
    }
