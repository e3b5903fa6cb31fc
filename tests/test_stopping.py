"""What is done is kept: signals, leftovers of a killed process, two processes at once, and output
that could not be written.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from presto.records.writing import (
    alone,
    check_output,
    check_output_folder,
    replacing,
    write_whole,
)
from presto.runs.stopping import Stop, StoppedError, stoppable
from presto.training import corpus, shards
from presto.training.documents import Document
from presto.training.shards import load_shards, save_shard, write_shards
from tests.support.training import RECIPE, documents, trainer

NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, also where the tests were started in the background and ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_the_first_signal_is_noted_and_the_second_acts(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stoppable() as stop:
        assert not stop.wanted
        signal.raise_signal(signal.SIGTERM)
        assert stop.wanted
        assert signal.getsignal(signal.SIGTERM) is before
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(StoppedError, match="stopped; all is kept") as error:
        stop.end("all is kept")
    assert error.value.exit_code == 143
    assert "once more stops at once" in capfd.readouterr().err


def test_handlers_are_put_back(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with stoppable() as stop:
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    stop.end("nothing happens")


# Files


def test_a_file_is_replaced_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("before")
    path.chmod(0o640)

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert path.read_text() == "before"
    write_whole(path, b"after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"text"
    write_whole(Path(os.devnull), b"text")
    assert not Path(os.devnull).is_file()
    check_output(Path(os.devnull))


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("", "it is a folder"),
        ("folder", "it is a folder"),
        ("absent/run.json", "there is no folder"),
        ("file/run.json", "Not a directory|is no folder"),
        ("x" * 300, "File name too long"),
    ],
)
def test_output_that_cannot_be_written_is_refused_before(
    tmp_path: Path, name: str, named: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=named) as error:
        check_output(tmp_path / name)
    assert "\n" not in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    check_output(tmp_path / "new.json")
    check_output_folder(tmp_path / "new" / "deep")
    with pytest.raises(ValueError, match="is no folder"):
        check_output_folder(tmp_path / "file")
    assert not (tmp_path / "new").exists()


@NOT_ROOT
def test_read_only_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o400)
    with pytest.raises(ValueError, match="may not be changed"):
        check_output(tmp_path / "file")
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="Permission denied"):
        check_output(tmp_path / "new")


def test_a_place_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "state.pt"
    code = (
        "import sys, time; from pathlib import Path; from presto.records.writing import alone\n"
        "with alone(Path(sys.argv[1])): print('in', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, place], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(ValueError, match="another process is writing"), alone(place):
            pass
        other.kill()
    with alone(place):
        pass


# Data


class Pages:
    """A writer that has its documents already; ``stop_after`` of them the end is wanted."""

    def __init__(self, count: int, stop_after: int = 10**6) -> None:
        self.count, self.stop_after = count, stop_after

    def documents(self, stop: Stop) -> Iterator[Document]:
        for number, document in enumerate(documents(self.count)):
            if number == self.stop_after:
                stop.signal = signal.SIGINT
            if stop.wanted:
                return
            yield document


def texts(folder: Path) -> list[list[int]]:
    return [document.tokens.tolist() for document in load_shards(folder)]


def test_a_stop_keeps_all_finished_documents(tmp_path: Path) -> None:
    stop = Stop()
    write_shards(Pages(9, stop_after=5), tmp_path, 10**6, stop)  # type: ignore[arg-type]
    assert stop.wanted
    assert texts(tmp_path) == [document.tokens.tolist() for document in documents(9)[:5]]


def test_a_minute_of_documents_is_lost_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10**6, 20))
    monkeypatch.setattr(shards, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    write_shards(Pages(12), tmp_path, 10**6, Stop())  # type: ignore[arg-type]
    assert len(texts(tmp_path)) == 12
    assert len(shards.shard_numbers(tmp_path)) > 4


def test_leftovers_of_a_killed_process_break_nothing(tmp_path: Path) -> None:
    save_shard(tmp_path / "shard-0000.npz", documents(3))
    (tmp_path / "shard-0001.tmp.npz").write_bytes(b"half")
    (tmp_path / ".77-0a.tmp").write_bytes(b"half")
    assert len(texts(tmp_path)) == 3
    write_shards(Pages(4), tmp_path, 10**6, Stop())  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.glob("*")) == [
        "shard-0000.npz",
        "shard-0001.npz",
    ]
    assert len(texts(tmp_path)) == 7


def test_a_deleted_shard_makes_none_be_overwritten(tmp_path: Path) -> None:
    for number in range(3):
        save_shard(tmp_path / f"shard-{number:04d}.npz", documents(2))
    (tmp_path / "shard-0000.npz").unlink()
    write_shards(Pages(1), tmp_path, 10**6, Stop())  # type: ignore[arg-type]
    assert list(shards.shard_numbers(tmp_path)) == [1, 2, 3]


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_damaged_shard_is_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "shard-0000.npz"
    save_shard(path, documents(3))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"damaged shard .*shard-0000\.npz: .*; delete it"):
        load_shards(tmp_path)


@pytest.mark.parametrize(
    ("source", "named"),
    [("empty", "holds no shards"), ("absent", "no such prompt file"), ("blank.txt", "no prompts")],
)
def test_a_table_of_nothing_is_an_error_before_a_tokenizer_is_loaded(
    tmp_path: Path, source: str, named: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "blank.txt").write_text("\n\n")
    with pytest.raises(ValueError, match=named):
        corpus.build_table(tmp_path / source, tmp_path / "no tokenizer", 3, 1)


# Training


def test_a_stop_saves_the_step_and_the_next_run_ends_as_if_there_had_been_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trainer()
    whole.run(tmp_path / "whole.pt", Stop())
    part, stop = trainer(), Stop()
    step = part.train_step

    def third_time_stopped() -> float:
        if part.step == 2:
            stop.signal = signal.SIGTERM
        return step()

    monkeypatch.setattr(part, "train_step", third_time_stopped)
    with pytest.raises(StoppedError, match=r"step 3 is in .*part\.pt"):
        part.run(tmp_path / "part.pt", stop)
    resumed = trainer()
    resumed.run(tmp_path / "part.pt", Stop())
    torch.testing.assert_close(resumed.mask_embedding, whole.mask_embedding)


def test_the_state_is_saved_every_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, saved = iter(range(0, 10**6, 25)), list[int]()
    training = trainer(replace(RECIPE, steps=9))
    monkeypatch.setattr(
        "presto.training.trainer.time", SimpleNamespace(monotonic=lambda: next(clock))
    )
    monkeypatch.setattr(training, "save", lambda path: saved.append(training.step))
    training.run(tmp_path / "state.pt", Stop())
    assert len(saved) > 3


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "was trained with seed 0, now it is 1"),
        ({"rank": 2}, "rank 4, now it is 2"),
        ({"masks": (3,)}, r"masks \(4,\), now it is \(3,\)"),
        ({"learning_rate": 1.0}, "learning_rate 0.001, now it is 1.0"),
    ],
)
def test_a_state_of_other_settings_is_not_resumed(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    training = trainer()
    training.train_step()
    training.save(tmp_path / "state.pt")
    with pytest.raises(ValueError, match=named):
        trainer(replace(RECIPE, **change)).run(tmp_path / "state.pt", Stop())
    trainer(replace(RECIPE, steps=2)).run(tmp_path / "state.pt", Stop())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half", b"text", None])
def test_a_damaged_state_is_named(tmp_path: Path, content: bytes | None) -> None:
    path, training = tmp_path / "state.pt", trainer()
    training.save(path)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(ValueError, match=r"no training state in .*state\.pt") as error:
        training.restore(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"seed": -1}, "seed must not be negative"),
        ({"documents": 99}, "24 documents of more than 8 answer tokens are too few"),
    ],
)
def test_settings_that_cannot_train(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        trainer(replace(RECIPE, **change))
