"""Tiny systems, and recorded runs of them."""

import random
from collections.abc import Sequence

from presto.decoding.loop import Run
from presto.decoding.protocols import System
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.records import DecodeConfig, Method, Trace
from presto.runs.requests import config_for
from tests.support.doubles import Scripted

PROMPT = (3, 8, 4, 8)
TABLE = NgramTable.build(
    [[random.Random(i).randrange(23) for _ in range(60)] for i in range(4)], 23
)


def model(system: System, table: NgramTable | None, config: DecodeConfig) -> NgramModel:
    static = table if config.static_ngram else None
    return NgramModel(system.vocab, static, online=config.online_ngram, order=config.order)


def run(
    system: System,
    config: DecodeConfig,
    table: NgramTable | None = None,
    method: Method = "presto",
    most: int = 10**6,
) -> Trace:
    """A recorded run, stopped after ``most`` rounds."""
    config = config_for(method, config)
    live = Run.begin(system, PROMPT, config, model(system, table, config))
    rounds = []
    for round_ in live.rounds(Run.plain_round if method == "ar" else Run.draft_round):
        rounds.append(round_)
        if len(rounds) == most:
            break
    return Trace(
        system=system.name,
        mode=system.mode,
        method=method,
        config=config,
        device="cpu",
        dtype="float64",
        template="none",
        prompt="",
        prompt_ids=PROMPT,
        rounds=tuple(rounds),
        pieces={token: str(token) for token in range(system.vocab)},
        finish=live.finish or "stopped",
    )


def scripted(salt: int, exact: bool, eos: int) -> Scripted:
    """A target that is a hash of the last two tokens, and a drafter that is right three times in
    four.
    """

    def choose(prefix: Sequence[int]) -> int:
        return random.Random(f"{salt} {list(prefix[-2:])}").randrange(12)

    def guess(prefix: Sequence[int], depth: int) -> int:
        text = list(prefix)
        for _ in range(depth + 1 + exact):
            text.append(choose(text))
        slip = random.Random(f"{salt} {len(prefix)} {depth}").choice((0, 0, 0, 5))
        return (text[-1] - slip) % 12

    return Scripted(choose, guess, vocab=12, exact=exact, eos_ids=frozenset({eos}))
