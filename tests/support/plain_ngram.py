"""The n-gram corrections in plain Python, over dictionaries: the oracle of the compiled ones."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from presto.plain import UNITS, Context, Level

Network = Sequence[Sequence[float]]  # a hidden unit's weights, bias and output weight
RATIO, TRIGRAM_RATIO = 0.7, 7


def _grams(documents: Iterable[Sequence[int]], order: int) -> Counter[Context]:
    return Counter(
        tuple(document[i : i + n])
        for document in documents
        for n in range(1, order + 1)
        for i in range(len(document) - n + 1)
    )


class PlainNgram:
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
        self.static = Counter({g: n for g, n in static.items() if g not in self.dropped})
        self.online, self.text = _grams([online], order), tuple(online)

    def probability(self, context: Sequence[int], token: int) -> float:
        """p(token | the last ``order`` - 1 tokens of the context)."""
        history = tuple(context)[max(0, len(context) - self.order + 1) :]
        lower = self.probability(history[1:], token) if history else 1 / self.vocab
        parts = (self.static, self.dropped, self.online)
        static, dropped, online = (_after(part, history) for part in parts)
        total = sum(static.values()) + sum(online.values())
        escape = len(static) + len(dropped) + sum(dropped.values())
        escape += len(online.keys() - static.keys())
        if total + escape == 0:
            return lower
        return (static[token] + online[token] + escape * lower) / (total + escape)

    def log_rho(self, formula: str, context: Context, level: int, at: "Candidates") -> list[float]:
        """log ρ [K] of the candidates at ``level`` (from 0) after ``context``, in nats.

        ``formula``: see ``presto.scorers.FromCounts``.
        """
        given = [self.probability(context, token) for token in at.tokens[level]]
        if formula == "one":
            return [math.log(p) for p in given]
        ratio = self.log_ratio(context, at.tokens[level])
        if formula == "unigram":
            return ratio
        if formula == "dual":
            own = PlainNgram(self.vocab, self.order, online=self.text).log_ratio(
                context, at.tokens[level]
            )
            return [r + at.online * o for r, o in zip(ratio, own, strict=True)]
        if formula == "learned":
            return plain_network(self.features(context, level, at), at.network)
        return self._over_implied(given, context, level, at)

    def log_ratio(self, context: Context, tokens: Sequence[int]) -> list[float]:
        """log p(t|c) / p(t)."""
        return [math.log(self.probability(context, t) / self.probability((), t)) for t in tokens]

    def _over_implied(
        self, given: list[float], context: Context, level: int, at: "Candidates"
    ) -> list[float]:
        q = [math.exp(x / UNITS) for x in at.log_q[level - 1]]
        rest = max(0.0, 1 - sum(q))
        result = []
        for token, p in zip(at.tokens[level], given, strict=True):
            after = [self.probability((*context[:-1], b), token) for b in at.tokens[level - 1]]
            implied = sum(w * x for w, x in zip(q, after, strict=True))
            result.append(math.log(p / (implied + rest * self.probability((), token))))
        return result

    def features(self, context: Context, level: int, at: "Candidates") -> list[list[float]]:
        """One list per feature, in the order of ``presto.kernels.learned.FEATURES``."""
        tokens, log_q = at.tokens[level], [x / UNITS for x in at.log_q[level]]
        three = self.log_ratio(context[-self.order + 1 :], tokens)
        two = self.log_ratio(context[-1:], tokens)
        pair, last = context[-2:] if self.order > 2 else (), context[-1:]
        counts = [
            [math.log(1 + part[(*history, t)]) if len(history) == n else 0.0 for t in tokens]
            for history, n in ((pair, 2), (last, 1))
            for part in (self.online, self.static)
        ]
        totals = [
            math.log(1 + sum(_after(part, history).values())) if len(history) == n else 0.0
            for history, n in ((pair, 2), (last, 1))
            for part in (self.static, self.online)
        ]
        entropy = -sum(math.exp(x) * x for x in log_q)
        best = max(x + RATIO * r for x, r in zip(log_q, three, strict=True))
        unigram = [math.log(self.probability((), token)) for token in tokens]
        alone = [math.log(1 + self.online[(token,)]) for token in tokens]
        repeats = [float(token == context[-1]) for token in tokens]
        shared = (float(level), float(level == 0), entropy, log_q[0])
        columns = [[x] * len(tokens) for x in shared], [[x] * len(tokens) for x in (*totals, best)]
        of_row = [three, two, *counts, repeats]
        return [log_q, unigram, alone, *columns[0], *of_row, *columns[1]]


@dataclass(frozen=True)
class Candidates:
    """A round's candidates ``[D, K]``, log q in units, and what the formulas need besides."""

    tokens: Level
    log_q: Level
    online: float = 1.0  # weight of the run's own ratio
    network: Network = ()


def plain_network(inputs: list[list[float]], weights: Network) -> list[float]:
    """The network of ``presto.kernels.learned`` for every candidate."""
    result = []
    for column in zip(*inputs, strict=True):
        total = RATIO * column[TRIGRAM_RATIO]
        for *of_inputs, bias, out in weights:
            hidden = bias + sum(w * x for w, x in zip(of_inputs, column, strict=True))
            total += out * max(hidden, 0.0)
        result.append(total)
    return result


def _after(grams: Counter[Context], history: Context) -> Counter[int]:
    return Counter({gram[-1]: n for gram, n in grams.items() if gram[:-1] == history})
