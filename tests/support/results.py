"""A result file of ``presto bench`` with made-up figures."""

from dataclasses import asdict
from typing import Any

from presto.records import DecodeConfig

STAGES = {"draft": 4.0, "score": 0.1, "search": 0.1, "mask": 0.2, "verify": 5.0, "commit": 0.6}


def interval(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.25, "high": value + 0.5}


def method(
    tau: float, histogram: dict[str, int], to_ar: float | None, to_linear: float | None
) -> dict[str, Any]:
    return {
        "tau_macro": interval(tau),
        "tau_micro": tau,
        "tokens_per_forward": tau / 2,
        "histogram": histogram,
        "tokens_per_second": interval(20 * tau),
        "ratio_to_ar": to_ar and interval(to_ar),
        "ratio_to_linear": to_linear and interval(to_linear),
        "stages": STAGES,
        "overhead_share": {"value": 0.04, "low": 0.03, "high": 0.05},
        "equal_to_ar": [7, 8],
        "ends": {"top_k": 3, "budget": 1},
    }


METHODS = {
    "presto": method(4.0, {"2": 1, "5": 3, "10": 4}, 2.0, 1.5),
    "linear": method(2.5, {"2": 6, "3": 2}, 1.25, 1.0),
    "ar": method(1.0, {"1": 40}, 1.0, 0.75) | {"ends": {}},
}
WHERE = {
    "pair": "smollm2-gated",
    "mode": "gated",
    "device": "cpu",
    "dtype": "float32",
    "processor": "x86_64",
}
RESULT: dict[str, Any] = {
    "where": WHERE,
    "config": asdict(DecodeConfig()),
    "prompts": {"gsm8k": 5, "humaneval": 3},
    "methods": METHODS,
    "differences": {"presto - linear": {"value": 1.5, "low": 1.0, "high": 2.0, "ratio": 1.6}},
    "datasets": {"gsm8k": {"presto": METHODS["presto"]}, "humaneval": METHODS},
}
