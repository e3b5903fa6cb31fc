"""A text and what was drafted at every token of it: scorers are compared, and taught, on that.

The target's tokens do not depend on any tree, so one pass over a text serves every scorer, search
and budget: at T = 0 a walk over the records equals decoding (``presto.runs.replay``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from presto.decoding.marginals import with_found
from presto.decoding.protocols import Session
from presto.kernels.arrays import read_arrays
from presto.kernels.ngram import NgramModel
from presto.kernels.problem import PER_NAT
from presto.models.registry import Pair, ngram_for
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.writing import replacing
from presto.runs.replay import counterfactual, oracle_length


@dataclass(frozen=True)
class Reference:
    """A text, and the marginals drafted from each anchor behind its prompt.

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
    start, marginals, exact = len(text), list[Marginals](), list[int]()
    session = pair.system.start(
        tuple(text), start + config.max_new_tokens + config.draft_length + 2
    )
    length = min(config.draft_length, pair.system.max_draft)
    while len(text) < start + config.max_new_tokens and not (
        len(text) > start and text[-1] in pair.system.eos_ids
    ):
        draft = session.draft(text[-1], length, config.top_k + 1)
        exact = [] if draft.exact is None else [int(draft.exact.argmax())]
        marginals.append(with_found(draft, [*text, *exact], config.top_k).marginals)
        text += exact or [int(_step(session, text[-1]).argmax())]
    return Reference(tuple(text), start, len(exact), tuple(marginals))


def _step(session: Session, anchor: int) -> torch.Tensor:
    """The target's logits after the anchor, which joins the cache."""
    logits = session.verify(session.plan(Tree(tokens=(anchor,))))
    session.commit(())
    return logits[0]


def rounds_of(
    reference: Reference, ngram: NgramModel, config: DecodeConfig
) -> Iterator[tuple[int, Tree, tuple[int, ...]]]:
    """The rounds of a run of ``config``: where each begins, its tree and accepted nodes.

    ``ngram`` must be new: it is shown the text as far as each round knows it.
    """
    place, seen = reference.prompt, 0
    while place < len(reference.text):
        root = place - 1 + reference.exact
        ngram.extend(reference.text[seen : root + 1])
        seen = root + 1
        marginals = reference.marginals[place - reference.prompt]
        tree, accepted = counterfactual(marginals, reference.text, root, ngram, config)
        yield place, tree, accepted
        place = min(len(reference.text), root + len(accepted) + 2)


def acceptance(reference: Reference, pair: Pair, config: DecodeConfig) -> float:
    """τ of a run of ``config``, never past the end of the text."""
    rounds = sum(1 for _ in rounds_of(reference, ngram_for(pair, config), config))
    return (len(reference.text) - reference.prompt) / rounds


def oracle(reference: Reference, k: int) -> float:
    """τ of the oracle@k on a reference."""
    place, rounds = reference.prompt, 0
    while place < len(reference.text):
        marginals, behind = reference.marginals[place - reference.prompt], place + reference.exact
        length = oracle_length(marginals, reference.text[behind:], k)
        place, rounds = min(len(reference.text), behind + length), rounds + 1
    return (len(reference.text) - reference.prompt) / rounds


def save_references(references: Sequence[Reference], path: Path) -> None:
    """Write references as one ``.npz``, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            text=np.concatenate([np.array(r.text, np.int32) for r in references]),
            heads=np.array(
                [[len(r.text), r.prompt, r.exact, len(r.marginals)] for r in references]
            ),
            ids=np.concatenate([[m.token_ids for m in r.marginals] for r in references]).astype(
                np.int32
            ),
            units=np.rint(
                np.concatenate([[m.log_q for m in r.marginals] for r in references]) * PER_NAT
            ).astype(np.int32),
        )


def load_references(path: Path) -> list[Reference]:
    """Read what ``save_references`` wrote; ``ValueError`` says what is wrong with the file."""
    arrays, result, text, drafts = read_arrays(path), list[Reference](), 0, 0
    for length, prompt, exact, count in arrays["heads"].tolist():
        part = slice(drafts, drafts + count)
        ids, log_q = arrays["ids"][part].tolist(), (arrays["units"][part] / PER_NAT).tolist()
        marginals = tuple(
            Marginals(tuple(map(tuple, i)), tuple(map(tuple, q)))
            for i, q in zip(ids, log_q, strict=True)
        )
        tokens = tuple(arrays["text"][text : text + length].tolist())
        result.append(Reference(tokens, prompt, exact, marginals))
        text, drafts = text + length, drafts + count
    return result
