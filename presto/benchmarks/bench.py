"""Methods side by side on real prompts: interleaved prompt by prompt after a warm-up, all figures
paired.
"""

import platform
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from presto.benchmarks.statistics import Estimate, estimate
from presto.models.device import device_name, dtype_name
from presto.models.registry import Pair
from presto.records import DecodeConfig, Trace
from presto.records.measures import (
    acceptance_length,
    output_ids,
    overhead_share,
    stage_totals,
    tokens_per_second,
)
from presto.runs.prompts import Prompt
from presto.runs.runner import finished
from presto.runs.variants import Variant

Rows = dict[str, list[Trace]]
WARM_UP_TOKENS = 24


def run_bench(
    pair: Pair,
    prompts: Sequence[Prompt],
    methods: Sequence[Variant],
    config: DecodeConfig,
    report: Callable[[int, dict[str, Trace]], None] = lambda number, traces: None,
) -> dict[str, Any]:
    """Decode every prompt by every method; returns the result file's content
    (``docs/bench.md``).
    """
    rows = collect(pair, prompts, methods, config, report)
    datasets = sorted({prompt.dataset for prompt in prompts})
    chosen = {
        name: [i for i, prompt in enumerate(prompts) if prompt.dataset == name] for name in datasets
    }
    return {
        "where": where(pair),
        "config": asdict(config),
        "prompts": {name: len(chosen[name]) for name in datasets},
        "methods": summarise(rows),
        "differences": differences(rows),
        "datasets": {name: summarise(_subset(rows, chosen[name])) for name in datasets},
    }


def collect(
    pair: Pair,
    prompts: Sequence[Prompt],
    methods: Sequence[Variant],
    config: DecodeConfig,
    report: Callable[[int, dict[str, Trace]], None],
) -> Rows:
    """Traces per method, prompt by prompt; the order of methods turns with the prompt, so none is
    always first.
    """

    def run(variant: Variant, prompt: str, settings: DecodeConfig) -> Trace:
        return finished(pair, prompt, variant.method, variant.config(settings))

    for variant in methods:
        run(variant, prompts[0].text, replace(config, max_new_tokens=WARM_UP_TOKENS))
    rows: Rows = {variant.name: [] for variant in methods}
    for number, prompt in enumerate(prompts):
        turn = number % len(methods)
        order = (*methods[turn:], *methods[:turn])
        traces = {variant.name: run(variant, prompt.text, config) for variant in order}
        for name in rows:
            rows[name].append(traces[name])
        report(number, traces)
    return rows


def summarise(rows: Rows) -> dict[str, Any]:
    """The figures of every method."""
    return {method: _figures(traces, rows) for method, traces in rows.items()}


def _figures(traces: list[Trace], rows: Rows) -> dict[str, Any]:
    lengths = [len(round_.committed) for trace in traces for round_ in trace.rounds]
    rates = [tokens_per_second(trace) for trace in traces]
    stages = [asdict(stage_totals(trace)) for trace in traces]
    return {
        "tau_macro": asdict(estimate([acceptance_length(trace) for trace in traces])),
        "tau_micro": round(float(np.mean(lengths)), 4),
        "tokens_per_forward": round(
            sum(lengths) / sum(r.forwards for t in traces for r in t.rounds), 4
        ),
        "histogram": dict(sorted(Counter(lengths).items())),
        "tokens_per_second": asdict(estimate(rates, np.median)),
        "ratio_to_ar": _ratio(rates, rows.get("ar")),
        "ratio_to_linear": _ratio(rates, rows.get("linear")),
        "stages": {name: round(sum(stage[name] for stage in stages), 4) for name in stages[0]},
        "overhead_share": asdict(estimate([overhead_share(trace) for trace in traces], np.median)),
        "equal_to_ar": _equal(traces, rows.get("ar")),
    }


def _ratio(rates: list[float], baseline: list[Trace] | None) -> dict[str, float] | None:
    """Median over prompts of the paired ratio of tokens per second."""
    if baseline is None:
        return None
    paired = [rate / tokens_per_second(trace) for rate, trace in zip(rates, baseline, strict=True)]
    return asdict(estimate(paired, np.median))


def _equal(traces: list[Trace], reference: list[Trace] | None) -> list[int] | None:
    if reference is None:
        return None
    same = sum(output_ids(a) == output_ids(b) for a, b in zip(traces, reference, strict=True))
    return [same, len(traces)]


def differences(rows: Rows) -> dict[str, dict[str, Any]]:
    """Paired differences and ratios of macro τ between ``presto`` and the other drafting
    methods.
    """
    if "presto" not in rows:
        return {}
    ours = np.array([acceptance_length(trace) for trace in rows["presto"]])
    result = {}
    for method in rows.keys() - {"presto", "ar"}:
        theirs = np.array([acceptance_length(trace) for trace in rows[method]])
        gap: Estimate = estimate((ours - theirs).tolist())
        result[f"presto - {method}"] = {
            **asdict(gap),
            "ratio": round(float(ours.mean() / theirs.mean()), 4),
        }
    return dict(sorted(result.items()))


def _subset(rows: Rows, indices: list[int]) -> Rows:
    return {method: [traces[i] for i in indices] for method, traces in rows.items()}


def where(pair: Pair) -> dict[str, str]:
    """On what the figures were measured."""
    system = pair.system
    return {
        "pair": system.name,
        "mode": system.mode,
        "device": device_name(system.device),
        "dtype": dtype_name(system.dtype),
        "processor": platform.processor() or platform.machine(),
    }


def table(result: dict[str, Any]) -> str:
    """The result's headline figures as a text table."""
    lines = [
        f"{'method':8} {'tau macro [95 %]':22} {'per pass':>8} {'tokens/s':>9} {'x AR':>6} "
        f"{'x linear':>9} "
        f"{'overhead':>9}  equal to AR"
    ]
    for name, row in result["methods"].items():
        tau, equal = row["tau_macro"], row["equal_to_ar"]
        ratios = [
            f"{row[key]['value']:.2f}" if row[key] else "-"
            for key in ("ratio_to_ar", "ratio_to_linear")
        ]
        lines.append(
            f"{name:8} {tau['value']:.3f} [{tau['low']:.3f}, {tau['high']:.3f}] "
            f"{row['tokens_per_forward']:9.2f} {row['tokens_per_second']['value']:9.1f} "
            f"{ratios[0]:>6} {ratios[1]:>9} "
            f"{row['overhead_share']['value']:9.2%}  {equal or '-'}"
        )
    for name, gap in result["differences"].items():
        lines.append(
            f"{name}: {gap['value']:+.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}], ratio "
            f"{gap['ratio']:.3f}"
        )
    return "\n".join(lines)
