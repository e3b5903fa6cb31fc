"""A pair's acceptance curves: committed tokens per round by budget and draft length, for every
method. ``--budget auto`` chooses from them (``presto.runs.budget``).

    python -m presto.benchmarks.curve --data PATH:A-B … --references FOLDER --out FILE.json

The target writes every prompt's greedy text once per draft length, with the drafts at each of its
tokens (``presto.runs.references``); trees of any method and budget are then played over these,
which at T = 0 equals decoding. Drafts are kept in FOLDER and go on where they stopped.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from presto.benchmarks.scorers import drafts_of
from presto.models.device import dtype_name
from presto.models.registry import Pair, load
from presto.records import DecodeConfig, Method, changed
from presto.records.writing import check_output, check_output_folder, write_whole
from presto.runs.budget import BUDGETS, CurveFile, parse_curves
from presto.runs.prompts import checked_prompts
from presto.runs.references import Reference, acceptance
from presto.runs.refusals import in_one_sentence
from presto.runs.requests import METHODS, check_method
from presto.runs.variants import PLAIN
from presto.searches import SEARCHES

LENGTHS = (4, 6, 8, 10, 12, 15)
Drafts = Mapping[int, Sequence[Reference]]  # by drafted positions


def tau(references: Sequence[Reference], pair: Pair, config: DecodeConfig) -> float:
    """Tokens per round of a run of ``config`` over all texts together."""
    written = [len(reference.text) - reference.prompt for reference in references]
    runs = zip(references, written, strict=True)
    rounds = sum(count / acceptance(reference, pair, config) for reference, count in runs)
    return sum(written) / rounds


def curve(
    pair: Pair, drafts: Drafts, method: Method, lengths: Sequence[int]
) -> Iterator[tuple[float, ...]]:
    """A method's tokens per round by budget, length after length."""
    base = changed(DecodeConfig(), METHODS[method])
    single = SEARCHES.find(base.search).single_path

    @cache
    def at(nodes: int, length: int) -> float:
        config = changed(base, {"budget": nodes, "draft_length": length})
        return round(tau(drafts[source(drafts, length)], pair, config), 3)

    for length in lengths:
        yield tuple(at(min(b, length) if single else b, length) for b in BUDGETS)


def source(drafts: Drafts, length: int) -> int:
    """The drafts that ``length`` positions are taken from: its own, else the next longer ones."""
    return min(drafted for drafted in drafts if drafted >= length)


def curves(pair: Pair, drafts: Drafts, texts: str) -> CurveFile:
    """All methods' curves, at the lengths that ``drafts`` can give."""
    lengths = tuple(length for length in LENGTHS if length <= max(drafts))
    tables: dict[Method, tuple[tuple[float, ...], ...]] = {}
    for method in map(check_method, METHODS):
        if method != PLAIN:
            tables[method] = tuple(curve(pair, drafts, method, lengths))
            typer.echo(f"{method}: {tables[method][-1]}", err=True)
    longest = drafts[max(drafts)]
    return CurveFile(
        pair=pair.spec.name,
        texts=texts,
        tokens=sum(len(reference.text) - reference.prompt for reference in longest),
        dtype=dtype_name(pair.system.dtype),
        models=dict(pair.models),
        lengths=lengths,
        drafted=tuple(source(drafts, length) for length in lengths),
        budgets=BUDGETS,
        tau=tables,
    )


def main(
    data: Annotated[list[str], typer.Option(help="PATH:A-B, several times.")],
    references: Annotated[Path, typer.Option(help="Folder that keeps the drafts.")],
    out: Annotated[Path, typer.Option(help="The curve file (.json).")],
    system: Annotated[str, typer.Option(help="The pair.")] = "smollm2-gated",
    drafted: Annotated[
        list[int] | None,
        typer.Option(help="Lengths to draft; those between are cut from the next longer one."),
    ] = None,
    max_new_tokens: int = 128,
    dtype: str = "auto",
) -> None:
    """Write a pair's acceptance curves."""
    prompts = checked_prompts(data)
    check_output_folder(references)
    check_output(out)
    pair = load(system, dtype)
    most = pair.system.max_draft
    lengths = [n for n in drafted or LENGTHS if n <= most] or [most]
    references.mkdir(parents=True, exist_ok=True)
    drafts = {
        length: drafts_of(
            pair,
            [prompt.text for prompt in prompts],
            DecodeConfig(draft_length=length, max_new_tokens=max_new_tokens),
            references / f"{system}-{length}.npz",
        )
        for length in lengths
    }
    told = ", ".join(f"{Path(part).name}" for part in data)
    made = curves(pair, drafts, f"greedy texts of prompts {told}, {max_new_tokens} tokens")
    parse_curves(text := dumped(made))
    write_whole(out, text.encode())
    typer.echo(f"{out}: {len(text):,} bytes")


def dumped(made: CurveFile) -> str:
    """The file's text: a line per field and per row of a table."""
    parts = asdict(made)
    tables = ",\n".join(
        f"  {json.dumps(name)}: [\n   " + ",\n   ".join(map(json.dumps, rows)) + "\n  ]"
        for name, rows in parts.pop("tau").items()
    )
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in parts.items()]
    return "{\n" + ",\n".join([*lines, f' "tau": {{\n{tables}\n }}']) + "\n}\n"


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
