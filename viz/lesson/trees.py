"""Chapters five to nine: the tree and its budget, the score, the search, the mask, the verdict."""

from collections.abc import Sequence

from presto.records import ROOT, Trace, Tree
from presto.records.measures import len_committed, output_ids
from presto.records.tree import depths, ranks
from presto.runs.counterfactuals import lineup
from presto.runs.replay import follow_text
from presto.scorers import SCORERS
from viz.film import seen_by
from viz.formula import decimal
from viz.lesson.course import Course, Lesson, Question, token, why_path
from viz.text import round_texts, running
from viz.tree import probability_text

LAMS = tuple(step / 20 for step in range(21))  # that the reader may choose
NO_NODE = "The target accepted nothing in this round: choose another one."


def _stop(course: Course) -> int:
    """The last accepted node; ``ValueError`` where there is none."""
    if not course.round.accepted:
        raise ValueError(NO_NODE)
    return course.round.accepted[-1]


def smallest_budget(course: Course) -> int:
    """The smallest budget whose tree still has as many tokens accepted as the run's own."""
    most = len(course.round.accepted)
    enough = (
        budget
        for budget in range(max(1, most), course.shown.config.budget + 1)
        if len(course.replay(budget=budget).accepted) >= most
    )
    return next(enough, course.shown.config.budget)


def budgets(course: Course) -> Lesson:
    """A tree in place of a path, as large as its budget."""
    tree, path = course.round.tree, course.shown.config.budget
    leaves = len(set(range(len(tree.tokens))) - set(tree.parents))
    least = smallest_budget(course)
    values = {
        "budget": str(path),
        "nodes": str(len(tree.tokens) - 1),
        "leaves": str(leaves),
        "depth": str(max(depths(tree.parents))),
        "accepted": str(len(course.round.accepted)),
        "committed": str(len(course.round.committed)),
        "least": str(least),
        "below": str(len(course.replay(budget=least - 1).accepted)) if least > 1 else "0",
    }
    knob = {"name": "budget", "low": 1, "high": path, "step": 1, "value": path}
    picture = {"kind": "knob", "knob": knob}
    return Lesson(values, picture, (Question("number", least),), why_path(course))


def ranks_first(tree: Tree, text: Sequence[int], depth: int) -> bool:
    """Whether ``tree`` holds the first ``depth`` tokens of ``text``, and no other path of that
    length has a better score.
    """
    nodes = follow_text(tree, text[:depth])
    if len(nodes) < depth:
        return False
    level = depths(tree.parents)
    return all(
        tree.aligned[nodes[-1]] >= score
        for score, at in zip(tree.aligned, level, strict=True)
        if at == depth
    )


def lams_that_rank_first(course: Course) -> tuple[float, ...]:
    """The λ of ``LAMS`` under which the accepted path is the best of its length."""
    depth, text = len(course.round.accepted), course.continuation
    return tuple(lam for lam in LAMS if ranks_first(course.replay(lam=lam).tree, text, depth))


def scores(course: Course) -> Lesson:
    """The prefix-aligned score with this round's numbers."""
    stop, tree, config = _stop(course), course.round.tree, course.shown.config
    rows, path = course.view.nodes, course.round.accepted
    blind, aligned = ranks(tree.blind)[stop], ranks(tree.aligned)[stop]
    higher = "same" if blind == aligned else "aligned" if aligned < blind else "blind"
    first = lams_that_rank_first(course)
    values = {
        "lam": f"{config.lam:g}",
        "token": f"‘{rows[stop].full}’",
        "blind_rank": str(blind),
        "aligned_rank": str(aligned),
        "blind_sum": decimal(tree.blind[stop]),
        "aligned_sum": decimal(tree.aligned[stop]),
        "nodes": str(len(tree.tokens) - 1),
        "log_q": decimal(tree.log_q[stop]),
        "log_rho": decimal(tree.log_rho[stop]),
        "blind_committed": str(_blind_committed(course)),
        "committed": str(len(course.round.committed)),
        "first": ", ".join(f"{lam:g}" for lam in first) or "–",
    }
    table = [
        [
            f"‘{row.full}’",
            *(decimal(value or 0.0) for value in (row.log_q, row.log_rho)),
            str(row.blind_rank),
            str(row.aligned_rank),
        ]
        for row in (rows[node] for node in path)
    ]
    knob = {"name": "lam", "low": 0, "high": 1, "step": 0.05, "value": config.lam}
    lines = [_sum(course, node) for node in path]
    picture = {"kind": "knob", "knob": knob, "table": table, "lines": lines}
    asked = (
        Question("choice", higher, ("blind", "aligned", "same")),
        Question("lam", list(first)),
    )
    return Lesson(values, picture, asked, why_path(course))


def _sum(course: Course, node: int) -> str:
    """What a node adds to its path, in numbers: its formula, and what counts after it."""
    tree, row, config = course.round.tree, course.view.nodes[node], course.shown.config
    a, b = SCORERS.find(config.scorer).weights(row.depth, config.lam)
    own = a * tree.log_q[node] + b * tree.log_rho[node]
    added = tree.aligned[node] - tree.aligned[row.parent]
    terms = f"{decimal(tree.log_q[node])} + {b:g} · {decimal(tree.log_rho[node])}"
    return f"‘{row.full}’: {terms} = {decimal(own)} → {decimal(added)}"


def _blind_committed(course: Course) -> int:
    found = course.states.replay(course.index, lineup(course.shown.config)["blind"])
    assert found is not None, "the round is drafted"
    return found.committed


def search(course: Course) -> Lesson:
    """The film: which node the search takes when."""
    stop, film = _stop(course), course.states.film(course.index, course.shown.config)
    assert film is not None, "the round is drafted"
    rows = course.view.nodes
    values = {
        "budget": str(course.shown.config.budget),
        "token": f"‘{rows[stop].full}’",
        "place": f"+{rows[stop].depth}",
        "taken": str(stop),
        "first": f"‘{rows[1].full}’",
        "waiting": str(film.steps[0].waiting),
        "score": decimal(course.round.tree.aligned[stop]),
    }
    return Lesson(values, {"kind": "film", "at": "start"}, (Question("number", stop),))


def mask(course: Course) -> Lesson:
    """What a row of the tree-attention mask sees."""
    stop, sees = _stop(course), seen_by(course.round.tree.parents)
    rows, filled = course.view.nodes, sum(map(len, sees))
    values = {
        "rows": str(len(sees)),
        "filled": str(filled),
        "share": f"{filled / len(sees) ** 2:.0%}",
        "node": str(stop),
        "token": f"‘{rows[stop].full}’",
        "sees": str(len(sees[stop])),
        "between": str(len(sees[stop]) - 2),
        "ms": f"{1000 * course.round.seconds.verify:.0f}",
    }
    return Lesson(values, {"kind": "film", "at": "end"}, (Question("number", len(sees[stop])),))


def verdict(course: Course) -> Lesson:
    """The path that the target accepts, and two lanes that the same noise makes write one text."""
    round_ = course.round
    stop = round_.accepted[-1] if round_.accepted else ROOT
    chances = dict(zip(round_.choice.top_ids, round_.choice.top_probs, strict=False))
    lanes = course.sampled or course.lanes
    if not {"presto", "ar"} <= lanes.keys():
        raise ValueError("This run has no two lanes to compare: choose a recorded run that has.")
    ours, plain = lanes["presto"], lanes["ar"]
    length = min(len_committed(ours), len_committed(plain))
    pairs = zip(output_ids(ours), output_ids(plain), strict=False)
    values = {
        "accepted": str(len(round_.accepted)),
        "committed": str(len(round_.committed)),
        "bonus": token(course.shown.pieces, round_.choice.token),
        "bonus_p": probability_text(chances.get(round_.choice.token)),
        "stop": f"‘{course.view.nodes[stop].full}’",
        "temperature": f"{ours.config.temperature:g}",
        "seed": str(ours.config.seed),
        "tokens": str(length),
        "rounds": str(len(ours.rounds)),
        "passes": str(len(plain.rounds)),
        "differ": str(sum(one != other for one, other in pairs)),
    }
    picture = {"kind": "verdict", "lanes": [_chips(ours), _chips(plain)]}
    asked = Question("node", stop), Question("number", int(values["differ"]))
    return Lesson(values, picture, asked, why_path(course))


def _chips(trace: Trace) -> list[list[list[str]]]:
    """The text of a lane by round: chips of text and how they came."""
    return [[[running(unit.text), unit.kind] for unit in text.units] for text in round_texts(trace)]
