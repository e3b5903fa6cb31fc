"""Scoring and search in plain Python, as slow and as close to the formulas as can be: the oracle of
the tests.

Shares no code with the compiled version. Scores are whole numbers of 1e-5 nats, as there.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from presto.records import DecodeConfig, Marginals, Tree

UNITS = 100_000  # in a nat
Context = tuple[int, ...]


def _grams(documents: Iterable[Sequence[int]], order: int) -> Counter[Context]:
    return Counter(
        tuple(document[i : i + n])
        for document in documents
        for n in range(1, order + 1)
        for i in range(len(document) - n + 1)
    )


class ReferenceNgram:
    """Interpolated Witten-Bell over dictionaries, of static documents and one online sequence."""

    def __init__(
        self,
        vocab: int,
        order: int,
        documents: Iterable[Sequence[int]] = (),
        min_count: int = 1,
        online: Sequence[int] = (),
    ) -> None:
        self.vocab, self.order = vocab, order
        static = _grams(documents, order)
        self.dropped: Counter[Context] = Counter(
            {gram: n for gram, n in static.items() if len(gram) == 3 and n < min_count}
        )
        self.static = Counter({gram: n for gram, n in static.items() if gram not in self.dropped})
        self.online = _grams([online], order)

    def probability(self, context: Sequence[int], token: int) -> float:
        """p(token | the last ``order`` - 1 tokens of the context)."""
        history = tuple(context)[max(0, len(context) - self.order + 1) :]
        lower = self.probability(history[1:], token) if history else 1 / self.vocab
        static, dropped, online = (
            _after(part, history) for part in (self.static, self.dropped, self.online)
        )
        total = sum(static.values()) + sum(online.values())
        escape = (
            len(static) + len(dropped) + sum(dropped.values()) + len(online.keys() - static.keys())
        )
        if total + escape == 0:
            return lower
        return (static[token] + online[token] + escape * lower) / (total + escape)


def _after(grams: Counter[Context], history: Context) -> Counter[int]:
    return Counter({gram[-1]: n for gram, n in grams.items() if gram[:-1] == history})


@dataclass(frozen=True)
class Node:
    """A candidate: ranks from depth 1 to its own, and its numbers; ``place`` is its index in the
    tree.
    """

    ranks: tuple[int, ...] = ()
    parent: int = -1
    log_q: int = 0
    log_rho: int = 0
    blind: int = 0
    aligned: int = 0
    priority: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        return -self.priority, len(self.ranks), self.ranks[-1]


class Reference:
    """The scorer and the searches on one problem."""

    def __init__(
        self,
        marginals: Marginals,
        context: Sequence[int],
        ngram: ReferenceNgram,
        config: DecodeConfig,
    ) -> None:
        self.tokens = [row[: config.top_k] for row in marginals.token_ids[: config.draft_length]]
        self.log_q = [
            [round(x * UNITS) for x in row[: config.top_k]]
            for row in marginals.log_q[: config.draft_length]
        ]
        self.context, self.ngram, self.config = tuple(context), ngram, config

    def log_rho(self, prefix: Context, depth: int, token: int) -> float:
        """log ρ of ``token`` at ``depth`` (from 1) after all tokens before it."""
        config, p = self.config, self.ngram.probability
        if config.scorer == "blind" or (
            depth == 1 and (not config.correct_first or config.scorer in ("mixture", "dart"))
        ):
            return 0.0
        given = p(prefix, token)
        if config.scorer in ("product", "dart"):
            return math.log(given)
        if config.scorer == "pmi":
            return math.log(given / p((), token))
        q = [math.exp(x / UNITS) for x in self.log_q[depth - 2]]
        implied = sum(
            w * p((*prefix[:-1], b), token) for w, b in zip(q, self.tokens[depth - 2], strict=True)
        )
        return math.log(given / (implied + max(0.0, 1 - sum(q)) * p((), token)))

    def children(self, node: Node, place: int) -> list[Node]:
        """All candidates below ``node``, by rank."""
        depth, config = len(node.ranks) + 1, self.config
        if depth > len(self.tokens):
            return []
        prefix = (
            *self.context,
            *(self.tokens[level][rank] for level, rank in enumerate(node.ranks)),
        )
        log_q = self.log_q[depth - 1]
        rho = [
            round(self.log_rho(prefix, depth, token) * UNITS) for token in self.tokens[depth - 1]
        ]
        scores = [q + config.lam * r for q, r in zip(log_q, rho, strict=True)]
        if config.scorer == "dart":
            scores = [
                depth**-0.7 * (0.9 ** (depth - 1) * q + 0.5 * r)
                for q, r in zip(log_q, rho, strict=True)
            ]
        if config.normalised:
            mass = math.log(
                sum(math.exp(q / UNITS) for q in log_q) / sum(math.exp(s / UNITS) for s in scores)
            )
            scores = [s + mass * UNITS for s in scores]
        result = []
        for rank, (q, r, score) in enumerate(zip(log_q, rho, map(round, scores), strict=True)):
            aligned = node.aligned + score
            priority = min(node.priority, aligned)
            result.append(Node((*node.ranks, rank), place, q, r, node.blind + q, aligned, priority))
        return result

    def linear(self) -> list[Node]:
        nodes = [Node()]
        while len(nodes) <= min(self.config.budget, len(self.tokens)):
            nodes.append(self.children(nodes[-1], len(nodes) - 1)[0])
        return nodes

    def best_first(self) -> list[Node]:
        nodes, opened = [Node()], self.children(Node(), 0)
        while opened and len(nodes) <= self.config.budget:
            best = min(opened, key=lambda node: (*node.key, node.parent))
            opened.remove(best)
            opened += self.children(best, len(nodes))
            nodes.append(best)
        return nodes

    def beam(self) -> list[Node]:
        """Every frontier opened in full, the pool sorted at the end; ``parent`` is a place in the
        frontier before.
        """
        frontier, pool = [Node()], []
        while frontier:
            layer = [
                child for slot, node in enumerate(frontier) for child in self.children(node, slot)
            ]
            layer.sort(key=lambda node: (*node.key, node.parent))
            frontier = layer[: self.config.beam_width]
            pool += layer
        pool.sort(key=lambda node: (*node.key, node.parent))
        return [Node(), *pool[: self.config.budget]]

    def tree(self) -> Tree:
        """What ``build_tree`` must return."""
        nodes: list[Node] = getattr(self, self.config.search)()
        place = {node.ranks: index for index, node in enumerate(nodes)}
        return Tree(
            (
                self.context[-1],
                *(self.tokens[len(node.ranks) - 1][node.ranks[-1]] for node in nodes[1:]),
            ),
            (-1, *(place[node.ranks[:-1]] for node in nodes[1:])),
            (0, *(node.ranks[-1] for node in nodes[1:])),
            tuple(node.log_q / UNITS for node in nodes),
            tuple(node.log_rho / UNITS for node in nodes),
            tuple(node.blind / UNITS for node in nodes),
            tuple(node.aligned / UNITS for node in nodes),
        )
