"""The figures of a benchmark, made from its runs: all paired over prompts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from presto.benchmarks.results import BenchRun
from presto.benchmarks.statistics import Estimate, estimate
from presto.records.measures import Totals

Rows = dict[str, list[BenchRun]]  # per method its runs, prompt by prompt


def figures(
    runs: Mapping[tuple[int, str], BenchRun], methods: Sequence[str], sets: Sequence[str]
) -> dict[str, Any]:
    """All figures of a result file, of the prompts that all ``methods`` have decoded.

    ``runs`` by prompt and method; ``sets``: the data set of every prompt, in order.
    """
    done = [n for n in range(len(sets)) if all((n, method) in runs for method in methods)]
    names = sorted({sets[number] for number in done})
    of_set = {name: [n for n in done if sets[n] == name] for name in names}

    def rows(numbers: Sequence[int]) -> Rows:
        return {method: [runs[number, method] for number in numbers] for method in methods}

    return {
        "prompts": {name: len(numbers) for name, numbers in of_set.items()},
        "methods": summarise(rows(done)),
        "differences": differences(rows(done)),
        "datasets": {name: summarise(rows(numbers)) for name, numbers in of_set.items()},
    }


def summarise(rows: Rows) -> dict[str, Any]:
    """The figures of every method."""
    return {method: _figures(runs, rows) for method, runs in rows.items() if runs}


def _figures(runs: list[BenchRun], rows: Rows) -> dict[str, Any]:
    sums = [run.totals for run in runs]
    histogram = sum((Counter(run.histogram) for run in runs), Counter[int]())
    tokens, rounds = sum(one.tokens for one in sums), sum(one.rounds for one in sums)
    stages = [asdict(one.stages) for one in sums]
    return {
        "tau_macro": asdict(estimate([one.acceptance_length for one in sums])),
        "tau_micro": round(tokens / rounds, 4),
        "tokens_per_forward": round(tokens / sum(one.forwards for one in sums), 4),
        "histogram": dict(sorted(histogram.items())),
        "tokens_per_second": asdict(estimate([one.tokens_per_second for one in sums], np.median)),
        "ratio_to_ar": _ratio(sums, rows.get("ar")),
        "ratio_to_linear": _ratio(sums, rows.get("linear")),
        "stages": {name: round(sum(stage[name] for stage in stages), 4) for name in stages[0]},
        "overhead_share": asdict(estimate([one.overhead_share for one in sums], np.median)),
        "equal_to_ar": _equal(runs, rows.get("ar")),
        "ends": dict(sorted(sum((Counter(run.ends) for run in runs), Counter[str]()).items())),
    }


def _ratio(sums: list[Totals], baseline: list[BenchRun] | None) -> dict[str, float] | None:
    """Median over prompts of the paired ratio of tokens per second, where both have a speed."""
    pairs = zip(sums, [run.totals for run in baseline or ()], strict=False)
    ratios = [one.speedup_over(other) for one, other in pairs]
    known = [ratio for ratio in ratios if ratio is not None]
    return asdict(estimate(known, np.median)) if known else None


def _equal(runs: list[BenchRun], reference: list[BenchRun] | None) -> list[int] | None:
    if reference is None:
        return None
    same = sum(run.text == other.text for run, other in zip(runs, reference, strict=True))
    return [same, len(runs)]


def differences(rows: Rows) -> dict[str, dict[str, Any]]:
    """Paired differences and ratios of macro τ: ``presto`` and ``presto+`` against the other
    drafting methods, and the second against the first.
    """
    taus = {
        method: np.array([run.totals.acceptance_length for run in runs])
        for method, runs in rows.items()
        if runs and method != "ar"
    }
    return {
        f"{ours} - {method}": _gap(taus[ours], taus[method])
        for ours, others in (("presto", {"presto", "presto+"}), ("presto+", {"presto+"}))
        for method in sorted(taus.keys() - others)
        if ours in taus
    }


def _gap(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    gap: Estimate = estimate((ours - theirs).tolist())
    ratio = round(float(ours.mean() / theirs.mean()), 4) if theirs.any() else 0.0
    return {**asdict(gap), "ratio": ratio}


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
