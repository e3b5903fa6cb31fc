"""The registry: public layouts load by folder through the path the real checkpoints take, refusals
are sentences.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import Qwen3Config, Qwen3ForCausalLM

from presto.decoding.loop import autoregressive, decode
from presto.kernels.table import NgramTable
from presto.models import registry, sources
from presto.models.catalogue import EMBEDDED, PAIRS, PairSpec, WeightsError, find
from presto.models.dflash_config import DFlashConfig
from presto.models.dflash_network import DFlashDrafter
from presto.models.registry import Pair, load, local_pair
from presto.records import DecodeConfig, Method
from presto.records.measures import output_ids
from presto.runs.events import RoundDecoded, RunStarted, collected
from presto.runs.runner import finished, run_events
from tests.support.checks import some
from tests.support.examples import examples
from tests.support.nemotron import write_checkpoint
from tests.support.tokenizer import write_tokenizer


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A random Qwen3 target and a DFlash drafter, each in its public layout."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("qwen")
    sizes = {
        "vocab_size": 28, "hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2,
        "head_dim": 8,
        "num_key_value_heads": 1, "max_position_embeddings": 256, "initializer_range": 0.4,
        "eos_token_id": 1,
    }  # fmt: skip
    target = Qwen3ForCausalLM(Qwen3Config(num_hidden_layers=4, **sizes))
    target.save_pretrained(folder / "target")
    write_tokenizer(folder / "target")
    drafter = DFlashDrafter(
        DFlashConfig(6, 4, 27, (0, 2), Qwen3Config(num_hidden_layers=2, **sizes))
    )
    for parameter in drafter.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    drafter.save(folder / "drafter")
    return folder / "target", folder / "drafter"


@pytest.fixture(scope="module")
def nemotron(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nemotron")
    write_checkpoint(folder)
    write_tokenizer(folder)
    return folder


@pytest.fixture(scope="module", params=["dflash", "nemotron", "nemotron-quadratic"])
def pair(request: pytest.FixtureRequest, qwen: tuple[Path, Path], nemotron: Path) -> Pair:
    if request.param == "dflash":
        return load(local_pair(*qwen), "float32")
    return load(
        local_pair(nemotron, mode="quadratic" if "quadratic" in request.param else "linear"),
        "float32",
    )


def test_memory_is_given_back_whenever_a_pair_was_loaded(
    nemotron: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[bool] = []
    monkeypatch.setattr(registry, "release", lambda: released.append(True))
    registry.forget()
    spec = local_pair(nemotron)
    assert load(spec, "float32") is load(spec, "float32")
    assert len(released) == 1


@settings(max_examples=examples(25))
@given(
    prompt=st.text("abcdefgh", min_size=1, max_size=12),
    scorer=st.sampled_from(("blind", "pmi", "mixture")),
    search=st.sampled_from(("linear", "beam", "best_first")),
    budget=st.integers(1, 10),
    temperature=st.sampled_from((0.0, 0.9)),
)
def test_public_layouts_decode_losslessly(
    pair: Pair, prompt: str, scorer: str, search: str, budget: int, temperature: float
) -> None:
    config = DecodeConfig(
        scorer=scorer,
        search=search,
        budget=budget,
        temperature=temperature,
        max_new_tokens=12,
        draft_length=5,
    )  # type: ignore[arg-type]
    ids = pair.encode(prompt)
    ours = [token for round_ in decode(pair.system, ids, config) for token in round_.committed]
    assert ours == [
        token for round_ in autoregressive(pair.system, ids, config) for token in round_.committed
    ]


def test_a_trace_names_the_pair_its_mode_and_what_was_loaded(pair: Pair) -> None:
    trace = finished(pair, "abc", "presto", DecodeConfig(max_new_tokens=4))
    assert (trace.system, trace.mode) == (pair.spec.name, pair.system.mode)
    assert trace.models.keys() == {"target", "drafter"}
    counted = replace(
        pair,
        table=NgramTable.build([[2, 3, 4]], pair.system.vocab),
        spec=replace(pair.spec, table="t.npz"),
    )
    assert (
        finished(counted, "abc", "presto", DecodeConfig(max_new_tokens=4)).models["ngram"]
        == "t.npz"
    )
    without = DecodeConfig(max_new_tokens=4, static_ngram=False)
    assert "ngram" not in finished(counted, "abc", "presto", without).models
    assert trace.template == "chat"


@pytest.mark.parametrize("method", ["presto", "ar"])
def test_a_run_tells_each_token_once_and_as_soon_as_it_is_seen(pair: Pair, method: Method) -> None:
    config = DecodeConfig(max_new_tokens=8, budget=6)
    start, *rounds = run_events(pair, "abc", method, config)
    assert isinstance(start, RunStarted)
    known = set(start.head.pieces)
    assert known == set(start.head.prompt_ids)
    for event in some(rounds):
        assert isinstance(event, RoundDecoded)
        assert not known & event.pieces.keys()
        known |= event.pieces.keys()
        assert event.round.tokens() <= known
    whole, again = collected([start, *rounds]), finished(pair, "abc", method, config)
    assert whole.finish != "stopped"
    assert output_ids(whole) == output_ids(again)
    assert whole.pieces == again.pieces


def test_folders_are_recognised_by_their_configuration(
    qwen: tuple[Path, Path], nemotron: Path, tmp_path: Path
) -> None:
    target, drafter = qwen
    assert local_pair(target, drafter).kind == "dflash"
    assert local_pair(nemotron, mode="quadratic").kind == "nemotron"
    (tmp_path / "adapter_config.json").write_text("{}")
    assert local_pair(target, tmp_path).kind == "gated"
    with pytest.raises(ValueError, match="does not draft for itself"):
        local_pair(target)
    with pytest.raises(ValueError, match="is no drafter"):
        local_pair(target, target)
    with pytest.raises(ValueError, match=r"config\.json is missing"):
        local_pair(tmp_path / "absent", drafter)
    with pytest.raises(ValueError, match="a dflash pair has no mode 'quadratic'"):
        local_pair(target, drafter, "quadratic")
    with pytest.raises(ValueError, match="known modes"):
        local_pair(target, drafter, "cubic")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        local_pair(tmp_path, drafter)


def test_missing_and_unexpected_tensors_are_named(nemotron: Path, tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    write_tokenizer(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with pytest.raises(ValueError, match=r"missing .*layers\.2"):
        load(local_pair(tmp_path), "float32")


def test_every_known_pair_says_what_it_is() -> None:
    assert {
        "smollm2-gated",
        "smollm2-quadratic",
        "smollm2-dflash",
        "qwen3-4b-dflash",
        "qwen3-8b-dflash",
        "qwen3-4b-dspark",
        "qwen3-8b-dspark",
    } <= set(PAIRS)
    assert {
        f"nemotron-{size}{mode}" for size in ("3b", "8b") for mode in ("", "-quadratic")
    } <= set(PAIRS)
    for name, spec in PAIRS.items():
        assert find(name).licence != "unknown"
        assert spec.gigabytes > 0
        assert spec.target == EMBEDDED or spec.target.count("/") == 1
    lengths = {"qwen3-8b-dflash": 15, "qwen3-8b-dspark": 7, "nemotron-8b": 31, "smollm2-gated": 12}
    assert {name: PAIRS[name].usual["draft_length"] for name in lengths} == lengths
    assert PAIRS["qwen3-8b-dflash"].usual["budget"] == 128
    assert PAIRS["qwen3-8b-dflash"].template == {"enable_thinking": False}
    assert "thinking off" in PAIRS["qwen3-8b-dflash"].template_name
    with pytest.raises(ValueError, match="known pairs are"):
        find("gpt")


def offline(*_: object, **__: object) -> str:
    from huggingface_hub.errors import LocalEntryNotFoundError

    raise LocalEntryNotFoundError("cannot reach the hub")


def test_an_unreachable_hub_is_answered_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(
        WeightsError, match=r"^Qwen/Qwen3-8B at revision v1 could not be fetched: .*local folder\.$"
    ):
        sources.resolve("Qwen/Qwen3-8B", "v1")


def test_the_resolved_revision_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshots" / "0123abc"
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download",
        lambda *_, dry_run=False, **__: [] if dry_run else str(snapshot),
    )
    assert sources.resolve("Qwen/Qwen3-8B").label == "Qwen/Qwen3-8B@0123abc"


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no checkpoint at"):
        load(PairSpec("x", "", "dflash", str(tmp_path), str(tmp_path)))
