"""What ``import presto`` offers: lazily, complete, documented by examples that run."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import presto
from presto.records import DecodeConfig, Trace
from presto.records.measures import acceptance_length, output_ids, total_seconds
from presto.scorers import SCORERS
from presto.searches import SEARCHES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTED = (
    "presto.face",
    "presto.models.registry",
    "presto.registry",
    "presto.scorers",
    "presto.searches",
)


def test_importing_it_loads_no_model_and_no_torch() -> None:
    code = "import sys, presto; assert not {'torch', 'numba', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_everything_offered_is_there_and_said_to_be() -> None:
    assert set(presto.__all__) <= set(dir(presto))
    for name in presto.__all__:
        assert getattr(presto, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        presto.nothing  # noqa: B018


def test_an_example_in_the_docstring_of_every_function_offered() -> None:
    functions = [getattr(presto, name) for name in presto.__all__ if name[0].islower()]
    assert len(functions) == 9
    assert [f.__name__ for f in functions if ">>>" not in (f.__doc__ or "")] == []


@pytest.mark.weights
@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_examples_of_docstrings_run(name: str) -> None:
    results = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.weights
def test_the_readmes_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks from "From Python" on, one after another, as a reader would paste them."""
    part = README[README.index("## From Python") : README.index("## The page")]
    blocks = re.findall(r"```python\n(.*?)```", part, flags=re.DOTALL)
    assert len(blocks) == 3
    space: dict[str, Any] = {}
    for block in blocks:
        exec(block, space)
    assert isinstance(space["trace"], Trace)
    assert "accepted" in capsys.readouterr().out


@pytest.fixture(scope="module")
def pair() -> Any:
    return presto.load("smollm2-gated", "float32")


@pytest.mark.weights
def test_a_finished_run_knows_its_text_and_figures(pair: Any) -> None:
    trace = presto.generate(pair, "Name a colour.", budget=16, max_new_tokens=12)
    assert trace.config.budget == 16
    assert trace.text == pair.text.decode(output_ids(trace))
    assert trace.tau == acceptance_length(trace)
    assert trace.seconds == total_seconds(trace)


@pytest.mark.weights
def test_the_pair_brings_its_table_and_budget(pair: Any) -> None:
    """The static counts are not forgotten: without them the trees are others."""
    trace = presto.generate(pair, "Name a colour.", max_new_tokens=12)
    assert trace.models["ngram"] == "smollm2.npz"
    assert trace.config == DecodeConfig(max_new_tokens=12)
    rounds = list(presto.decode(pair, "Name a colour.", max_new_tokens=12))
    assert [r.tree for r in rounds] == [r.tree for r in trace.rounds]
    without = presto.decode(pair, "Name a colour.", static_ngram=False, max_new_tokens=12)
    assert [r.tree for r in without] != [r.tree for r in rounds]


@pytest.mark.weights
def test_a_method_may_be_any_scorer_or_search(pair: Any) -> None:
    texts = {
        method: presto.generate(pair, "Name a colour.", method=method, max_new_tokens=8).text
        for method in ("ar", "linear", "blind", "presto", "mixture", "dart")
    }
    assert len(set(texts.values())) == 1
    with pytest.raises(ValueError, match="unknown method 'magic'"):
        presto.generate(pair, "hi", method="magic")


def test_a_replay_of_a_runs_own_settings_is_the_run() -> None:
    trace = presto.load_recording("Fibonacci: code").traces[0]
    own = presto.replay(trace)
    assert [a.tree for a in own if a] == [r.tree for r in trace.rounds]
    assert [a.accepted for a in own if a] == [r.accepted for r in trace.rounds]
    with pytest.raises(ValueError, match="a replay cannot change temperature"):
        presto.replay(trace, temperature=1.0)


def test_a_recording_is_found_by_title_or_refused_by_name() -> None:
    assert presto.load_recording("The sea: a poem").title == "The sea: a poem"
    with pytest.raises(ValueError, match="no recorded run is called 'nowhere'"):
        presto.load_recording("nowhere")


def test_the_readmes_table_of_scorers_and_searches_is_the_records() -> None:
    for name in SCORERS.built_in:
        record = SCORERS[name]
        rho = record.rho.replace("|", r"\|")
        assert f"| `{name}` | {record.formula} | {rho} | {record.summary} |" in README
    for name in SEARCHES.built_in:
        assert f"| `{name}` | {SEARCHES[name].summary} |" in README
