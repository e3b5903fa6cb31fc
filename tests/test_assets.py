"""What is committed under assets/ is whole: recordings load and replay, the table and the adapter
are as described.
"""

from pathlib import Path

import pytest

from presto.benchmarks.results import parse_result
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.paths import ASSETS
from presto.records import Recording, load_recording
from presto.runs.replay import counterfactual

ADAPTER, DRAFTER = (
    ASSETS / "models" / name for name in ("smollm2-draft-adapter", "smollm2-dflash")
)
TABLE = ASSETS / "ngram" / "smollm2.npz"
RESULTS = sorted((ASSETS / "benchmarks").glob("*.json"))
RUNS = sorted((ASSETS / "runs").glob("*.json.gz"))


@pytest.fixture(scope="module")
def table() -> NgramTable:
    return NgramTable.load(TABLE)


@pytest.fixture(params=RUNS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> Recording:
    return load_recording(request.param)


def output(recording: Recording, method: str) -> list[int]:
    trace = next(trace for trace in recording.traces if trace.method == method)
    return [token for round_ in trace.rounds for token in round_.committed]


def test_there_are_recordings() -> None:
    assert RUNS


def test_all_lanes_of_a_recording_emit_the_same_text(recording: Recording) -> None:
    assert {trace.method for trace in recording.traces} == {"presto", "linear", "blind", "ar"}
    for trace in recording.traces:
        assert output(recording, trace.method) == output(recording, "ar")


def test_recorded_rounds_replay_exactly(recording: Recording, table: NgramTable) -> None:
    for trace in recording.traces:
        text = [*trace.prompt_ids, *output(recording, trace.method)]
        ngram = NgramModel(
            table.vocab, table, online=trace.config.online_ngram, order=trace.config.order
        )
        seen = replayed = 0
        for round_ in trace.rounds:
            exact = round_.exact is not None
            root = round_.start if exact else round_.start - 1
            if not round_.marginals.token_ids or root >= len(text):
                assert len(round_.tree.tokens) == 1
                continue
            ngram.extend(text[seen : root + 1])
            seen = root + 1
            tree, accepted = counterfactual(round_.marginals, text, root, ngram, trace.config)
            assert tree == round_.tree
            # The text of a run ends with its last round, maybe before the end of the path.
            assert accepted == round_.accepted[: len(round_.committed) - exact]
            replayed += len(tree.tokens) > 1
        assert replayed >= len(trace.rounds) - 1 or trace.method == "ar"


def test_sizes_stay_within_their_limits() -> None:
    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    assert size(ADAPTER) <= 25 << 20
    assert size(DRAFTER) <= 40_000_000
    assert TABLE.stat().st_size <= 8 << 20
    assert all(path.stat().st_size <= 1 << 20 for path in RUNS)


def test_the_table_counts_a_million_tokens(table: NgramTable) -> None:
    assert table.tokens >= 1_000_000
    assert (table.vocab, table.order) == (49_152, 3)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_bundled_results_are_of_48_real_prompts(path: Path) -> None:
    result = parse_result(path.read_text(encoding="utf-8"))
    assert sum(result.prompts.values()) == 48
    assert result.methods.keys() == {"ar", "linear", "blind", "presto"}
