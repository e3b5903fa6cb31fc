"""Made-up values: what a program may send for a field, right or not."""

from typing import Any

from hypothesis import strategies as st

from presto.models.catalogue import names
from presto.records import DecodeConfig, settings
from presto.runs.requests import METHODS
from presto.scorers import SCORERS
from presto.searches import SEARCHES

any_text = st.text(st.characters(), max_size=30)  # half surrogate pairs included
numbers = (
    st.integers() | st.floats() | st.sampled_from((0, -1, 2**31, 2**53, 2**63, 10**400, 1e308))
)
scalars = st.none() | st.booleans() | numbers | any_text
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=8,
)
strange_text = any_text | st.sampled_from(
    (
        "",
        " ",
        "\n",
        "\u200b",
        "\ud800",
        "x" * 20_001,
        "<|im_end|>",
        "nan",
        "1e999",
        "0x10",
        "٣",
        "True",
    )
)


def _right(name: str) -> st.SearchStrategy[Any]:
    """Values of a setting that are in its range."""
    setting = settings()[name]
    known = {"scorer": sorted(SCORERS), "search": sorted(SEARCHES)}.get(name)
    if known:
        return st.sampled_from(known)
    if setting.type is bool:
        return st.booleans()
    if setting.low is not None and setting.high is not None:
        low, high = setting.low, setting.high
        ends = st.sampled_from((high, low) if not setting.open_low else (high,))
        if setting.type is int:
            return st.integers(int(low), int(high)) | ends.map(int)
        return st.floats(low, high, exclude_min=setting.open_low) | ends.map(float)
    return st.just(setting.default)


_FIELDS = tuple(DecodeConfig.__dataclass_fields__)
_right_values = st.fixed_dictionaries({}, optional={name: _right(name) for name in _FIELDS})
_wrong_values = st.dictionaries(
    st.sampled_from(_FIELDS) | any_text,
    json_values | st.lists(strange_text, max_size=3),
    max_size=2,
)
config_values = st.tuples(_right_values, _wrong_values).map(lambda both: both[0] | both[1])


def _mostly(right: st.SearchStrategy[Any], wrong: st.SearchStrategy[Any]) -> Any:
    return st.sampled_from(range(8)).flatmap(lambda number: wrong if number == 5 else right)


prompts = _mostly(st.sampled_from(("hi", "Why is the sky blue?")), strange_text | json_values)
methods = _mostly(st.sampled_from(sorted(METHODS)), json_values)
systems = _mostly(st.sampled_from(("", *names()[:3])), st.sampled_from(names()) | json_values)
lanes = st.lists(
    _mostly(
        st.fixed_dictionaries({"method": methods}, optional={"settings": config_values}),
        json_values | st.fixed_dictionaries({"settings": json_values}),
    ),
    max_size=5,
)
queries = st.dictionaries(
    st.sampled_from(("run", "prompt", "system", "round", "own", *DecodeConfig.__dataclass_fields__))
    | any_text,
    strange_text | numbers.map(str) | st.sampled_from((*names(), *SCORERS, *SEARCHES)),
    max_size=6,
)
