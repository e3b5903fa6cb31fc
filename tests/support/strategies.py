"""Random inputs of the engine, for property tests."""

import math
import random
from collections.abc import Sequence

from hypothesis import strategies as st

from presto.build import count_networks
from presto.kernels.candidates import as_recorded, candidates_of
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.plain import Node, Row, Space, formula_row, in_units, tree_of
from presto.records import DecodeConfig, Marginals, Tree
from presto.records.tuning import Acceptance, Costs, Tuning
from presto.registry import checked
from presto.scorers import SCORERS, FromCounts
from presto.searches import SEARCHES
from tests.support.plain_ngram import Candidates, PlainNgram
from tests.support.scorers import USUAL

VOCAB = 7
tokens = st.integers(0, VOCAB - 1)
# Short ones that say what they hold, and long ones after which most contexts have been seen.
texts = st.lists(tokens, max_size=40) | st.builds(
    lambda seed, length: random.Random(seed).choices(range(VOCAB), k=length),
    st.integers(0, 2**32 - 1),
    st.integers(40, 300),
)
corpora = st.lists(texts, max_size=3)


@st.composite
def marginals(
    draw: st.DrawFn,
    most_depth: int = 4,
    least_depth: int = 1,
    least_width: int = 1,
    full: bool = False,
) -> Marginals:
    """Distinct tokens per position, likeliest first; coarse weights, so that ties are common.
    ``full``: mass 1.
    """
    depth, width = (
        draw(st.integers(least_depth, most_depth)),
        VOCAB if full else draw(st.integers(least_width, VOCAB)),
    )
    ids, log_q = [], []
    for _ in range(depth):
        weights = draw(st.lists(st.integers(1, 12), min_size=VOCAB, max_size=VOCAB))
        order = sorted(draw(st.permutations(range(VOCAB))), key=lambda token: -weights[token])[
            :width
        ]
        ids.append(tuple(order))
        log_q.append(tuple(round(math.log(weights[token] / sum(weights)), 5) for token in order))
    return Marginals(tuple(ids), tuple(log_q))


@st.composite
def ngrams(draw: st.DrawFn) -> tuple[NgramModel, PlainNgram]:
    """A model and its oracle, with any mix of static, pruned and online counts; the online text
    comes in two parts.
    """
    documents, min_count, order = (
        draw(corpora),
        draw(st.integers(1, 3)),
        draw(st.sampled_from([2, 3])),
    )
    static = NgramTable.build(documents, VOCAB, min_count=min_count) if documents else None
    online, cut = draw(texts), draw(st.integers(0, 300))
    model = NgramModel(VOCAB, static, online=bool(online), order=order)
    model.extend(online[:cut])
    model.extend(online[cut:])
    return model, PlainNgram(VOCAB, order, documents, min_count, online)


# Some repeat themselves.
contexts = st.lists(tokens, min_size=1, max_size=4) | st.builds(
    lambda part, times: part * times, st.lists(tokens, min_size=1, max_size=4), st.integers(2, 4)
)
configs = st.builds(
    DecodeConfig,
    scorer=st.sampled_from(USUAL),
    normalised=st.booleans(),
    search=st.sampled_from(sorted(SEARCHES.built_in)),
    lam=st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0, 2.5]),
    budget=st.integers(1, 40),
    top_k=st.integers(1, VOCAB),
    beam_width=st.integers(1, 12),
    draft_length=st.integers(1, 5),
    correct_first=st.booleans(),
    lookup=st.sampled_from([0, 0, 1, 3, 5]),
)


def plain_tree(
    drafted: Marginals, context: Sequence[int], ngram: PlainNgram, config: DecodeConfig
) -> Tree:
    """What ``build_tree`` must return, by the oracle: plain Python from counts to tree."""
    scorer, search = SCORERS[config.scorer], SEARCHES[config.search]
    offered = candidates_of(drafted, config, context)
    tokens, log_q = offered.tokens, in_units(offered.log_q)
    own = checked(scorer, config.scorer_settings)
    networks = count_networks()
    network = networks.static if ngram.static else networks.online
    at = Candidates(tokens, log_q, own.get("online", 0.0), network.tolist())
    ratio = scorer.log_rho
    first = config.correct_first and scorer.corrects_first

    def row(node: Node) -> Row:
        log_rho = [0.0] * len(tokens[node.depth])
        if isinstance(ratio, FromCounts) and (node.depth > 0 or first):
            prefix = (*context, *node.path)
            log_rho = ngram.log_rho(ratio.formula, prefix, node.depth, at)
        weights = scorer.weights(node.depth + 1, config.lam)
        return formula_row(log_q[node.depth], log_rho, weights, config.normalised)

    space = Space(tokens, log_q, row, config, search.rows(config), offered.found)
    return as_recorded(tree_of(context[-1], search.plain(space), config.budget), offered)


# Everything the panel "What if" can change.
changes = st.fixed_dictionaries(
    {
        "scorer": st.sampled_from(USUAL),
        "lam": st.sampled_from((0.0, 0.2, 0.7, 1.0, 2.0)),
        "normalised": st.booleans(),
        "search": st.sampled_from(sorted(SEARCHES.built_in)),
        "budget": st.integers(1, 30),
        "top_k": st.integers(1, 12),
        "beam_width": st.integers(1, 8),
        "lookup": st.sampled_from((0, 0, 3)),
        "order": st.sampled_from((2, 3)),
        "correct_first": st.booleans(),
    }
)

_sizes = st.lists(st.integers(1, 129), min_size=1, max_size=6, unique=True).map(sorted)
_lengths = st.lists(st.integers(1, 16), min_size=1, max_size=4, unique=True).map(sorted)
_milliseconds = st.floats(0.001, 1e4)


@st.composite
def tunings(draw: st.DrawFn) -> Tuning:
    """Costs and acceptance over axes that need not match."""
    rows, lengths = draw(_sizes), draw(_lengths)
    axis, budgets = draw(_lengths), draw(_sizes)
    verify = draw(st.lists(_milliseconds, min_size=len(rows), max_size=len(rows)))
    drafts = draw(st.lists(_milliseconds, min_size=len(lengths), max_size=len(lengths)))
    row = st.lists(st.floats(0, 16), min_size=len(budgets), max_size=len(budgets)).map(tuple)
    tau = draw(st.lists(row, min_size=len(axis), max_size=len(axis)))
    return Tuning(
        Costs(tuple(rows), tuple(verify), tuple(lengths), tuple(drafts)),
        Acceptance(tuple(axis), tuple(budgets), tuple(tau)),
    )
