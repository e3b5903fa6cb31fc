"""What another scorer would have had accepted: exact, from recorded marginals and the emitted text
alone.

Sample-and-follow draws the target's tokens with position-keyed noise, so they do not depend on the
tree. Whatever tree is built at a state, its accepted path is the longest one that spells the text
the run went on to emit.
"""

from collections.abc import Sequence

from presto.build import build_tree
from presto.kernels.ngram import NgramModel
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.tree import child_by_token


def follow_text(tree: Tree, continuation: Sequence[int]) -> tuple[int, ...]:
    """Nodes of the longest path below the root that spells a prefix of ``continuation``."""
    child = child_by_token(tree.parents, tree.tokens)
    node, accepted = 0, list[int]()
    for token in continuation:
        following = child.get((node, token))
        if following is None:
            break
        node = following
        accepted.append(node)
    return tuple(accepted)


def counterfactual(
    marginals: Marginals,
    text: Sequence[int],
    root: int,
    ngram: NgramModel,
    config: DecodeConfig,
) -> tuple[Tree, tuple[int, ...]]:
    """The tree ``config`` builds below position ``root`` of ``text`` and the nodes the target would
    have accepted.

    ``ngram`` must have seen exactly ``text[: root + 1]`` online.
    """
    tree, _ = build_tree(marginals, text[: root + 1], ngram, config)
    return tree, follow_text(tree, text[root + 1 :])


def oracle_length(marginals: Marginals, continuation: Sequence[int], k: int) -> int:
    """Accepted tokens of an oracle tree over each position's top ``k``, plus the bonus token
    (oracle@k).
    """
    length = 0
    for row, token in zip(marginals.token_ids, continuation, strict=False):
        if token not in row[:k]:
            break
        length += 1
    return length + 1
