"""The scorers' records: what each one is where nobody says otherwise, so that a figure in the docs,
in a result file and on the page is about the same scorer.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from presto.scorers import SCORERS, preset_of


class Facts(NamedTuple):
    """Whether λ weighs the correction, whether there is one, also on the first level; the settings
    under which it is compared; its own settings with default and range.
    """

    lam: bool
    corrects: bool
    first: bool
    preset: dict[str, Any]
    own: tuple[tuple[str, float, float, float], ...] = ()


NORMALISED = {"normalised": True}
FACTS = {
    "blind": Facts(False, False, False, {}),
    "product": Facts(True, True, True, {"lam": 0.5, **NORMALISED}),
    "pmi": Facts(True, True, True, {"lam": 0.7, **NORMALISED}),
    "mixture": Facts(True, True, False, {"lam": 1.0, **NORMALISED}),
    "dart": Facts(
        False,
        True,
        False,
        {"normalised": False, "search": "beam", "beam_width": 20, "top_k": 25},
    ),
    "dual": Facts(True, True, True, {"lam": 0.5, **NORMALISED}, (("online", 1.0, 0, 4),)),
    "learned": Facts(False, True, True, NORMALISED),
    "markov": Facts(True, True, True, {"lam": 1.0, **NORMALISED}, (("ngram", 0.0, 0, 4),)),
}


def test_the_table_has_all_of_them() -> None:
    assert SCORERS.built_in == FACTS.keys()


@pytest.mark.parametrize("name", FACTS)
def test_a_scorer_is_what_figures_say_it_is(name: str) -> None:
    record = SCORERS[name]
    own = tuple((s.name, s.default, s.range.low, s.range.high) for s in record.settings)
    found = record.uses_lam, record.corrects, record.corrects_first, dict(record.preset or {}), own
    assert Facts(*found) == FACTS[name]
    assert preset_of(record) == {"scorer": name} | FACTS[name].preset


@pytest.mark.parametrize("ngram", [0.0, 0.5, 2.0])
def test_a_drafters_own_score_takes_the_ngram_ratio_beside_it(ngram: float) -> None:
    """log ρ = own + ngram · ratio; without a weight the counts are not asked."""
    random = np.random.default_rng(0)
    own, ratios = random.normal(size=(2, 3, 4, 4))
    counts = SimpleNamespace(pair_ratios=lambda parents, tokens: ratios)
    drafted = SimpleNamespace(
        pairs=lambda parents, tokens: own,
        parents=None,
        tokens=None,
        ngram=counts if ngram else None,
    )
    log_rho: Any = SCORERS["markov"].log_rho
    np.testing.assert_allclose(log_rho(drafted, ngram=ngram), own + ngram * ratios)
