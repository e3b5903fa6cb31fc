"""Why a round stopped: what the target wanted at the last node it reached, and what the tree
offered there.
"""

import math
from typing import Any, NamedTuple

import plotly.graph_objects as go

from presto.records import Round, Trace
from presto.records.tree import bonus_committed
from viz.numbers import ENDS
from viz.plot import Chart, Plot, bars, empty_plot, scatter
from viz.text import label, plotly_text
from viz.theme import LEGEND, LIGHT, MONO, SYMBOLS, Palette, axis, base_layout, corner
from viz.tree import probability_text
from viz.view import RoundView, view_of

EMPTY = "The target was not asked in this round."
DRAWN = 14  # rows: the target's eight and some of what was offered besides
NAMED = 3  # offered tokens spelled out in the sentence
FULL, SPELLED = 160, 24  # characters of a token in its card and in the sentence
HOVER = "<b>%{customdata[0]}</b> · id %{customdata[1]}<br>%{customdata[2]}<extra></extra>"


class Option(NamedTuple):
    """A token at the stopping node: among the target's first, offered by the tree, or both."""

    token: int
    label: str
    full: str
    spelled: str  # for the sentence
    probability: float | None  # at temperature 1; not recorded for a draw outside its first tokens
    offered: int | None  # the node
    source: str  # of that node: its rank in its position's marginal, or prompt lookup
    chosen: bool


class StoppingInfo(NamedTuple):
    """The target's first tokens, then its choice if it was none of them, then what else was
    offered, likeliest first.

    ``depth`` is the position of these tokens: one below the node where the round stopped.
    """

    options: tuple[Option, ...]
    depth: int
    verb: str  # "chose", or "drew" at a temperature above 0
    drafted: bool  # whether the tree has any node
    ended: str  # why the run ended before the target's own token, in words; empty if it did not


def _stop(round_: Round) -> int:
    return round_.accepted[-1] if round_.accepted else 0


def _offered(view: RoundView) -> dict[int, int]:
    """``token -> node`` of the stopping node's children, in order of expansion."""
    return {view.round.tree.tokens[node]: node for node in view.children[_stop(view.round)]}


def _source(view: RoundView, node: int) -> str:
    """Why the token could be offered: it is among the likeliest, or it was looked up."""
    rank = view.round.tree.rank[node]
    return f"q rank {rank + 1}" if rank < view.config.top_k else "looked up in the text so far"


def _option(view: RoundView, token: int, node: int | None) -> Option:
    round_, piece = view.round, view.pieces[token]
    tops = dict(zip(round_.choice.top_ids, round_.choice.top_probs, strict=False))
    offered = None if node is None else math.exp(min(round_.log_p[node], 0.0))
    return Option(
        token=token,
        label=label(piece),
        full=label(piece, FULL),
        spelled=label(piece, SPELLED),
        probability=tops.get(token, offered),
        offered=node,
        source="" if node is None else _source(view, node),
        chosen=token == round_.choice.token,
    )


def _get_stopping_info(view: RoundView) -> StoppingInfo:
    round_, offered = view.round, _offered(view)
    choice = round_.choice
    others = sorted(
        offered.keys() - {*choice.top_ids, choice.token},
        key=lambda token: -round_.log_p[offered[token]],
    )
    # Without either, the round ended with the exact token, before verification.
    asked = choice.top_ids or offered
    order = dict.fromkeys([*choice.top_ids, choice.token, *others]) if asked else {}
    return StoppingInfo(
        options=tuple(_option(view, token, offered.get(token)) for token in order),
        depth=view.nodes[_stop(round_)].depth + 1,
        verb="drew" if view.config.temperature > 0 else "chose",
        drafted=bool(view.drafted),
        ended="" if bonus_committed(round_) else ENDS[view.finish],
    )


def _words(option: Option, verb: str) -> str:
    chosen = "chosen" if verb == "chose" else "drawn"
    parts = [probability_text(option.probability)]
    parts += [f"{chosen} by the target"] * option.chosen
    parts += [] if option.offered is None else [f"offered, {option.source}"]
    return " · ".join(parts)


def _id(option: Option) -> str:
    """The node offered, if any. All differ: of the points with the same id Plotly draws only
    one.
    """
    return f":{option.token}" if option.offered is None else f"{option.offered}:"


def _bars(options: tuple[Option, ...], verb: str, ink: Palette) -> dict[str, Any]:
    words = [_words(option, verb) for option in options]
    return bars(
        x=[option.probability or 0.0 for option in options],
        y=list(range(len(options))),
        ids=[_id(option) for option in options],
        orientation="h",
        width=0.7,
        marker={"color": ink.beyond, "opacity": 0.45},
        text=[plotly_text(text) for text in words],
        textposition="outside",
        constraintext="none",
        textfont={"size": 11, "color": ink.ink},
        customdata=[
            [plotly_text(word) for word in (option.full, option.token, text)]
            for option, text in zip(options, words, strict=True)
        ],
        hovertemplate=HOVER,
        cliponaxis=False,
        showlegend=False,
    )


def _marks(
    rows: list[int], options: tuple[Option, ...], x: float, name: str, symbol: str, tint: str
) -> dict[str, Any]:
    """The same mark before each of these rows."""
    return scatter(
        x=[x] * len(rows),
        y=rows,
        ids=[_id(options[row]) for row in rows],
        mode="markers",
        marker={"symbol": symbol, "size": 11, "color": tint, "line": {"width": 2, "color": tint}},
        name=name,
        hoverinfo="skip",
        showlegend=bool(rows),
        cliponaxis=False,
    )


def _get_stopping_plot(info: StoppingInfo, ink: Palette = LIGHT) -> Plot:
    if not info.options:
        return empty_plot(ink, EMPTY)
    options = info.options[:DRAWN]
    span = max(max(option.probability or 0.0 for option in options), 0.01)
    chosen = [row for row, option in enumerate(options) if option.chosen]
    offered = [row for row, option in enumerate(options) if option.offered is not None]
    word = "chosen" if info.verb == "chose" else "drawn"
    traces = [
        _bars(options, info.verb, ink),
        _marks(chosen, options, -0.05 * span, f"{word} by the target", SYMBOLS["bonus"], ink.bonus),
        _marks(
            offered, options, -0.05 * span, "offered by the tree", SYMBOLS["rejected"], ink.rejected
        ),
    ]
    return Plot(
        traces, base_layout(ink) | _layout(options, len(info.options) - len(options), span, ink)
    )


def _layout(options: tuple[Option, ...], more: int, span: float, ink: Palette) -> dict[str, Any]:
    names = [plotly_text(option.label) for option in options]
    tickfont = {"family": MONO, "size": 11, "color": ink.ink}
    rows = {
        "range": [len(options) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": names,
    }
    return {
        "xaxis": axis(
            ink, range=[-0.1 * span, 1.8 * span], visible=False
        ),  # room for the words after the bars
        "yaxis": axis(ink, **rows, tickfont=tickfont, showgrid=False, automargin=True),
        "legend": LEGEND,
        "annotations": [corner(ink, f"+{more} more offered")] * (more > 0),
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
    }


def stopping_figure(trace: Trace, round: int = 0, ink: Palette = LIGHT) -> go.Figure:  # noqa: A002
    """Draw the target's first tokens where ``trace.rounds[round]`` stopped, its choice, and the
    tree's offer there.
    """
    return _get_stopping_plot(_get_stopping_info(view_of(trace, round)), ink).figure()


def _own(info: StoppingInfo) -> str:
    option = next(option for option in info.options if option.chosen)
    known = option.probability is not None
    chance = probability_text(option.probability) if known else "not among its first tokens"
    return f"the target {info.verb} “{option.spelled}” ({chance})"


def _get_stopping_sentence(info: StoppingInfo) -> str:
    if info.ended:
        return f"The run ended here: {info.ended}."
    if not info.options:
        return EMPTY
    own = _own(info)
    if not info.drafted:
        return f"Nothing was drafted in this round: {own}."
    offered = [f"“{option.spelled}”" for option in info.options if option.offered is not None]
    if not offered:
        return f"Stopped at the end of the tree: nothing was drafted below; {own}."
    more = f" and {len(offered) - NAMED} more" if len(offered) > NAMED else ""
    return (
        f"Stopped at depth {info.depth}: {own}, the tree offered "
        f"{', '.join(offered[:NAMED])}{more} there."
    )


def stopping_sentence(trace: Trace, round: int = 0) -> str:  # noqa: A002
    """Why the round stopped, in words. The depth named is that of the tokens the target chose
    among.
    """
    return _get_stopping_sentence(_get_stopping_info(view_of(trace, round)))


CHART = Chart(
    name="stopping",
    title="Why it stopped",
    lead="the target's own choice where the round ended, beside what the tree offered",
    label="The target's likeliest tokens at the node where the round stopped, and the children "
    "offered there.",
    info=_get_stopping_info,
    plot=_get_stopping_plot,
    sentence=_get_stopping_sentence,
)
