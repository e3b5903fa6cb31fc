"""Sample-and-follow: exact verification of a draft tree.

At each reached node the target draws its own next token y from the logits after that node. If y is
one of the node's children the walk goes there, otherwise it stops and y is the bonus token. The
emitted text is the target's own for any tree; for fixed children no lossless rule accepts more,
since P(accept) = p(children).
"""

from dataclasses import dataclass

import torch

from presto.decoding.protocols import TreeInput
from presto.decoding.sampling import Sampler
from presto.records import ROOT, Choice, Tree, plain
from presto.records.tree import child_by_token

SHOWN = 8  # target tokens recorded at the stopping node


@dataclass(frozen=True)
class Decision:
    """The accepted path, the target's choice where it stopped, each node's log-probability, the
    narrowest margin.
    """

    accepted: tuple[int, ...]
    choice: Choice
    log_p: tuple[float, ...]
    margin: float


def follow(
    logits: torch.Tensor, plan: TreeInput, tree: Tree, position: int, sampler: Sampler
) -> Decision:
    """Walk the tree by the target's draws.

    ``logits [N + 1, vocab]``: row i is the target's output after node i. ``position`` is the
    absolute position of the token that follows the root. A greedy walk happens on the device and
    its result leaves in one copy. Above T = 0 the noise is drawn on the host, which takes the
    logits of every node that the walk reaches there too.
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    best = logits.argmax(-1)
    if sampler.greedy:
        return _read(logits, best, plan, _greedy_walk(best, plan), None)
    nodes, token = _sampled_walk(logits, tree, position, sampler)
    return _read(logits, best, plan, torch.tensor(nodes, device=logits.device), token)


def _greedy_walk(best: torch.Tensor, plan: TreeInput) -> torch.Tensor:
    """The nodes reached from the root down, ``[D + 1]`` with the last one repeated: no shape
    depends on the result.
    """
    right = plan.token_ids == best[plan.parents]
    right[ROOT] = True
    reached = right[plan.paths].all(1)
    deepest = torch.where(reached, plan.positions[: len(best)], -1).argmax(0, keepdim=True)
    return plan.paths.index_select(0, deepest)[0]


def _sampled_walk(
    logits: torch.Tensor, tree: Tree, position: int, sampler: Sampler
) -> tuple[list[int], int]:
    """The nodes reached from the root down, and the token drawn at the last."""
    child, nodes = child_by_token(tree.parents, tree.tokens), [ROOT]
    while True:
        token = sampler.pick(logits[nodes[-1]], position + len(nodes) - 1)
        following = child.get((nodes[-1], token))
        if following is None:
            return nodes, token
        nodes.append(following)


def _read(
    logits: torch.Tensor,
    best: torch.Tensor,
    plan: TreeInput,
    nodes: torch.Tensor,
    token: int | None,
) -> Decision:
    """What the record keeps of a walk over ``nodes``, in one copy; the target chose ``token``, or
    its likeliest.
    """
    log_p = torch.log_softmax(logits, -1)
    own = log_p[plan.parents, plan.token_ids]
    top = torch.topk(logits[nodes], min(SHOWN, logits.shape[-1]))
    shown = torch.gather(log_p[nodes[-1:]], 1, top.indices[-1:])
    parts = (
        nodes,
        best[nodes[-1:]],
        own,
        top.values[:, 0] - top.values[:, 1],
        top.indices[-1],
        shown[0],
    )
    host = torch.cat([part.double() for part in parts]).cpu()
    walk, choice, own, gaps, ids, shown = torch.split(host, [len(part) for part in parts])
    accepted = tuple(node for node in dict.fromkeys(walk.long().tolist()) if node != ROOT)
    probabilities = tuple(round(value, 6) for value in shown.exp().tolist())
    bonus = Choice(
        int(choice.tolist()[0]) if token is None else token,
        tuple(ids.long().tolist()),
        probabilities,
    )
    return Decision(
        accepted, bonus, (0.0, *map(plain, own[1:].tolist())), plain(min(gaps.tolist()))
    )


def margin(logits: torch.Tensor) -> float:
    """Gap between the two largest of ``logits [vocab]``."""
    best = torch.topk(logits.float(), min(2, len(logits))).values
    return plain(float(best[0] - best[-1]))
