"""A scorer and a search from files of a few lines are found everywhere, and stay lossless."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presto
from presto import plugins
from presto.build import build_tree
from presto.decoding.loop import autoregressive, decode
from presto.kernels.ngram import NgramModel
from presto.plain import Space
from presto.records import DecodeConfig, Marginals, Tree
from presto.runs.requests import make_config
from presto.runs.variants import alternatives, variants
from presto.scorers import SCORERS, Drafted
from presto.searches import SEARCHES
from tests.support.doubles import tiny_gated
from tests.support.examples import examples
from tests.support.plugins import FILES, own_ones
from tests.support.strategies import configs, contexts, marginals, ngrams

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with own_ones():
        yield


def code_lines(path: Path) -> int:
    return len([line for line in path.read_text().splitlines() if line.strip()])


def test_the_plugins_are_as_short_as_the_readme_says() -> None:
    assert code_lines(FILES[0]) <= 10
    assert code_lines(FILES[1]) <= 15


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """Copies of the plugins in a temporary folder, named by the environment."""
    copies = [shutil.copy(path, tmp_path / f"my_{path.name}") for path in FILES]
    own = {"PRESTO_PLUGINS": os.pathsep.join(map(str, copies)), "OMP_NUM_THREADS": "1"}
    return os.environ | own | {"PYTHONPATH": str(ROOT)}


def run(environment: dict[str, str], *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_command_line_lists_what_plugins_bring(elsewhere: dict[str, str]) -> None:
    by_variable = run(elsewhere, "-m", "presto", "decode", "--help")
    named = elsewhere["PRESTO_PLUGINS"].split(os.pathsep)
    options = [word for path in named for word in ("--plugin", path)]
    plain = {name: value for name, value in elsewhere.items() if name != "PRESTO_PLUGINS"}
    by_option = run(plain, "-m", "presto", "decode", *options, "--help")
    without = run(plain, "-m", "presto", "decode", "--help")
    for name in ("no_repeat", "staircase"):
        assert name in by_variable
        assert name in by_option
        assert name not in without


def test_the_page_offers_them_as_controls_and_lanes(elsewhere: dict[str, str]) -> None:
    code = """
import json, app
page = app.build()
print(json.dumps([block.choices for block in page.blocks.values() if hasattr(block, "choices")]))
"""
    *_, printed = run(elsewhere, "-c", code).strip().splitlines()
    offered = [{value for _, value in choices} for choices in json.loads(printed)]
    assert {"pmi", "no_repeat"} <= next(names for names in offered if "dart" in names)
    assert {"beam", "staircase"} <= next(names for names in offered if "best_first" in names)
    lanes = [names for names in offered if "blind tree" in names]
    assert len(lanes) == 4
    assert all({"PRESTO, no_repeat", "PRESTO, staircase"} <= names for names in lanes)


@pytest.mark.weights
def test_bench_compares_them(elsewhere: dict[str, str], tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Hello!\n")
    out = run(
        elsewhere,
        *(
            "-m",
            "presto",
            "bench",
            "--data",
            str(prompts),
            "--max-new-tokens",
            "6",
            "--dtype",
            "float32",
        ),
        *("--methods", "ar,linear,presto,no_repeat,staircase", "--budget", "6"),
    )
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert rows.keys() >= {"ar", "linear", "presto", "no_repeat", "staircase"}
    assert "[1, 1]" in rows["no_repeat"], "the same text as plain decoding"


VOCAB = 23
SYSTEM = tiny_gated(3, VOCAB)


@settings(max_examples=examples(200))
@given(
    scorer=st.sampled_from(["no_repeat", "first_letter", "pmi", "mixture", "blind"]),
    search=st.sampled_from(["staircase", "best_first", "beam", "linear"]),
    prompt=st.lists(st.integers(2, VOCAB - 1), min_size=1, max_size=9).map(tuple),
    temperature=st.sampled_from([0.0, 0.8]),
    budget=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_output_stays_lossless(
    scorer: str, search: str, prompt: tuple[int, ...], temperature: float, budget: int, seed: int
) -> None:
    config = DecodeConfig(
        scorer=scorer,
        search=search,
        temperature=temperature,
        budget=budget,
        seed=seed,
        draft_length=6,
        top_k=5,
        max_new_tokens=14,
    )
    drafted = [t for r in decode(SYSTEM, prompt, config) for t in r.committed]
    assert drafted == [t for r in autoregressive(SYSTEM, prompt, config) for t in r.committed]


@given(marginals(), contexts, ngrams(), st.integers(1, 30), st.floats(0, 8), st.booleans())
def test_a_table_and_whole_paths_give_the_same_tree(
    drafted, context, pair, budget, cost, normalised
) -> None:
    """Compiled search over a pairwise table equals plain search over the same scores by path."""

    @presto.scorer("by_path", by="path")
    def by_path(round_: Drafted, path: tuple[int, ...], *, cost: float = 2.0) -> np.ndarray:
        """The plugin's rule, said of a path."""
        before = (round_.context[-1], *path)[-1]
        return -cost * (round_.tokens[len(path)] == before)

    base = DecodeConfig(
        budget=budget, normalised=normalised, lam=1.0, scorer_settings={"cost": cost}
    )
    for search in ("best_first", "beam", "linear", "staircase"):
        config = replace(base, search=search)
        ours, _ = build_tree(drafted, context, pair[0], replace(config, scorer="no_repeat"))
        theirs, _ = build_tree(drafted, context, pair[0], replace(config, scorer="by_path"))
        assert ours == theirs


@settings(max_examples=examples(200))
@given(marginals(), contexts, configs, st.integers(0, 2**32 - 1))
def test_any_scores_give_the_compiled_searches_the_tree_of_the_plain_ones(
    drafted, context, config, seed
) -> None:
    """Scores that lift a path above what stood above it, by up to 2 nats a token, and many ties."""
    depth, width = len(drafted.token_ids), len(drafted.token_ids[0])
    table = np.random.default_rng(seed).integers(-4, 5, (depth, width, width)) / 2

    @presto.scorer("any_pair")
    def any_pair(round_: Drafted) -> np.ndarray:
        depth, width = round_.tokens.shape
        return table[:depth, :width, :width]

    @presto.scorer("any_path", by="path")
    def any_path(round_: Drafted, path: tuple[int, ...]) -> np.ndarray:
        level = len(path)
        rank = round_.tokens[level - 1].tolist().index(path[-1]) if path else 0
        return table[level, rank, : round_.tokens.shape[1]]

    ours, _ = build_tree(drafted, context, NgramModel(VOCAB), replace(config, scorer="any_pair"))
    theirs, _ = build_tree(drafted, context, NgramModel(VOCAB), replace(config, scorer="any_path"))
    assert ours == theirs


@given(marginals(), contexts, ngrams(), st.integers(1, 30))
def test_the_plain_searches_of_scripts_read_the_compiled_rows(
    drafted, context, pair, budget
) -> None:
    """A script that searches as the built-in one does gets the built-in one's tree."""

    @presto.search("copy_best_first")
    def copy_best_first(space: Space) -> list:
        """Best-first, written again."""
        from presto import plain

        return plain.best_first(space)

    for scorer in ("blind", "product", "pmi", "mixture", "dart"):
        config = DecodeConfig(scorer=scorer, budget=budget)
        compiled, _ = build_tree(drafted, context, pair[0], config)
        plain, _ = build_tree(drafted, context, pair[0], replace(config, search="copy_best_first"))
        assert plain == compiled


def test_they_are_variants_and_alternatives() -> None:
    assert variants()["no_repeat"].changes == {"scorer": "no_repeat"}
    assert variants()["staircase"].changes == {"search": "staircase"}
    assert {"no_repeat", "staircase"} <= alternatives().keys()


def test_what_a_script_leaves_out_is_filled_in() -> None:
    def told(space: Space) -> list:
        """Says so.

        At length.
        """
        return space.children(space.root)[:1]

    def silent(space: Space) -> list:
        return space.children(space.root)[:1]

    for register, registry in ((presto.search, SEARCHES), (presto.scorer, SCORERS)):
        register("own", summary="In other words.")(told)
        register("told")(told)
        register("silent")(silent)
        said = [registry[name].summary for name in ("own", "told", "silent")]
        assert said == ["In other words.", "Says so.", f"silent, from {__name__}"]
    assert not SEARCHES["told"].single_path
    assert SCORERS["told"].rho == "told"


DRAFTED = Marginals(((1, 2), (3, 1)), ((-0.5, -1.5), (-0.7, -1.2)))


def tree(**config: object) -> Tree:
    return build_tree(DRAFTED, [0], NgramModel(5), DecodeConfig(**config))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros((2, 2)), r"must return log ρ of shape \(2, 2, 2\), got \(2, 2\)"),
        (np.full((2, 2, 2), np.nan), "not finite"),
        (np.full((2, 2, 2), np.inf), "not finite"),
    ],
)
def test_scores_that_are_none_are_refused(returned: np.ndarray, message: str) -> None:
    presto.scorer("broken")(lambda drafted: returned)
    with pytest.raises(ValueError, match=message):
        tree(scorer="broken")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (lambda s: s.children(s.children(s.root)[0])[:1], "before its parent"),
        (lambda s: [s.children(s.root)[0]] * 2, "twice"),
        (lambda s: s.children(s.root) + s.children(s.children(s.root)[0]), "at most 3"),
    ],
)
def test_choices_that_are_no_tree_are_refused(chosen, message: str) -> None:
    presto.search("broken")(chosen)
    with pytest.raises(ValueError, match=message):
        tree(search="broken", budget=3)


def test_a_search_is_held_to_the_rows_it_declared() -> None:
    def two_rows(space: Space) -> list:
        return [*space.children(space.root)[:1], *space.children(space.children(space.root)[0])]

    presto.search("greedy", rows=lambda config: 1)(two_rows)
    with pytest.raises(ValueError, match="more than the 1 rows it declared"):
        tree(search="greedy")


def test_own_settings_are_checked_and_reach_the_scorer() -> None:
    kept = make_config(scorer="no_repeat", scorer_settings={"cost": 0.0}, lam=1.0)
    assert tree(scorer="no_repeat", scorer_settings={"cost": 0.0}) == tree(scorer="blind")
    assert kept.scorer_settings == {"cost": 0.0}
    with pytest.raises(ValueError, match="no_repeat has no setting 'price': there are cost"):
        make_config(scorer="no_repeat", scorer_settings={"price": 1.0})
    with pytest.raises(ValueError, match="cost of no_repeat must lie in"):
        make_config(scorer="no_repeat", scorer_settings={"cost": 1e9})


LEVELS = Marginals(((1, 2), (3, 4)), ((-0.5, -1.0), (-0.4, -1.2)))


def test_a_scorer_that_reads_hidden_states_is_given_them_or_says_that_they_are_missing() -> None:
    @presto.scorer("by_state", needs_hidden=True)
    def by_state(drafted: Drafted) -> np.ndarray:
        assert drafted.hidden is not None
        return np.broadcast_to(drafted.hidden[:, :1, None], (2, 2, 2))

    config = DecodeConfig(scorer="by_state", budget=4, draft_length=2, normalised=False, lam=1.0)
    states = np.array([[0.25, 9.0], [-0.5, 9.0], [7.0, 9.0]])  # one position more than drafted
    tree, _ = build_tree(LEVELS, [5], NgramModel(9), config, states)
    assert sorted({*tree.log_rho[1:]}) == [-0.5, 0.25]
    with pytest.raises(ValueError, match="needs the drafter's hidden states"):
        build_tree(LEVELS, [5], NgramModel(9), config)


def test_weights_of_a_script_are_those_of_the_depth() -> None:
    @presto.scorer("by_depth", by="path", weights=lambda depth, lam: (1.0, 10.0 * depth))
    def by_depth(drafted: Drafted, path: tuple[int, ...]) -> np.ndarray:
        return np.full(2, 0.01)

    config = DecodeConfig(scorer="by_depth", budget=6, draft_length=2, normalised=False)
    tree, _ = build_tree(LEVELS, [5], NgramModel(9), config)
    first, second = (tree.aligned[n] - tree.blind[n] for n in (1, tree.parents.index(1)))
    assert (first, second) == pytest.approx((0.1, 0.1 + 0.2))


def test_a_correction_of_more_than_ten_thousand_nats_is_cut() -> None:
    @presto.scorer("loud")
    def loud(drafted: Drafted) -> np.ndarray:
        return np.full((2, 2, 2), -3e4)

    config = DecodeConfig(scorer="loud", budget=2, draft_length=2, normalised=False, lam=1.0)
    assert build_tree(LEVELS, [5], NgramModel(9), config)[0].log_rho[1] == -1e4


@pytest.mark.parametrize("by", ["path", "pair"])
def test_the_time_of_a_script_counts_as_scoring(by: str) -> None:
    spent = 0.002

    def slow(drafted: Drafted, *path: object) -> np.ndarray:
        time.sleep(spent)
        return np.zeros(2 if path else (2, 2, 2))

    presto.scorer("slow", by=by)(slow)  # type: ignore[call-overload]
    config = DecodeConfig(scorer="slow", budget=4, draft_length=2)
    began = time.perf_counter()
    _, times = build_tree(LEVELS, [5], NgramModel(9), config)
    whole = time.perf_counter() - began
    assert times.score >= spent
    assert 0 < times.search < whole
    assert times.score + times.search <= whole
    assert build_tree(Marginals(), [5], NgramModel(9), config)[1] == (0.0, 0.0)


@pytest.mark.parametrize("name", ["pmi", "presto", "No", "a-b", "", "x" * 60])
def test_names_that_cannot_be_had_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"built in|must look like"):
        presto.scorer(name)(lambda drafted: drafted.log_q)


def test_broken_plugin_files_are_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0\n")
    for path, message in ((broken, "failed: ZeroDivisionError"), (tmp_path / "no.py", "no such")):
        with pytest.raises(ValueError, match=message):
            plugins.load_plugin(path)
