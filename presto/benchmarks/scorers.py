"""Scorers compared on held-out prompts, exactly and without re-running the model for each.

One pass per prompt writes the target's greedy text and takes the drafter's marginals at *every*
position. Any scorer, search and budget is then played over these records: at T = 0 the result
equals decoding (``presto.runs.replay``).

    python -m presto.benchmarks.scorers --data PATH:17-32 …
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

import numpy as np
import torch
import typer

from presto.benchmarks.statistics import estimate
from presto.decoding.protocols import Session
from presto.kernels.ngram import NgramModel
from presto.models.registry import Pair, load
from presto.records import DecodeConfig, Marginals, Tree, changed
from presto.runs.prompts import checked_prompts
from presto.runs.refusals import in_one_sentence
from presto.runs.replay import counterfactual, oracle_length
from presto.runs.requests import make_config
from presto.runs.variants import alternatives
from presto.scorers import SCORERS
from presto.searches import SEARCHES

LAMBDAS = (0.2, 0.35, 0.5, 0.7, 1.0)


@dataclass(frozen=True)
class Reference:
    """The target's greedy text after a prompt, and the marginals drafted from each anchor in it.

    ``marginals[i]`` was drafted with anchor ``text[prompt + i - 1]``. ``exact`` is 1 if such a pass
    also yields the next token exactly (gated self-speculation): the tree then starts behind it.
    """

    text: tuple[int, ...]
    prompt: int
    exact: int
    marginals: tuple[Marginals, ...]


def write_reference(pair: Pair, prompt: str, config: DecodeConfig) -> Reference:
    """Decode greedily token by token, drafting at every one."""
    text = list(pair.encode(prompt))
    start, marginals, exact = len(text), list[Marginals](), 0
    session = pair.system.start(
        tuple(text), start + config.max_new_tokens + config.draft_length + 2
    )
    length = min(config.draft_length, pair.system.max_draft)
    while len(text) < start + config.max_new_tokens and not (
        len(text) > start and text[-1] in pair.system.eos_ids
    ):
        draft = session.draft(text[-1], length, config.top_k)
        marginals.append(draft.marginals)
        exact = int(draft.exact is not None)
        logits = draft.exact if draft.exact is not None else _step(session, text[-1])
        text.append(int(logits.argmax()))
    return Reference(tuple(text), start, exact, tuple(marginals))


def _step(session: Session, anchor: int) -> torch.Tensor:
    """The target's logits after the anchor, which joins the cache."""
    logits = session.verify(session.plan(Tree(tokens=(anchor,))))
    session.commit(())
    return logits[0]


def play(reference: Reference, pair: Pair, config: DecodeConfig) -> float:
    """τ of ``config`` on a reference: exact token if any, accepted path and bonus per round, never
    past the end.
    """
    table = pair.table if config.static_ngram else None
    ngram = NgramModel(pair.system.vocab, table, online=config.online_ngram, order=config.order)
    place, rounds, seen = reference.prompt, 0, 0
    while place < len(reference.text):
        root = place - 1 + reference.exact
        ngram.extend(reference.text[seen : root + 1])
        seen = root + 1
        _, accepted = counterfactual(
            reference.marginals[place - reference.prompt], reference.text, root, ngram, config
        )
        place = min(len(reference.text), root + len(accepted) + 2)
        rounds += 1
    return (len(reference.text) - reference.prompt) / rounds


def oracle(reference: Reference, k: int) -> float:
    """τ of the oracle@k on a reference."""
    place, rounds = reference.prompt, 0
    while place < len(reference.text):
        marginals, behind = reference.marginals[place - reference.prompt], place + reference.exact
        place = min(
            len(reference.text), behind + oracle_length(marginals, reference.text[behind:], k)
        )
        rounds += 1
    return (len(reference.text) - reference.prompt) / rounds


def settings(base: DecodeConfig) -> Iterator[tuple[str, DecodeConfig]]:
    """The compared settings, by name: every variant, every λ, and the default without its parts."""
    for name, changes in alternatives().items():
        yield name, changed(base, changes)
    weighted = [name for name, scorer in SCORERS.items() if scorer.uses_lam]
    for scorer, lam, flag in product(weighted, LAMBDAS, (False, True)):
        name = f"{scorer} {lam}{' norm' * flag}"
        yield name, changed(base, {"scorer": scorer, "lam": lam, "normalised": flag})
    yield "default, static only", replace(base, online_ngram=False)
    yield "default, online only", replace(base, static_ngram=False)
    yield "default, order 2", replace(base, order=2)
    yield "default, not on level 1", replace(base, correct_first=False)
    for search in SEARCHES:
        yield f"default, {search}", changed(base, {"search": search})


def report(references: Sequence[Reference], pair: Pair, base: DecodeConfig) -> Iterator[str]:
    """One line per setting: macro τ with its interval, and the paired gain over the blind tree."""
    blind = np.array(
        [play(reference, pair, replace(base, scorer="blind")) for reference in references]
    )
    for name, config in settings(base):
        taus = np.array([play(reference, pair, config) for reference in references])
        tau, gain = estimate(taus.tolist()), estimate((taus - blind).tolist())
        yield (
            f"{name:30} {tau.value:.3f} [{tau.low:.3f}, {tau.high:.3f}]  "
            f"{taus.mean() / blind.mean():.3f} x blind, {gain.value:+.3f} [{gain.low:+.3f}, "
            f"{gain.high:+.3f}]"
        )
    for k in (8, 32):
        yield f"oracle@{k:<22} {np.mean([oracle(reference, k) for reference in references]):.3f}"


def main(
    data: Annotated[list[str], typer.Option(help="PATH:A-B, several times.")],
    system: str = "smollm2-gated",
    dtype: str = "auto",
    budget: Annotated[list[int] | None, typer.Option()] = None,
    max_new_tokens: int = 128,
    draft_length: int = 12,
) -> None:
    """Print the comparison table."""
    prompts = checked_prompts(data)
    base = make_config(max_new_tokens=max_new_tokens, draft_length=draft_length)
    pair = load(system, dtype)
    references = [write_reference(pair, prompt.text, base) for prompt in prompts]
    for nodes in budget or [32]:
        typer.echo(f"budget {nodes}, {len(references)} prompts, drafts of {draft_length}")
        for line in report(references, pair, replace(base, budget=nodes)):
            typer.echo(line)


if __name__ == "__main__":
    with in_one_sentence():
        typer.run(main)
