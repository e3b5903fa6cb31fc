"""What other settings would have committed at the states of a run, in one round or on average."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from presto.models.tables import table_of
from presto.records import Round, Trace, Tree
from presto.records.tree import ranks
from presto.runs.counterfactuals import Rival, counterfactuals, reproduced
from viz.text import plotly_text
from viz.theme import LIGHT, Palette, axis, base_layout, empty_figure

BARS = "%{customdata}: %{x:.4~g} tokens<extra></extra>"
NOT_DRAFTED = "Nothing was drafted here, so no setting could have done otherwise."
THIS_ROUND, ALL_ROUNDS = (
    "tokens this round would commit",
    "tokens per round, at this run’s own states",
)


def rivals_of(trace: Trace) -> list[tuple[Rival, ...]]:
    """Per round of a finished run what the default rivals would have committed; empty if no replay
    is exact.
    """
    table = table_of(trace.system)
    if table is None or not reproduced(trace, table):
        return []
    return list(counterfactuals(trace, table))


def rivals_sentence(rivals: Sequence[Rival]) -> str:
    """The round's outcome in words: how many settings would have committed more, as much, or
    less.
    """
    own = next((rival.committed for rival in rivals if rival.own), 0)
    more = [rival.name for rival in rivals if rival.committed > own]
    less = [rival.name for rival in rivals if rival.committed < own]
    if not more and not less:
        return f"All settings would have committed {own} here."
    parts = [f"more with {', '.join(more)}"] * bool(more) + [f"less with {', '.join(less)}"] * bool(
        less
    )
    return f"This run committed {own}; {'; '.join(parts)}."


def only_own(round_: Round, rivals: Sequence[Rival]) -> list[int]:
    """Nodes of the round's tree that the blind tree of the same budget does not have."""
    blind = next((rival.tree for rival in rivals if rival.name == "blind"), None)
    if blind is None:
        return []
    theirs = set(_spelled(blind))
    return [node for node, path in enumerate(_spelled(round_.tree)) if node and path not in theirs]


def missing_nodes(round_: Round, rivals: Sequence[Rival]) -> list[tuple[tuple[int, ...], int]]:
    """Paths (tokens from depth 1 on) that only the blind tree has, each with its rank there by
    blind score.
    """
    blind = next((rival.tree for rival in rivals if rival.name == "blind"), None)
    if blind is None:
        return []
    ours, place = set(_spelled(round_.tree)), ranks(blind.blind)
    return [
        (path, place[node] or 0)
        for node, path in enumerate(_spelled(blind))
        if node and path not in ours
    ]


def _spelled(tree: Tree) -> list[tuple[int, ...]]:
    """Every node's tokens from depth 1 down to it."""
    spelled: list[tuple[int, ...]] = [()]
    for token, parent in zip(tree.tokens[1:], tree.parents[1:], strict=True):
        spelled.append((*spelled[parent], token))
    return spelled


class RivalsInfo(NamedTuple):
    """A bar per setting: tokens committed, in one round or on average over ``rounds`` of them;
    empty without any.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    own: tuple[bool, ...]
    rounds: int


def _get_rivals_info(rivals: Sequence[Rival]) -> RivalsInfo:
    names, own = tuple(rival.name for rival in rivals), tuple(rival.own for rival in rivals)
    return RivalsInfo(
        names, tuple(float(rival.committed) for rival in rivals), own, int(bool(rivals))
    )


def _get_rivals_total_info(per_round: Sequence[Sequence[Rival]]) -> RivalsInfo:
    drafted = [rivals for rivals in per_round if rivals]
    if not drafted:
        return RivalsInfo((), (), (), 0)
    sums = [sum(rival.committed for rival in column) for column in zip(*drafted, strict=True)]
    first = _get_rivals_info(drafted[0])
    return first._replace(values=tuple(total / len(drafted) for total in sums), rounds=len(drafted))


def _bars(info: RivalsInfo, own: bool, ink: Palette) -> go.Bar:
    """The run's own bar, or all others."""
    rows = [i for i, mine in enumerate(info.own) if mine == own]
    said = ", this run’s own" if own else ""
    return go.Bar(
        x=[info.values[i] for i in rows],
        y=rows,
        orientation="h",
        customdata=[plotly_text(info.names[i]) + said for i in rows],
        text=[f"{info.values[i]:.3g}" for i in rows],
        textposition="outside",
        textfont={"size": 11, "color": ink.ink},
        marker={
            "color": ink.accepted if own else ink.grid,
            "line": {"color": ink.muted, "width": 0 if own else 1},
        },
        hovertemplate=BARS,
        cliponaxis=False,
        showlegend=False,
    )


def _get_rivals_plot(info: RivalsInfo, title: str, ink: Palette = LIGHT) -> go.Figure:
    if not info.names:
        return empty_figure(ink, NOT_DRAFTED)
    names = [plotly_text(name) for name in info.names]
    marked = [
        f"<b>{name} ◂</b>" if own else name for name, own in zip(names, info.own, strict=True)
    ]
    words = {"text": title, "font": {"size": 11, "color": ink.muted}, "standoff": 4}
    rows = {
        "range": [len(names) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": marked,
    }
    layout = base_layout(ink) | {
        "barmode": "overlay",
        "bargap": 0.35,
        "xaxis": axis(
            ink, range=[0, (max(info.values) or 1) * 1.12], automargin=True, nticks=6, title=words
        ),
        "yaxis": axis(ink, automargin=True, showgrid=False, **rows),
    }
    return go.Figure([_bars(info, False, ink), _bars(info, True, ink)], layout)


def rivals_figure(
    per_round: Sequence[Sequence[Rival]],
    round: int = 0,  # noqa: A002
    ink: Palette = LIGHT,
) -> go.Figure:
    """Draw how many tokens each setting would have committed in this round; the run's own setting
    is marked.
    """
    return _get_rivals_plot(_get_rivals_info(per_round[round]), THIS_ROUND, ink)


def rivals_total_figure(per_round: Sequence[Sequence[Rival]], ink: Palette = LIGHT) -> go.Figure:
    """Draw the mean over all rounds of what each setting would have committed at this run's own
    states.

    Not the τ of a run of its own, which goes through other states.
    """
    return _get_rivals_plot(_get_rivals_total_info(per_round), ALL_ROUNDS, ink)
