"""Random valid traces for tests. They look like runs but measure nothing: never shown in the app as
real.
"""

import math
import random
from collections.abc import Sequence

from presto.records import (
    Choice,
    DecodeConfig,
    Marginals,
    Method,
    Piece,
    Recording,
    Round,
    Stages,
    Trace,
    Tree,
    plain,
)
from presto.records.tuning import Acceptance, Costs, Tuning

PLAIN = [
    *(
        " the",
        " of",
        " and",
        " she",
        " sold",
        " clips",
        " in",
        " April",
        " May",
        " half",
        " as",
        " many",
        " =",
        "4",
        "8",
    ),
    *(
        "/",
        "2",
        "+",
        " total",
        " altogether",
        ".",
        ",",
        "\n",
        "\n\n",
        " Natalia",
        " friends",
        " to",
        " so",
        " answer",
    ),
    *(
        " is",
        ":",
        " 72",
        " return",
        " def",
        " (",
        ")",
        " if",
        " value",
        " x",
        " number",
        " first",
        " then",
        " we",
        " have",
    ),
]
PROMPT_IDS = (1, 2, 3)
# By it the settings that a run has by default, 32 nodes and 12 positions, are the fastest.
TUNING = Tuning(
    Costs((1, 17, 33, 65), (10.0, 20.0, 30.0, 90.0), (4, 12), (5.0, 6.0)),
    Acceptance((4, 12), (16, 32, 64), ((2.0, 2.5, 2.6), (2.4, 3.6, 4.0))),
)
HOSTILE: list[Piece] = [
    *(
        "<b>",
        "<br>",
        "%{x}",
        "<extra></extra>",
        '<img src=x onerror="window.__xss=1">',
        "&lt;",
        "$x$",
        "\u202e",
        "\t",
    ),
    *(
        "</script><script>window.__xss=1</script>",
        (0xF0, 0x9F),
        (0x9A, 0x80),
        " שלום",
        "مرحبا",
        "漢字",
        "🧑‍🚀",
    ),
    *(
        "${window.__xss=1}",
        "{{value}}",
        "\u200b",
        "\x00",
        "javascript:1",
        "<svg/onload=window.__xss=1>",
        "'\"`",
    ),
]


def chain(root: int, tokens: Sequence[int]) -> Tree:
    """A single path below the root, all scores 0."""
    nodes = 1 + len(tokens)
    zeros = (0.0,) * nodes
    path = tuple(range(-1, nodes - 1))
    return Tree((root, *tokens), path, (0,) * nodes, zeros, zeros, zeros, zeros)


def _tree(rng: random.Random, budget: int, depth: int, vocabulary: int, root: int) -> Tree:
    tokens, parents, rank, log_q, log_rho, blind, aligned, level = (
        [root],
        [-1],
        [0],
        [0.0],
        [0.0],
        [0.0],
        [0.0],
        [0],
    )
    taken: dict[int, set[int]] = {0: set()}
    while len(tokens) <= budget:
        parent = rng.choice(
            [i for i in range(max(0, len(tokens) - 24), len(tokens)) if level[i] < depth] or [0]
        )
        token = rng.randrange(vocabulary)
        if token in taken[parent]:
            if all(len(t) >= vocabulary for t in taken.values()):
                break
            continue
        taken[parent].add(token)
        place = len(taken[parent]) - 1
        q, rho = plain(-0.3 - 0.9 * place - rng.random()), plain(rng.gauss(0, 1))
        parents.append(parent)
        tokens.append(token)
        rank.append(place)
        log_q.append(q)
        log_rho.append(rho)
        blind.append(plain(blind[parent] + q))
        aligned.append(plain(aligned[parent] + q + 0.7 * rho))
        level.append(level[parent] + 1)
        taken[len(tokens) - 1] = set()
    parts = (tokens, parents, rank, log_q, log_rho, blind, aligned)
    return Tree(*(tuple(part) for part in parts))  # type: ignore[arg-type]


def _accepted(rng: random.Random, tree: Tree, keep: float) -> tuple[int, ...]:
    path: list[int] = []
    while rng.random() < keep:
        below = [i for i, parent in enumerate(tree.parents) if parent == (path[-1] if path else 0)]
        if not below:
            break
        path.append(max(below, key=lambda i: tree.aligned[i]))
    return tuple(path)


def _marginals(rng: random.Random, depth: int, vocabulary: int, width: int) -> Marginals:
    """``width`` tokens per position, likeliest first; none if ``width`` is 0."""
    if not width:
        return Marginals()
    ids = tuple(tuple(rng.sample(range(vocabulary), width)) for _ in range(depth))
    return Marginals(
        ids, tuple(tuple(plain(-0.5 - 0.8 * place) for place in range(width)) for _ in range(depth))
    )


def _round(
    rng: random.Random,
    start: int,
    budget: int,
    depth: int,
    vocabulary: int,
    anchor: int,
    keep: float,
    width: int,
) -> Round:
    exact = rng.randrange(vocabulary) if budget else None
    tree = _tree(rng, budget, depth, vocabulary, anchor if exact is None else exact)
    accepted = _accepted(rng, tree, keep)
    below = {
        tree.tokens[i] for i, p in enumerate(tree.parents) if p == (accepted[-1] if accepted else 0)
    }
    bonus = next((t for t in rng.sample(range(vocabulary), vocabulary) if t not in below), 0)
    committed = (
        (() if exact is None else (exact,)) + tuple(tree.tokens[i] for i in accepted) + (bonus,)
    )
    top = tuple(rng.sample(range(vocabulary), min(5, vocabulary)))
    return Round(
        start=start,
        exact=exact,
        marginals=_marginals(rng, depth, vocabulary, width if budget else 0),
        tree=tree,
        log_p=(0.0, *(plain(math.log(rng.uniform(0.001, 0.99))) for _ in tree.tokens[1:])),
        accepted=accepted,
        choice=Choice(bonus, (bonus, *top), (0.6, *(0.05 for _ in top))),
        committed=committed,
        margin=1.0,
        forwards=2 if budget else 1,
        seconds=Stages(0.011 * (budget > 0), 0.0004, 0.0005, 0.0002, 0.02 + 0.0001 * budget, 0.001),
    )


def trace(
    seed: int = 0,
    rounds: int = 12,
    budget: int = 32,
    depth: int = 8,
    method: Method = "presto",
    keep: float = 0.75,
    pieces: Sequence[Piece] = PLAIN,
    prompt: str = "How many clips did Natalia sell altogether in April and May?",
    width: int = 0,
) -> Trace:
    """A valid random trace. ``budget=0`` gives autoregressive rounds, ``width`` the marginals'
    tokens per position.
    """
    rng = random.Random(seed)
    made: list[Round] = []
    anchor, start = 0, len(PROMPT_IDS)
    for _ in range(rounds):
        made.append(_round(rng, start, budget, depth, len(pieces), anchor, keep, width))
        anchor, start = made[-1].committed[-1], start + len(made[-1].committed)
    return Trace(
        system="synthetic",
        mode="gated",
        method=method,
        config=DecodeConfig(),
        device="cpu",
        dtype="float32",
        template="chat",
        prompt=prompt,
        prompt_ids=PROMPT_IDS,
        rounds=tuple(made),
        pieces=dict(enumerate(pieces)),
        finish="length",
    )


def recording(
    title: str = "Synthetic run", seed: int = 0, rounds: int = 12, budget: int = 32, **more: object
) -> Recording:
    """A recording with the four lanes; the baselines commit at least as many tokens as PRESTO."""
    lanes = (
        trace(seed, rounds, budget, method="presto", **more),  # type: ignore[arg-type]
        trace(seed + 1, 2 * rounds, min(budget, 8), method="linear", keep=0.5, **more),  # type: ignore[arg-type]
        trace(seed + 2, rounds + 2, budget, method="blind", keep=0.65, **more),  # type: ignore[arg-type]
        trace(seed + 3, 6 * rounds, 0, method="ar", **more),  # type: ignore[arg-type]
    )
    return Recording(title=title, note="made by tests/support/synthetic.py", traces=lanes)
