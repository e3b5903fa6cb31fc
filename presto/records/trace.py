"""What a run leaves behind: frozen plain-data records.

Nothing here knows a tensor. Numbers that follow from others (depth, rank, acceptance length,
speed-up) are functions over these records (``presto.records.tree``, ``presto.records.measures``),
never stored beside them.
"""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from presto.records.bounds import (
    MAX_BUDGET,
    MAX_COMMITTED,
    MAX_DEPTH,
    MAX_OUTPUT,
    MAX_PROMPT_CHARACTERS,
    MAX_RECORDED,
    MAX_ROUNDS,
    Amount,
    Count,
    LogProb,
    LogRatio,
    Name,
    PathScore,
    Piece,
    Probability,
    TokenId,
    Words,
)
from presto.records.config import STRICT, DecodeConfig
from presto.records.tuning import Tuning

Method = Literal["ar", "linear", "blind", "presto", "presto+"]
Finish = Literal["eos", "stop", "length", "stopped"]
Verdict = Literal["root", "accepted", "rejected", "beyond"]
ROOT, NO_PARENT = 0, -1  # of a tree: the anchor's place in its arrays, and what it has for a parent
Nodes = Field(max_length=1 + MAX_BUDGET)  # of an array over the nodes of a tree
Positions = Field(max_length=MAX_DEPTH)  # of an array over drafted positions
Ranks = Field(max_length=MAX_RECORDED)  # of an array over candidates of one position
NGRAM = "ngram"  # the role of a static n-gram table in ``Trace.models``


@dataclass(frozen=True, config=STRICT)
class Marginals:
    """The drafter's prefix-blind distributions: per drafted position its top-K tokens, likeliest
    first.

    ``token_ids`` and ``log_q`` are ``[D, K]``; ``log_q`` is normalised over the whole vocabulary
    (natural logarithm).
    """

    token_ids: Annotated[tuple[Annotated[tuple[TokenId, ...], Ranks], ...], Positions] = ()
    log_q: Annotated[tuple[Annotated[tuple[LogProb, ...], Ranks], ...], Positions] = ()

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        widths = {len(row) for row in (*self.token_ids, *self.log_q)}
        if len(self.token_ids) != len(self.log_q) or len(widths) > 1:
            raise ValueError("token_ids and log_q must both be [D, K]")
        return self


@dataclass(frozen=True, config=STRICT)
class Tree:
    """A draft tree as parallel arrays ``[N + 1]``. Node 0 is the anchor; node index = order of
    expansion.

    ``log_q`` and ``log_rho`` belong to the node itself, ``blind`` and ``aligned`` are path sums
    from the root. ``rank[i]`` is the token's 0-based rank in its position's marginal. The root's
    numbers are 0.
    """

    tokens: Annotated[tuple[TokenId, ...], Nodes]
    parents: Annotated[tuple[int, ...], Nodes] = (NO_PARENT,)
    rank: Annotated[tuple[Count, ...], Nodes] = (0,)
    log_q: Annotated[tuple[LogProb, ...], Nodes] = (0.0,)
    log_rho: Annotated[tuple[LogRatio, ...], Nodes] = (0.0,)
    blind: Annotated[tuple[PathScore, ...], Nodes] = (0.0,)
    aligned: Annotated[tuple[PathScore, ...], Nodes] = (0.0,)

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        lengths = {
            len(part)
            for part in (
                self.tokens,
                self.parents,
                self.rank,
                self.log_q,
                self.log_rho,
                self.blind,
                self.aligned,
            )
        }
        if lengths != {len(self.tokens)} or not self.tokens:
            raise ValueError(f"the tree's arrays must have one length, got {sorted(lengths)}")
        if self.parents[ROOT] != NO_PARENT:
            raise ValueError(f"the root's parent must be {NO_PARENT}, got {self.parents[ROOT]}")
        depth = [0]
        for i, parent in enumerate(self.parents[1:], start=1):
            if not 0 <= parent < i:
                raise ValueError(f"parent of node {i} must lie in 0..{i - 1}, got {parent}")
            depth.append(depth[parent] + 1)
        if max(depth) > MAX_DEPTH:
            raise ValueError(f"the tree has depth {max(depth)}, at most {MAX_DEPTH} are allowed")
        return self


@dataclass(frozen=True, config=STRICT)
class Stages:
    """Seconds spent in each stage of a round."""

    draft: Amount = 0.0
    score: Amount = 0.0
    search: Amount = 0.0
    mask: Amount = 0.0
    verify: Amount = 0.0
    commit: Amount = 0.0


@dataclass(frozen=True, config=STRICT)
class Choice:
    """The target's decision at the node where a round stopped: its pick, and its top tokens at
    temperature 1.
    """

    token: TokenId
    top_ids: Annotated[tuple[TokenId, ...], Ranks] = ()
    top_probs: Annotated[tuple[Probability, ...], Ranks] = ()


@dataclass(frozen=True, config=STRICT)
class Round:
    """One draft-verify-commit cycle (an autoregressive step is a round with an empty tree).

    ``start`` counts the tokens (prompt and output) committed before the round. ``exact`` is the
    token that a self-speculative draft pass commits at once; it is then the tree's root, otherwise
    the root is the last committed token. ``log_p [N + 1]`` is the target's log-probability of each
    node at temperature 1 (root: 0). ``accepted`` lists the accepted nodes from the root down.
    ``committed`` is what the round emitted: exact, accepted tokens and bonus, cut at EOS, stop
    string or token cap. ``forwards`` counts passes of the target, those that drafted included.
    ``margin`` is the smallest gap between the target's two best logits along the path: near 0 means
    a tie.
    """

    start: int
    exact: TokenId | None
    marginals: Marginals
    tree: Tree
    log_p: Annotated[tuple[LogProb, ...], Nodes]
    accepted: Annotated[tuple[int, ...], Positions]
    choice: Choice
    committed: Annotated[tuple[TokenId, ...], Field(max_length=MAX_COMMITTED)]
    margin: Amount
    forwards: Count
    seconds: Stages

    def tokens(self) -> set[int]:
        """All token ids the round mentions."""
        named = {*self.tree.tokens, *self.committed, self.choice.token, *self.choice.top_ids}
        return named.union(*self.marginals.token_ids)

    @model_validator(mode="after")
    def _path_in_tree(self) -> Self:
        nodes = len(self.tree.tokens)
        if len(self.log_p) != nodes:
            raise ValueError(f"log_p must have {nodes} entries, got {len(self.log_p)}")
        parent = ROOT
        for node in self.accepted:
            if not ROOT < node < nodes or self.tree.parents[node] != parent:
                raise ValueError(
                    f"accepted must be a path from the root, got {list(self.accepted)}"
                )
            parent = node
        drawn = (self.exact is not None) + len(self.accepted) + 1
        if len(self.committed) > drawn:
            raise ValueError(
                f"committed must have at most the {drawn} tokens drawn, got {len(self.committed)}"
            )
        return self


@dataclass(frozen=True, config=STRICT)
class Trace:
    """A whole run with everything needed to show, check and replay it."""

    system: Name  # name of the pair in the registry
    mode: Name  # how the pair drafts: "gated", "linear", "quadratic"
    method: Method
    config: DecodeConfig
    device: Name
    dtype: Name
    template: Name  # how the prompt was put: "chat", "chat, thinking off"
    prompt: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]
    prompt_ids: tuple[TokenId, ...]
    rounds: Annotated[tuple[Round, ...], Field(max_length=MAX_ROUNDS)]
    pieces: dict[TokenId, Piece]  # every token id that occurs anywhere in the trace
    finish: Finish
    # the output as the tokenizer decodes it, up to a stop string; empty where nobody decoded it
    output: Annotated[str, Field(max_length=MAX_OUTPUT)] = ""
    prefill_seconds: Amount = 0.0
    # role → source: a hub repository with its revision, a file
    models: Annotated[dict[Name, Words], Field(max_length=16)] = Field(default_factory=dict)
    # of torch, transformers, presto
    versions: Annotated[dict[Name, Name], Field(max_length=64)] = Field(default_factory=dict)
    created: Name = ""
    tuning: Tuning | None = None  # why this budget and draft length, where they were chosen
    schema_version: Literal[1] = 1

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Rounds follow each other without a gap; with pieces given, every token to be shown has
        one.
        """
        count = len(self.prompt_ids)
        for number, round_ in enumerate(self.rounds):
            if round_.start != count:
                raise ValueError(f"start of round {number} must be {count}, got {round_.start}")
            count += len(round_.committed)
        shown = set(self.prompt_ids).union(*(round_.tokens() for round_ in self.rounds))
        missing = shown - self.pieces.keys()
        if missing:
            raise ValueError(f"token {min(missing)} has no piece")
        return self

    @property
    def text(self) -> str:
        """What was written: the decoded output, else (as in a stopped run) its tokens' pieces."""
        from presto.records.measures import spelled_output

        return self.output or spelled_output(self)

    @property
    def tau(self) -> float:
        """The acceptance length τ: mean committed tokens per round."""
        from presto.records.measures import acceptance_length

        return acceptance_length(self)

    @property
    def seconds(self) -> float:
        """Seconds of all rounds, without the prefill."""
        from presto.records.measures import total_seconds

        return total_seconds(self)


def plain(value: float) -> float:
    """A log-probability as stored: five decimals, finite. Rounding before the search keeps replays
    exact.
    """
    return round(float(np.clip(value, -1e4, 1e4)), 5)
