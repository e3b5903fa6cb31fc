"""Chapters one to four: one token at a time, a draft and its check, marginals, their nonsense."""

from collections.abc import Mapping, Sequence
from math import exp

from presto.records import Piece, Trace
from presto.records.measures import len_committed, round_seconds, total_seconds, totals
from presto.records.tree import kept
from viz.formula import decimal
from viz.lesson.course import Course, Lesson, Question, known_probability, token
from viz.marginals import _get_marginals_info, _get_marginals_plot
from viz.text import join, labels, round_texts, running
from viz.tree import probability_text
from viz.view import view_of

WRITTEN = 24  # tokens that the reader may write one by one
GOAL = 6  # of them, so many are the task
STEPS = 6  # rounds of a single path that the reader may step through
OFFERED, POSITIONS = 5, 8  # candidates and positions that the reader may choose from


def milliseconds(seconds: float) -> str:
    """Whole milliseconds."""
    return f"{1000 * seconds:.0f}"


def one_by_one(course: Course) -> Lesson:
    """Plain decoding: every token costs a pass."""
    plain = course.lane("ar")
    rounds, texts = plain.rounds, round_texts(plain)
    shown = [
        ["".join(running(unit.text) for unit in text.units), milliseconds(round_seconds(round_))]
        for round_, text in zip(rounds[:WRITTEN], texts, strict=False)
    ]
    passes = sum(round_.forwards for round_ in rounds)
    values = {
        "goal": str(min(GOAL, len(shown))),
        "tokens": str(len_committed(plain)),
        "passes": str(passes),
        "ms": milliseconds(total_seconds(plain) / passes),
        "seconds": f"{total_seconds(plain):.1f}",
        "rate": f"{totals(plain).tokens_per_second:.1f}",
    }
    return Lesson(values, {"kind": "writer", "steps": shown}, (Question("number", passes),))


def _single_path(trace: Trace, index: int) -> dict[str, object]:
    """A round of linear drafting: its guess with the target's probabilities, what it keeps."""
    round_, view = trace.rounds[index], view_of(trace, index)
    own = set(kept(round_))
    return {
        "draft": [
            [row.full, probability_text(row.probability), row.node in own] for row in view.drafted
        ],
        "text": "".join(running(unit.text) for unit in view.text.units),
        "kept": len(own),
        "committed": len(round_.committed),
    }


def draft_and_verify(course: Course) -> Lesson:
    """A whole guess, checked by one pass."""
    linear, plain = course.lane("linear"), course.lane("ar")
    places = range(min(STEPS, len(linear.rounds)))
    most = max(places, key=lambda i: (len(kept(linear.rounds[i])), -i))
    steps = [_single_path(linear, i) for i in places]
    verify = sum(round_.seconds.verify for round_ in linear.rounds) / len(linear.rounds)
    values = {
        "round": str(most + 1),
        "drafted": str(len(linear.rounds[most].tree.tokens) - 1),
        "kept": str(len(kept(linear.rounds[most]))),
        "committed": str(len(linear.rounds[most].committed)),
        "rounds": str(len(linear.rounds)),
        "tokens": str(len_committed(linear)),
        "tau": f"{totals(linear).acceptance_length:.1f}",
        "verify": milliseconds(verify),
        "ms": milliseconds(total_seconds(plain) / len(plain.rounds)),
    }
    view = view_of(linear, most)
    why = tuple(
        (f"‘{row.full}’", probability_text(row.probability), row.status) for row in view.drafted
    )
    picture = {"kind": "rounds", "steps": steps, "asked": most}
    return Lesson(values, picture, (Question("number", len(kept(linear.rounds[most]))),), why)


def _candidate(piece: Piece, log_q: float, number: int) -> dict[str, object]:
    return {
        "labels": labels(piece),
        "q": probability_text(exp(min(log_q, 0.0))),
        "share": round(exp(min(log_q, 0.0)), 4),
        "log_q": decimal(log_q),
        "token": number,
    }


def columns(
    course: Course, offered: int = OFFERED, positions: int = POSITIONS
) -> list[list[dict[str, object]]]:
    """The first candidates of the first positions, likeliest first."""
    drafted, pieces = course.round.marginals, course.shown.pieces
    return [
        [
            _candidate(pieces[number], log_q, number)
            for number, log_q in list(zip(ids, logs, strict=True))[:offered]
        ]
        for ids, logs in list(zip(drafted.token_ids, drafted.log_q, strict=True))[:positions]
    ]


def marginals(course: Course) -> Lesson:
    """One distribution per position, none of which knows the others."""
    drafted = course.round.marginals
    first = [exp(min(logs[0], 0.0)) for logs in drafted.log_q]
    names = tuple(f"+{depth}" for depth in range(1, len(first) + 1))
    unsure = min(range(len(first)), key=lambda depth: (first[depth], depth))
    sure = max(range(len(first)), key=lambda depth: (first[depth], -depth))
    values = {
        "positions": str(len(first)),
        "topk": str(len(drafted.token_ids[0])),
        "goal": str(min(3, len(columns(course)))),
        "sure": names[sure],
        "sure_q": probability_text(first[sure]),
        "unsure": names[unsure],
        "unsure_q": probability_text(first[unsure]),
        "ms": milliseconds(course.round.seconds.draft),
    }
    info = _get_marginals_info(course.view)
    picture = {
        "kind": "columns",
        "mode": "look",
        "columns": columns(course),
        "plot": _get_marginals_plot(info)._asdict(),
    }
    question = Question("choice", names[unsure], names)
    return Lesson(values, picture, (question,))


def nonsense(course: Course) -> Lesson:
    """The best token at every position, and what the target wrote there."""
    best = [ids[0] for ids in course.round.marginals.token_ids]
    text, pieces = course.continuation, course.shown.pieces
    agreed = next(
        (i for i, (ours, theirs) in enumerate(zip(best, text, strict=False)) if ours != theirs),
        min(len(best), len(text)),
    )
    shown = columns(course)
    why = []
    for place, number in enumerate(best[: agreed + 1]):
        path = tuple(best[: place + 1])
        status = "accepted" if place < agreed else "rejected"
        why.append((token(pieces, number), known_probability(course, path), status))
    written = text[: len(shown)]
    values = {
        "positions": str(len(best)),
        "picked": str(len(shown)),
        "agreed": str(agreed),
        "wrote": _joined(pieces, written),
        "guess": _joined(pieces, best[: len(shown)]),
        "lost": token(pieces, best[agreed]) if agreed < len(best) else "–",
        "wanted": token(pieces, text[agreed]) if agreed < len(text) else "–",
    }
    picture = {"kind": "columns", "mode": "best", "columns": shown}
    return Lesson(values, picture, (Question("number", agreed),), tuple(why))


def _joined(pieces: Mapping[int, Piece], numbers: Sequence[int]) -> str:
    return running(join([pieces[number] for number in numbers]))
