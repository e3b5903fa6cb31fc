"""What a lane of Compare is to run: a method, scorer or search by its title, and where the visitor
says so, a λ, budget and search of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gradio as gr

from presto.records import DecodeConfig, quoted, settings
from presto.runs.requests import change_config, method_of, without_method
from presto.runs.variants import PLAIN, variants
from presto.scorers import SCORERS
from presto.searches import SEARCHES
from ui.lanes import Lane

NO_LANE, OF_EXPLORE = "–", "settings of Explore"
AS_CHOSEN = "as chosen above"
FIRST = ("autoregressive", "linear", "blind tree", OF_EXPLORE)


class LaneForm(NamedTuple):
    """The controls' values of one lane: its title on offer, and what it has of its own, if it has:
    numbers as they are typed.
    """

    title: str
    lam: str = ""
    budget: str = ""
    search: str = AS_CHOSEN

    @property
    def own(self) -> dict[str, Any]:
        """The settings that are the lane's own. ``ValueError`` for what is no number."""
        typed = {"lam": self.lam.strip(), "budget": self.budget.strip()}
        own: dict[str, Any] = {name: _number(name, text) for name, text in typed.items() if text}
        return own | ({} if self.search == AS_CHOSEN else {"search": self.search})

    @property
    def name(self) -> str:
        """The lane's title with what it has of its own."""
        said = {"lam": "λ {:g}", "budget": "budget {}", "search": "{}"}
        return ", ".join([self.title, *(said[n].format(v) for n, v in self.own.items())])

    def lane(self, offered: dict[str, Lane]) -> Lane:
        """What to decode. ``ValueError`` names a setting that the lane cannot have."""
        lane, own = offered[self.title], self.own
        if not own:
            return lane
        if unused := sorted(own.keys() - usable(lane)):
            title = settings()[unused[0]].title
            raise ValueError(f"{self.title} has no use for a setting {title!r} of its own")
        config = change_config(lane.config, own)
        return Lane(method_of(config), config, lane.auto and "budget" not in own)


def _number(name: str, text: str) -> float:
    """The number that was typed for a setting."""
    setting = settings()[name]
    try:
        return setting.type(text)  # type: ignore[no-any-return]
    except ValueError:
        kind = "a whole number" if setting.type is int else "a number"
        raise ValueError(
            f"{setting.title} of a lane: expected {kind}, got {quoted(text)}"
        ) from None


def usable(lane: Lane) -> set[str]:
    """Which settings a lane of its kind can have of its own."""
    if lane.method == PLAIN or SEARCHES.find(lane.config.search).single_path:
        return set()
    return {"budget", "search"} | ({"lam"} if SCORERS.find(lane.config.scorer).uses_lam else set())


def forms(values: Sequence[Any]) -> Iterator[LaneForm]:
    """The forms of the controls' values, lane after lane."""
    size = len(LaneForm._fields)
    return (LaneForm(*values[i : i + size]) for i in range(0, len(values), size))


def values_of_lanes(titles: Sequence[str]) -> list[Any]:
    """The controls' values of lanes without settings of their own."""
    return [value for title in titles for value in LaneForm(title)]


def lanes_on_offer(explore: Lane) -> dict[str, Lane]:
    """What a lane may run, by title: what Explore's controls ask for (``explore``), and every
    method, scorer and search with the other settings they ask for.

    With ``auto`` each has a budget of its own, as in ``presto bench``.
    """
    base = without_method(explore.config)
    others = {v.title: Lane(v.method, v.config(base), explore.auto) for v in variants().values()}
    return {OF_EXPLORE: explore} | others


def lanes_of(values: Sequence[Any], explore: Lane) -> dict[str, Lane]:
    """The lanes to run by name, each once, in order; ``values`` are those of all forms.
    ``ValueError`` names a setting that a lane cannot have.
    """
    offered = lanes_on_offer(explore)
    chosen = [form for form in forms(values) if form.title in offered]
    return {form.name: form.lane(offered) for form in chosen}


def lane_controls() -> list[gr.components.Component]:
    """A form per lane: what it runs, and folded, what it has of its own."""
    offered = [NO_LANE, *lanes_on_offer(Lane("presto", DecodeConfig()))]
    return [part for i, title in enumerate(FIRST) for part in _form(i + 1, title, offered)]


def _form(number: int, title: str, offered: list[str]) -> list[gr.components.Component]:
    with gr.Column(min_width=150):
        chosen = gr.Dropdown(offered, value=title, label=f"Lane {number}")
        with gr.Accordion(f"Lane {number}, settings of its own", open=False):
            own = [_typed(name, number) for name in ("lam", "budget")]
            search = gr.Dropdown(
                [AS_CHOSEN, *SEARCHES], value=AS_CHOSEN, label=f"Search, lane {number}"
            )
    return [chosen, *own, search]


def _typed(name: str, lane: int) -> gr.Textbox:
    """A number that is as chosen above while nothing is typed. (Gradio's own field for numbers
    turns nothing into 0.)
    """
    label = f"{settings()[name].title}, lane {lane}"
    return gr.Textbox("", label=label, placeholder=AS_CHOSEN, max_lines=1)


VALUES = len(FIRST) * len(LaneForm._fields)  # of all forms
