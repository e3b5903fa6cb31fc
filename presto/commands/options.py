"""Options that several commands share: which pair decodes, and every setting of a run."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from presto.models.catalogue import PairSpec, find, names
from presto.records import DecodeConfig
from presto.runs.requests import make_config

if TYPE_CHECKING:
    from presto.models.registry import Pair

Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16 or auto.")]
Order = Annotated[int, typer.Option(help="Order of the n-gram model.")]
Seed = Annotated[int, typer.Option(help="Seed of the position-keyed noise.")]

SETTINGS: dict[str, Any] = {  # field of DecodeConfig → its option
    "scorer": Annotated[str, typer.Option(help="blind, product, pmi, mixture or dart.")],
    "normalised": Annotated[
        bool, typer.Option(help="Rescale the scores so that children keep their mass.")
    ],
    "search": Annotated[str, typer.Option(help="best_first, beam or linear.")],
    "lam": Annotated[float, typer.Option(help="Weight λ of the n-gram correction.")],
    "order": Order,
    "top_k": Annotated[int, typer.Option(help="Candidates per position.")],
    "beam_width": Annotated[int, typer.Option(help="Width of the beam search.")],
    "budget": Annotated[
        int | None, typer.Option(help="Nodes of the draft tree; default: the pair's usual number.")
    ],
    "draft_length": Annotated[int, typer.Option(help="Drafted positions per round.")],
    "correct_first": Annotated[
        bool, typer.Option(help="Apply the correction on the tree's first level too.")
    ],
    "static_ngram": Annotated[
        bool, typer.Option(help="Count the text the target wrote beforehand.")
    ],
    "online_ngram": Annotated[
        bool, typer.Option(help="Count the prompt and the output of this run.")
    ],
    "sampled_draft": Annotated[
        bool, typer.Option(help="Linear search draws its draft at the run's temperature.")
    ],
    "temperature": Annotated[float, typer.Option(help="0 is greedy.")],
    "top_p": Annotated[float, typer.Option(help="Nucleus of the target's sampling.")],
    "sample_top_k": Annotated[
        int, typer.Option(help="Keep the target's k likeliest tokens; 0 keeps all.")
    ],
    "seed": Seed,
    "max_new_tokens": Annotated[int, typer.Option(help="Cap on emitted tokens.")],
    "stop": Annotated[
        list[str] | None, typer.Option(help="Stop string; may be given several times.")
    ],
}
PAIR: dict[str, tuple[Any, Any]] = {  # option and default
    "system": (
        Annotated[str, typer.Option(help=f"Pair of target and drafter: {', '.join(names())}.")],
        names()[0],
    ),
    "target": (
        Annotated[Path | None, typer.Option(help="Folder of a target, instead of --system.")],
        None,
    ),
    "drafter": (Annotated[Path | None, typer.Option(help="Folder of its drafter.")], None),
    "mode": (Annotated[str, typer.Option(help="linear or quadratic, with --target.")], "linear"),
    "revision": (
        Annotated[str | None, typer.Option(help="Revision of the target on the hub.")],
        None,
    ),
    "dtype": (Dtype, "auto"),
}


@dataclass(frozen=True)
class PairChoice:
    """The pair a command was asked for; nothing is loaded before ``load``."""

    spec: PairSpec
    dtype: str
    revision: str | None

    def load(self) -> "Pair":
        from presto.models.registry import load

        return load(self.spec, self.dtype, self.revision)


def _choice(
    system: str,
    target: Path | None,
    drafter: Path | None,
    mode: str,
    revision: str | None,
    dtype: str,
) -> PairChoice:
    if target is None:
        if drafter is not None:
            raise ValueError(
                f"--drafter {drafter} needs --target: the folder of the model it drafts for"
            )
        return PairChoice(find(system), dtype, revision)
    from presto.models.registry import local_pair

    return PairChoice(local_pair(target, drafter, mode), dtype, None)


def configurable(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of ``PAIR`` and ``SETTINGS``; it receives them as ``choice`` and
    ``config``.
    """
    own = [
        p
        for p in inspect.signature(command).parameters.values()
        if p.name not in ("choice", "config")
    ]
    defaults = asdict(DecodeConfig()) | {"budget": None, "stop": None}
    shared = [(name, default, kind) for name, (kind, default) in PAIR.items()]
    shared += [(name, defaults[name], kind) for name, kind in SETTINGS.items()]

    def wrapped(**options: Any) -> None:
        choice = _choice(**{name: options.pop(name) for name in PAIR})
        given = {name: options.pop(name) for name in SETTINGS}
        usual = {"stop": (), "budget": choice.spec.budget}
        settings = given | {name: value for name, value in usual.items() if given[name] is None}
        settings["stop"] = tuple(settings["stop"])
        command(choice=choice, config=make_config(**settings), **options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [p.replace(kind=keyword) for p in own]
    parameters += [
        inspect.Parameter(name, keyword, default=value, annotation=kind)
        for name, value, kind in shared
    ]
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped
