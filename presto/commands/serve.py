"""``presto serve``: pairs on a Ray cluster, for pages on its nodes."""

import time
from functools import partial
from typing import Annotated

import typer

from presto.commands.options import Dtype
from presto.models.catalogue import find, names
from presto.runs.stopping import stoppable

AUTO = "auto"


def replicas_of(text: str) -> int:
    """How many replicas are asked for, 0: as many as fit."""
    if text == AUTO:
        return 0
    if not (text.isdecimal() and text.isascii() and 0 < int(text) <= 10_000):
        raise ValueError(f"--replicas must be {AUTO} or a whole number from 1 on, got {text!r}")
    return int(text)


def serve(
    system: Annotated[
        list[str] | None, typer.Option(help=f"Pairs to serve, several times: {', '.join(names())}.")
    ] = None,
    replicas: Annotated[
        str, typer.Option(help=f"Of every pair; {AUTO}: as many as there are GPUs, or CPUs.")
    ] = AUTO,
    to_zero: Annotated[
        bool, typer.Option("--to-zero", help="Unload a pair while nobody asks for it.")
    ] = False,
    address: Annotated[
        str, typer.Option(help="The Ray cluster to join; otherwise one is started here.")
    ] = "",
    dtype: Dtype = "auto",
    round_seconds: Annotated[
        int, typer.Option(help="After a longer round a replica is replaced.", min=1)
    ] = 120,
) -> None:
    """Serve pairs on a Ray cluster until Ctrl-C; pages on its nodes decode there."""
    count = replicas_of(replicas)
    chosen = list(dict.fromkeys(find(name).name for name in system or names()[:1]))
    from presto.cluster.joining import address_of, joined
    from presto.cluster.serving import deploy, withdraw
    from presto.models.registry import load

    with joined(address):
        pairs = {name: partial(load, name, dtype) for name in chosen}
        try:
            facts = deploy(pairs, count, to_zero, round_seconds)
            for name, most in facts.replicas.items():
                typer.echo(f"{name}: {most} {'replica' if most == 1 else 'replicas'}")
            typer.echo(f"a page decodes here with PRESTO_BACKEND=ray:{address_of()}")
            with stoppable() as stop:
                while not stop.wanted:
                    time.sleep(0.2)
        finally:
            withdraw()
    stop.end("nothing is served any more")
