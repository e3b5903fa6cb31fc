"""The numbers line of a run: each figure with its name and what it means, honest below 1×."""

from dataclasses import asdict
from typing import NamedTuple

from presto.models.catalogue import PAIRS
from presto.records import NGRAM, Finish, Method, Stages, Trace
from presto.records.measures import (
    acceptance_length,
    len_committed,
    overhead_share,
    speedup,
    stage_totals,
    tokens_per_forward,
    tokens_per_second,
    total_seconds,
)

NAMES: dict[Method, str] = {
    "presto": "PRESTO",
    "linear": "linear",
    "blind": "blind tree",
    "ar": "autoregressive",
}
ENDS: dict[Finish, str] = {
    "eos": "the model ended its answer",
    "stop": "a stop string was reached",
    "length": "the token cap was reached",
    "stopped": "stopped",
}


class Number(NamedTuple):
    """One entry of the line: ``name value``, with a sentence for whoever asks."""

    name: str
    value: str
    meaning: str


def numbers(trace: Trace, others: dict[Method, Trace]) -> list[Number]:
    """Acceptance length, speed, overhead, and the speed-up over every other lane that was run."""
    tau, rate = acceptance_length(trace), tokens_per_second(trace)
    line = [
        Number("τ", f"{tau:.2f}", "acceptance length: tokens committed per round, on average"),
        Number(
            "tokens/s",
            f"{rate:.1f}",
            f"{len_committed(trace)} tokens in {total_seconds(trace):.2f} s, no prefill",
        ),
        Number(
            "tokens/pass",
            f"{tokens_per_forward(trace):.2f}",
            "tokens per model pass, drafting passes counted too",
        ),
    ]
    for method in ("linear", "blind", "ar"):
        other = others.get(method)
        ratio = speedup(trace, other) if other else None
        if other and ratio is not None:
            slower = ": slower" if ratio < 1 else ""
            meaning = (
                f"tokens per second against {NAMES[method]} ({tokens_per_second(other):.1f}) on "
                "this prompt"
            )
            line.append(Number(f"vs {NAMES[method]}", f"{ratio:.2f}×{slower}", meaning))
    share = overhead_share(trace)
    return [
        *line,
        Number("overhead", f"{share:.1%}", "share of time spent on scores, search and mask"),
    ]


def phases(seconds: Stages) -> list[tuple[str, str]]:
    """The phases of a round in order, each with its time as a person reads it."""
    parts = {
        "draft": seconds.draft,
        "score": seconds.score,
        "build": seconds.search + seconds.mask,
        "verify": seconds.verify,
        "commit": seconds.commit,
    }
    return [
        (name, f"{1000 * part:.2g} ms" if part < 0.01 else f"{1000 * part:.0f} ms")
        for name, part in parts.items()
    ]


def stage_shares(trace: Trace) -> list[Number]:
    """Where the time went, stage by stage, largest part of the bar last to first as they happen."""
    seconds = total_seconds(trace)
    stages = asdict(stage_totals(trace))
    return [
        Number(name, f"{part / seconds:.4f}", f"{1000 * part:.0f} ms")
        for name, part in stages.items()
        if seconds
    ]


def place(trace: Trace) -> str:
    """Where and how the run was made: pair, mode, device, precision, chat template."""
    template = "no chat template" if trace.template == "none" else f"template: {trace.template}"
    return " · ".join((trace.system, trace.mode, trace.device, trace.dtype, template))


def settings(trace: Trace) -> str:
    """The settings that shape the tree, in one line."""
    config = trace.config
    score = config.scorer + (", normalised" if config.normalised else "")
    tree = (
        f"{score} · λ {config.lam:g} · {config.search} · budget {config.budget} · T "
        f"{config.temperature:g}"
    )
    return (
        f"{tree} · {ngram_source(trace)}"
        if trace.method == "presto" and config.scorer != "blind"
        else tree
    )


def ngram_source(trace: Trace) -> str:
    """Which text the n-gram correction counted: a static table by its file, this run's own, both or
    none.
    """
    config = trace.config
    pair = PAIRS.get(trace.system)
    table = trace.models.get(NGRAM) or (
        pair.table if pair else ""
    )  # early recordings do not name it
    if not (config.static_ngram and table):
        return "n-gram: online only" if config.online_ngram else "n-gram: none"
    return f"n-gram: {table}" + (" and online" if config.online_ngram else " only")


def ending(trace: Trace) -> str:
    """Why the run ended, in words."""
    return ENDS[trace.finish]
