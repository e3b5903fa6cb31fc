"""The numbers of a run: each figure with its name and what it means; below 1× it says so."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import NamedTuple

from presto.models.catalogue import PAIRS
from presto.records import NGRAM, Finish, Method, Stages, Trace
from presto.records.measures import Totals
from presto.runs.variants import TITLES
from presto.scorers import SCORERS

ENDS: dict[Finish, str] = {
    "eos": "the model ended its answer",
    "stop": "a stop string was reached",
    "length": "the token cap was reached",
    "stopped": "stopped",
}


COMPARED: tuple[Method, ...] = ("linear", "blind", "ar", "presto", "presto+")


class Number(NamedTuple):
    """One figure: ``name value``, with a sentence for whoever asks."""

    name: str
    value: str
    meaning: str


def numbers(run: Totals, others: Mapping[Method, Totals]) -> list[Number]:
    """Acceptance length, speed, overhead, and the speed-up over every other lane that was run."""
    shown = [
        Number(
            "τ",
            f"{run.acceptance_length:.2f}",
            "acceptance length: tokens committed per round, on average",
        ),
        Number(
            "tokens/s",
            f"{run.tokens_per_second:.1f}",
            f"{run.tokens} tokens in {run.seconds:.2f} s, no prefill",
        ),
        Number(
            "tokens/pass",
            f"{run.tokens_per_forward:.2f}",
            "tokens per model pass, drafting passes counted too",
        ),
    ]
    shown += [
        versus
        for method in COMPARED
        if method in others and (versus := _versus(run, method, others[method]))
    ]
    share = "share of time spent on scores, search and mask"
    return [*shown, Number("overhead", f"{run.overhead_share:.1%}", share)]


def _versus(run: Totals, method: Method, other: Totals) -> Number | None:
    ratio = run.speedup_over(other)
    if ratio is None:
        return None
    name, slower = TITLES[method], ": slower" if ratio < 1 else ""
    rate = f"{other.tokens_per_second:.1f}"
    meaning = f"tokens per second against {name} ({rate}) on this prompt"
    return Number(f"vs {name}", f"{ratio:.2f}×{slower}", meaning)


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


def stage_shares(run: Totals) -> list[Number]:
    """The share of the time and the milliseconds of every stage, in the order they happen."""
    return [
        Number(name, f"{part / run.seconds:.4f}", f"{1000 * part:.0f} ms")
        for name, part in asdict(run.stages).items()
        if run.seconds
    ]


def place(trace: Trace) -> str:
    """Where and how the run was made: pair, mode, device, precision, chat template."""
    template = "no chat template" if trace.template == "none" else f"template: {trace.template}"
    return " · ".join((trace.system, trace.mode, trace.device, trace.dtype, template))


def settings(trace: Trace) -> str:
    """The settings that shape the tree, in one line."""
    config = trace.config
    score = config.scorer + (", normalised" if config.normalised else "")
    scorer = SCORERS.get(config.scorer)
    lam = f" · λ {config.lam:g}" if scorer is None or scorer.uses_lam else ""
    auto = f", {config.draft_length} drafted (auto)" if trace.tuning else ""
    budget = f"budget {config.budget}{auto}"
    tree = f"{score}{lam} · {config.search} · {budget} · T {config.temperature:g}"
    corrects = trace.method != "ar" and (scorer is None or scorer.corrects)
    return f"{tree} · {ngram_source(trace)}" if corrects else tree


def ngram_source(trace: Trace) -> str:
    """Which text the n-gram correction counted: a static table by its file, this run's own, both or
    none.
    """
    config = trace.config
    pair = PAIRS.get(trace.system)
    # Early recordings do not name their table.
    table = trace.models.get(NGRAM) or (pair.table if pair else "")
    if not (config.static_ngram and table):
        return "n-gram: online only" if config.online_ngram else "n-gram: none"
    return f"n-gram: {table}" + (" and online" if config.online_ngram else " only")
