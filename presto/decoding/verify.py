"""Sample-and-follow: exact verification of a draft tree.

At each reached node the target draws its own next token y from the logits after that node. If y is
one of the node's children the walk goes there, otherwise it stops and y is the bonus token. The
emitted text is the target's own for any tree; for fixed children no lossless rule accepts more,
since P(accept) = p(children).
"""

from dataclasses import dataclass

import torch

from presto.decoding.protocols import TreeInput
from presto.decoding.sampling import ROWS, Sampler, wide
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
    absolute position of the token that follows the root. The walk happens on the device and its
    result leaves in one copy; on a CPU, where nothing waits for it, only nodes that it reaches are
    drawn at.
    """
    if not sampler.greedy and logits.device.type == "cpu":
        return _read(logits, plan, *_walk_and_draw(logits, tree, position, sampler))
    levels = plan.positions[: len(logits)] - plan.positions[ROOT]
    drawn = sampler.draw(logits, position, levels, plan.paths.shape[1])
    nodes = _walk(drawn, plan)
    return _read(logits, plan, nodes, drawn[nodes[-1:]])


def _walk(drawn: torch.Tensor, plan: TreeInput) -> torch.Tensor:
    """The nodes reached from the root down, ``[D + 1]`` with the last one repeated: no shape
    depends on the result. ``drawn [N + 1]`` is the target's choice after every node.
    """
    right = plan.token_ids == drawn[plan.parents]
    right[ROOT].fill_(True)
    reached = right[plan.paths].all(1)
    deepest = torch.where(reached, plan.positions[: len(drawn)], -1).argmax(0, keepdim=True)
    return plan.paths.index_select(0, deepest)[0]


def _walk_and_draw(
    logits: torch.Tensor, tree: Tree, position: int, sampler: Sampler
) -> tuple[torch.Tensor, torch.Tensor]:
    """The nodes reached from the root down, and the token drawn at the last ``[1]``."""
    child, nodes = child_by_token(tree.parents, tree.tokens), [ROOT]
    while True:
        token = sampler.pick(logits[nodes[-1]], position + len(nodes) - 1)
        following = child.get((nodes[-1], int(token)))
        if following is None:
            return torch.tensor(nodes), token
        nodes.append(following)


def _read(
    logits: torch.Tensor, plan: TreeInput, nodes: torch.Tensor, token: torch.Tensor
) -> Decision:
    """What the record keeps of a walk over ``nodes`` that ended with ``token [1]``, in one
    copy.
    """
    log_z = _log_sums(logits)
    own = wide(logits[plan.parents, plan.token_ids]) - log_z[plan.parents]
    top = torch.topk(wide(logits[nodes]), min(SHOWN, logits.shape[-1]))
    shown = top.values[-1] - log_z[nodes[-1:]]
    parts = nodes, token, own, top.values[:, 0] - top.values[:, 1], top.indices[-1], shown
    host = torch.cat([part.double() for part in parts]).cpu()
    walk, choice, own, gaps, ids, shown = torch.split(host, [len(part) for part in parts])
    accepted = tuple(node for node in dict.fromkeys(walk.long().tolist()) if node != ROOT)
    bonus = Choice(
        int(choice),
        tuple(ids.long().tolist()),
        tuple(round(value, 6) for value in shown.exp().tolist()),
    )
    return Decision(
        accepted, bonus, (0.0, *map(plain, own[1:].tolist())), plain(min(gaps.tolist()))
    )


def _log_sums(logits: torch.Tensor) -> torch.Tensor:
    """log Σ exp of every row, some rows at a time. Torch's own ``logsumexp`` takes twice as long as
    a soft-max, from which it follows.
    """
    parts = (wide(part) for part in torch.split(logits, ROWS))
    return torch.cat([part.amax(-1) - torch.log_softmax(part, -1).amax(-1) for part in parts])


def exact_choice(logits: torch.Tensor, position: int, sampler: Sampler) -> tuple[int, float]:
    """The token drawn from ``logits [vocab]`` for ``position``, and the gap between the two
    largest; both leave the device in one copy.
    """
    best = torch.topk(wide(logits), min(2, len(logits))).values
    token = sampler.pick(logits, position)
    drawn, gap = torch.cat([token, (best[:1] - best[-1:]).double()]).tolist()
    return int(drawn), plain(gap)
