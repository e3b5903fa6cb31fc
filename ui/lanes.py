"""What a visitor wants decoded."""

from typing import NamedTuple

from presto.records import DecodeConfig, Method


class Lane(NamedTuple):
    """One decoding of the prompt."""

    method: Method
    config: DecodeConfig
