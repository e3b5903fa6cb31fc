"""Sample-and-follow: exact verification of a draft tree.

At each reached node the target draws its own next token y from the logits after that node. If y is one of the node's
children the walk goes there, otherwise it stops and y is the bonus token. The emitted text is the target's own for any
tree; for fixed children no lossless rule accepts more, since P(accept) = p(children).
"""

from dataclasses import dataclass

import torch

from presto.records import Choice, Tree, plain
from presto.sampling import Sampler
from presto.tree import child_by_token

SHOWN = 8  # target tokens recorded at the stopping node


@dataclass(frozen=True)
class Decision:
    """The accepted path, the target's choice where it stopped, each node's log-probability, the narrowest margin."""

    accepted: tuple[int, ...]
    choice: Choice
    log_p: tuple[float, ...]
    margin: float


def follow(logits: torch.Tensor, tree: Tree, position: int, sampler: Sampler) -> Decision:
    """Walk the tree by the target's draws.

    ``logits [N + 1, vocab]``: row i is the target's output after node i. ``position`` is the absolute position of the
    token that follows the root.
    """
    child = child_by_token(tree.parents, tree.tokens)
    node, accepted, margins = 0, list[int](), list[float]()
    while True:
        token = sampler.pick(logits[node], position + len(accepted))
        margins.append(margin(logits[node]))
        following = child.get((node, token))
        if following is None:
            break
        node = following
        accepted.append(node)
    return Decision(tuple(accepted), _choice(logits[node], token), node_log_p(logits, tree), min(margins))


def margin(logits: torch.Tensor) -> float:
    """Gap between the two largest of ``logits [vocab]``."""
    best = torch.topk(logits.float(), min(2, len(logits))).values
    return plain(float(best[0] - best[-1]))


def node_log_p(logits: torch.Tensor, tree: Tree) -> tuple[float, ...]:
    """Target log-probability at T = 1 of every node's token after its parent; 0 for the root."""
    if len(tree.tokens) == 1:
        return (0.0,)
    parents = sorted(set(tree.parents[1:]))
    row = {parent: i for i, parent in enumerate(parents)}
    log_p = torch.log_softmax(logits[parents].float(), dim=-1)
    values = log_p[[row[parent] for parent in tree.parents[1:]], list(tree.tokens[1:])]
    return (0.0, *(plain(value) for value in values.tolist()))


def _choice(logits: torch.Tensor, token: int) -> Choice:
    top = torch.topk(torch.softmax(logits.float(), dim=-1), min(SHOWN, len(logits)))
    return Choice(token, tuple(top.indices.tolist()), tuple(round(value, 6) for value in top.values.tolist()))
