"""How large the parts of a record may be.

A record comes from anyone and is drawn by a server. Its bounds are those of what a run can produce
at the ends of its settings, so that a file which no run can have written is refused while it is
read.
"""

from typing import Annotated

from pydantic import Field

MAX_BUDGET = 1024  # nodes of a tree, the root not counted
MAX_DEPTH = 31  # drafted positions of a round: a block of 32 without its anchor
MAX_WIDTH = 64  # candidates per position
MAX_RECORDED = MAX_WIDTH + 1  # of them in a record: one may have been looked up
MAX_NEW_TOKENS = 8192
MAX_ROUNDS = MAX_NEW_TOKENS + 1  # each commits a token, but one that meets the end of the text
MAX_COMMITTED = MAX_DEPTH + 2  # of a round: exact token, accepted path, bonus
MAX_PIECE = 512  # characters or bytes of a token; the longest of public vocabularies have 128
MAX_OUTPUT = 1 << 20  # characters of a run's text
MAX_PROMPT_CHARACTERS = 20_000
MAX_LANES = 16  # runs of a recording
MAX_TITLE, MAX_NOTE = 1000, 4000  # characters

TokenId = Annotated[int, Field(ge=0, lt=2**31)]
LogProb = Annotated[float, Field(ge=-1e4, le=0)]  # kernels take its exponential
LogRatio = Annotated[float, Field(ge=-1e4, le=1e4)]  # ``plain`` clips to the same range
PathScore = Annotated[float, Field(ge=-1e7, le=1e7)]  # a weighted sum of both over a path
Probability = Annotated[float, Field(ge=0, le=1.001)]  # rounding may pass 1
Amount = Annotated[float, Field(ge=-1e9, le=1e9)]  # seconds; a difference of logits
Count = Annotated[int, Field(ge=0, le=10**6)]
Name = Annotated[str, Field(max_length=MAX_TITLE)]
Words = Annotated[str, Field(max_length=MAX_NOTE)]
# A token's text, or its bytes where they are not UTF-8 on their own.
Piece = (
    Annotated[str, Field(max_length=MAX_PIECE)]
    | Annotated[tuple[Annotated[int, Field(ge=0, le=255)], ...], Field(max_length=MAX_PIECE)]
)
