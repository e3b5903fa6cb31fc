"""`make gpu-train` on a tiny target on the CPU: the same path from self-written text to drafters in
pieces.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from presto.models import pieces
from presto.models.dflash import DFlashDrafter
from presto.models.selfspec import GatedSystem
from presto.models.text import Text
from presto.runs.stopping import Stop
from presto.training import gpu
from presto.training.adapter import AdapterRecipe
from presto.training.dflash import DFlashRecipe
from presto.training.gpu import ADAPTER, DFLASH, Plan, report, train_all
from presto.training.jobs import DFLASH_MASK
from presto.training.shards import load_shards
from tests.support.doubles import tiny_llama
from tests.support.tokenizer import write_tokenizer

VOCAB = 80
SHARED = {
    "steps": 10**6,
    "documents": 4,
    "rows": 8,
    "masks": (2,),
    "warmup": 1,
    "head_tokens": VOCAB,
}
PLAN = Plan(
    tokens=2000,
    rows=8,
    dflash=DFlashRecipe(**SHARED, layers=2, block_size=4, features=2),  # type: ignore[arg-type]
    adapter=AdapterRecipe(**SHARED, rank=2),  # type: ignore[arg-type]
    shipped=None,
)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Text:
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = "{% for m in messages %}a{{ m.content }}<end>b{% endfor %}"
    tokenizer.add_tokens([DFLASH_MASK], special_tokens=True)
    return Text(tokenizer)


@pytest.fixture(scope="module")
def trained(text: Text, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gpu-train")
    train_all(tiny_llama(0, VOCAB, torch.float32, 512), text, out, 4.0, PLAN, Stop())
    return out


def test_the_time_ends_the_training_and_both_drafters_load(trained: Path) -> None:
    assert DFlashDrafter.load(trained / DFLASH).config.block_size == 4
    assert (
        GatedSystem.load("t", tiny_llama(0, VOCAB), frozenset(), trained / ADAPTER).adapter.rank
        == 2
    )
    for path in trained.glob("smollm2-*/*"):
        assert path.stat().st_mode & 0o044 == 0o044, f"{path} can be read by its owner alone"
    for state in ("dflash.pt", "adapter.pt"):
        saved = torch.load(trained / state, weights_only=True)
        assert 0 < saved["step"] < 10**6
        assert saved["curve"][-1]["step"] == saved["step"]


def test_it_says_how_to_ship_the_result(trained: Path) -> None:
    printed = report(trained)
    assert f"train join {trained / DFLASH} --out assets/models/{DFLASH}" in printed
    assert f"train join {trained / ADAPTER} --out assets/models/{ADAPTER}" in printed
    assert "held-out" in printed


def test_a_second_call_goes_on_where_the_first_stopped(
    trained: Path, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = len(load_shards(trained / "data"))
    steps = torch.load(trained / "dflash.pt", weights_only=True)["step"]
    monkeypatch.setattr(gpu, "split_file", lambda path: pieces.split_file(path, 4000))
    plan = replace(PLAN, tokens=1)
    train_all(tiny_llama(0, VOCAB, torch.float32, 512), text, trained, 0.1, plan, Stop())
    assert len(load_shards(trained / "data")) == written
    assert torch.load(trained / "dflash.pt", weights_only=True)["step"] == steps
    assert len(list((trained / DFLASH).glob("model-*-of-*.safetensors"))) > 1
    assert DFlashDrafter.load(trained / DFLASH).config.block_size == 4
