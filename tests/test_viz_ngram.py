"""The page says which n-gram counts corrected the scores."""

from dataclasses import replace

import pytest

from presto.records import DecodeConfig
from tests.support.synthetic import trace
from viz.numbers import settings

RUN = trace()


@pytest.mark.parametrize(
    ("system", "models", "static", "online", "said"),
    [
        ("qwen3-8b-dflash", {}, True, True, "n-gram: online only"),
        ("qwen3-8b-dflash", {"ngram": "qwen3.npz"}, True, True, "n-gram: qwen3.npz and online"),
        ("smollm2-gated", {}, True, True, "n-gram: smollm2.npz and online"),
        ("smollm2-gated", {"ngram": "smollm2.npz"}, True, False, "n-gram: smollm2.npz only"),
        ("smollm2-gated", {}, False, True, "n-gram: online only"),
        ("smollm2-gated", {}, False, False, "n-gram: none"),
        ("local:folder", {}, True, True, "n-gram: online only"),
    ],
)
def test_the_settings_name_the_counts(
    system: str, models: dict[str, str], static: bool, online: bool, said: str
) -> None:
    config = DecodeConfig(static_ngram=static, online_ngram=online)
    run = replace(RUN, system=system, models=models, config=config)
    assert settings(run).endswith(f" · {said}")


def test_uncorrected_runs_name_none() -> None:
    assert "n-gram" not in settings(
        replace(RUN, method="blind", config=DecodeConfig(scorer="blind"))
    )
    assert "n-gram" not in settings(replace(RUN, method="ar"))
