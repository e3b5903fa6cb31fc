"""The run that a lesson speaks of, and the shape of what a chapter knows of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from presto.records import Method, Piece, Round, Trace, changed
from presto.records.tree import spelled
from presto.runs.counterfactuals import lineup
from presto.runs.states import Replayed, States
from viz.text import full_label
from viz.tree import probability_text
from viz.view import RoundView, view_of

FEWEST = 3  # drafted tokens that the round of a lesson accepts, if any of the run does
NO_LANE = "This run has no lane “{}”, which this chapter needs: choose a recorded run that has."


@dataclass(frozen=True)
class Course:
    """A recorded run under a title; ``index`` is the round that the lesson looks at."""

    title: str
    key: str  # what the server knows the run by
    shown: Trace
    lanes: Mapping[Method, Trace]
    states: States
    index: int
    sampled: Mapping[Method, Trace]  # the lanes of a run with noise; none where none is recorded

    def lane(self, method: Method) -> Trace:
        """The run by that method; ``ValueError`` where it was not recorded."""
        if method not in self.lanes:
            raise ValueError(NO_LANE.format(method))
        return self.lanes[method]

    @property
    def round(self) -> Round:
        """The round that the lesson looks at."""
        return self.shown.rounds[self.index]

    @property
    def view(self) -> RoundView:
        """The same as figures see it."""
        return view_of(self.shown, self.index)

    @property
    def continuation(self) -> list[int]:
        """What the target went on to write below the round's root."""
        return self.states.text[self.states.root(self.index) + 1 :]

    def replay(self, **changes: Any) -> Replayed:
        """The round under other settings."""
        found = self.states.replay(self.index, changed(self.shown.config, changes))
        assert found is not None, "the round is drafted"
        return found


class Question(NamedTuple):
    """What the page asks. ``kind`` is number, choice or node; of a choice ``options`` are the keys,
    worded in the texts, or their own words where they are tokens or positions.
    """

    kind: str
    answer: Any
    options: tuple[str, ...] = ()


class Lesson(NamedTuple):
    """What a chapter knows: ``values`` fill its texts, ``picture`` and ``questions`` its page.

    ``why`` explains the answer: tokens, each with the target's probability and whether it was kept.
    """

    values: dict[str, str]
    picture: dict[str, Any]
    questions: tuple[Question, ...]
    why: tuple[tuple[str, str, str], ...] = ()


def telling_round(trace: Trace, states: States) -> int:
    """The round where the tree gains most on the blind one, of those that accept some tokens."""
    own, blind = trace.config, lineup(trace.config)["blind"]
    best, found = (-1, -1, -1), 0
    for index, round_ in enumerate(trace.rounds[:-1] or trace.rounds):
        ours, theirs = states.replay(index, own), states.replay(index, blind)
        if ours is None or theirs is None or len(round_.tree.tokens) < 2:
            continue
        count = len(ours.accepted)
        gained = (min(count, FEWEST), ours.committed - theirs.committed, count)
        if gained > best:
            best, found = gained, index
    return found


def another_round(course: Course) -> int:
    """A round whose verdict no other chapter has told: the one that accepts most, of the rest."""
    drafted = [
        (len(round_.accepted), -index)
        for index, round_ in enumerate(course.shown.rounds[:-1])
        if index != course.index and course.states.is_drafted(index) and round_.accepted
    ]
    return -max(drafted)[1] if drafted else course.index


def token(pieces: Mapping[int, Piece], number: int) -> str:
    """A token in quotation marks that need no language."""
    return f"‘{full_label(pieces[number])}’"


def why_path(course: Course) -> tuple[tuple[str, str, str], ...]:
    """The accepted path and the bonus, each with the target's own probability."""
    rows = {row.node: row for row in course.view.nodes}
    kept = [rows[node] for node in course.round.accepted]
    bonus = [row for row in course.view.nodes if row.status == "bonus"]
    return tuple(
        (f"‘{row.full}’", probability_text(row.probability), row.status) for row in (*kept, *bonus)
    )


def known_probability(course: Course, path: tuple[int, ...]) -> str:
    """The target's probability of the last token of ``path`` (without the root), if it was asked;
    empty otherwise.
    """
    asked = {below: node for node, below in enumerate(spelled(course.round.tree))}
    node = asked.get(path)
    return probability_text(course.view.nodes[node].probability) if node else ""
