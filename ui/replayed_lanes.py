"""Lanes without decoding: the trees that other settings would have built at a run's own states."""

from collections.abc import Mapping
from typing import Any

from presto.records import DecodeConfig, Trace
from presto.records.measures import committed_counts
from presto.runs.events import events_of
from presto.runs.states import FREE, States
from presto.runs.variants import PLAIN, TITLES
from ui.compare_payload import ComparePayload
from ui.lanes import Lane
from ui.payload import Value, dump, units_of
from ui.questions import Question, asked, check_work
from viz.lanes import scorer_words
from viz.replayed import replayed_view
from viz.small_trees import small_tree, small_tree_words

MARK = "replayed at lane 1’s states"
NO_LANES = "choose at least one lane that drafts: nothing else can be replayed"


def replayed_value(run: Trace, lanes: Mapping[str, Lane]) -> Value:
    """The payload of a finished ``run`` as lane 1, and of a replay for every lane that drafts: the
    run's own settings with the lane's score and search. ``ValueError`` if there is none, or one
    cannot be replayed.
    """
    questions = {
        name: asked(run, _free(run.config, lane))
        for name, lane in lanes.items()
        if lane.method != PLAIN
    }
    if not questions:
        raise ValueError(NO_LANES)
    check_work(sum(len(run.rounds) * one.config.budget for one in questions.values()))
    payload = ComparePayload("replayed", "", [TITLES[run.method]])
    for event in events_of(run):
        payload.take(0, event)
    value = payload.value()
    return value | {"lanes": [*value["lanes"], *(_lane(*one) for one in questions.items())]}


def _free(own: DecodeConfig, lane: Lane) -> dict[str, Any]:
    """What the lane changes that a replay can; with ``auto`` it keeps the run's budget."""
    names = FREE - {"budget"} if lane.auto else FREE
    wanted = {name: getattr(lane.config, name) for name in names}
    return {name: value for name, value in wanted.items() if value != getattr(own, name)}


def _lane(name: str, question: Question) -> dict[str, Any]:
    """One replayed lane: a tree per round, what it would have committed, and their mean."""
    states, config = question.states, question.config
    ends = committed_counts(question.trace)
    rounds = [_round(states, i, config) | {"end": end} for i, end in enumerate(ends)]
    mean = sum(one["committed"] for one in rounds) / max(1, len(rounds))
    cells = {
        "scorer": scorer_words(config),
        "draft": f"{config.budget} nodes, {config.draft_length} positions",
        "τ": f"{mean:.2f}",
        "text": MARK,
    }
    head = {"name": name, "cells": cells, "mark": MARK}
    return {"head": dump(head), "rounds": [dump(one) for one in rounds], "alternatives": "[]"}


def _round(states: States, index: int, config: DecodeConfig) -> dict[str, Any]:
    """A round as ``GrowingLane`` has it, with what the replayed tree would have committed; the
    run's own where nothing was drafted.
    """
    own, found = states.trace.rounds[index], states.replay(index, config)
    if found is None:
        return {"units": [], "tree": None, "words": "", "committed": len(own.committed)}
    view = replayed_view(states, index, found, config)
    return {
        "units": units_of(view.text.units),
        "tree": small_tree(view)._asdict(),
        "words": small_tree_words(view),
        "committed": found.committed,
    }
