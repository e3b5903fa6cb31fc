"""The decoding loop: draft → score and search → verify → accept → commit, one ``Round`` at a time.

Scores and search run on the host, everything else on the device. A greedy round crosses between
them once each way for the draft (``marginals.drafted``), the tree (``TargetSession.plan``) and
the decision (``verify.follow``); what else goes to the device is the anchor and, unless they are
the first ones, the accepted rows' numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from presto.build import NO_PAIRS, build_tree, check_installed
from presto.decoding.marginals import with_found
from presto.decoding.output import Output
from presto.decoding.protocols import Draft, Session, System, TreeInput
from presto.decoding.sampling import Sampler
from presto.decoding.timing import Stopwatch, clock_of
from presto.decoding.verify import Decision, exact_choice, follow
from presto.kernels.ngram import NgramModel
from presto.records import Choice, DecodeConfig, Finish, Marginals, Round, Tree
from presto.scorers import SCORERS

Pieces = Callable[[int], bytes]


def check_fits(prompt_tokens: int, config: DecodeConfig, context: int) -> None:
    """Refuse a prompt that leaves no room in the target's context, with both numbers."""
    if prompt_tokens < 1:
        raise ValueError("the prompt is empty: at least one token is needed")
    if prompt_tokens + config.max_new_tokens > context:
        raise ValueError(
            f"the prompt has {prompt_tokens} tokens and max_new_tokens is {config.max_new_tokens}: "
            "together "
            f"{prompt_tokens + config.max_new_tokens}, but the target's context holds {context}"
        )


@dataclass
class Run:
    """One decoding run: the session, what has been emitted and the rules that end it."""

    system: System
    config: DecodeConfig
    ngram: NgramModel
    prompt_ids: tuple[int, ...]
    output: Output
    sampler: Sampler
    session: Session

    @classmethod
    def begin(
        cls,
        system: System,
        prompt_ids: Sequence[int],
        config: DecodeConfig,
        ngram: NgramModel | None = None,
        pieces: Pieces | None = None,
    ) -> "Run":
        """Check the request and prefill the prompt; all work before the first round."""
        check_fits(len(prompt_ids), config, system.context)
        check_installed(config)
        if SCORERS[config.scorer].needs_pairs and not system.scores_pairs:
            raise ValueError(f"the scorer {config.scorer} {NO_PAIRS}")
        prompt = tuple(prompt_ids)
        ngram = ngram or NgramModel(system.vocab, online=config.online_ngram, order=config.order)
        ngram.extend(prompt)
        tail = max(config.budget, config.draft_length) + 2
        session = system.start(prompt, len(prompt) + config.max_new_tokens + tail)
        output = Output(config, system.eos_ids, pieces)
        return cls(system, config, ngram, prompt, output, Sampler.of(config), session)

    @property
    def finish(self) -> Finish | None:
        return self.output.finish

    @property
    def text_ids(self) -> tuple[int, ...]:
        """All committed tokens: the prompt and the output."""
        return (*self.prompt_ids, *self.output.tokens)

    def emit(self, tokens: Sequence[int]) -> tuple[int, ...]:
        committed = self.output.emit(tokens)
        self.ngram.extend(committed)
        return committed

    def draft(self) -> Draft:
        # No deeper than the cap can use: a full path and its bonus token just reach it.
        length = min(self.config.draft_length, self.system.max_draft, self.output.room - 1)
        # One candidate more than asked for: its place in the record is that of a token looked up.
        return self.session.draft(self.text_ids[-1], length, self.config.top_k + 1)

    def exact(self, draft: Draft) -> tuple[int, float] | None:
        """The token that the drafting pass decided exactly, if it did, and its margin."""
        if draft.exact is None:
            return None
        return exact_choice(draft.exact, len(self.text_ids), self.sampler)

    def hidden_of(self, draft: Draft) -> np.ndarray | None:
        """The drafter's hidden states on the host, for a scorer that reads them."""
        if draft.hidden is None or not SCORERS[self.config.scorer].needs_hidden:
            return None
        return draft.hidden.float().cpu().numpy()

    def decide(self, plan: TreeInput, tree: Tree) -> Decision:
        """Let the target verify the tree and walk it."""
        return follow(self.session.verify(plan), plan, tree, len(self.text_ids), self.sampler)

    def draft_round(self) -> Round:
        """One round of tree decoding."""
        start, watch = len(self.text_ids), Stopwatch(clock_of(self.system.device))
        with watch.stage("draft"):
            draft = self.draft()
            exact = self.exact(draft)
        committed = () if exact is None else self.emit([exact[0]])
        if exact is not None and self.finish is not None:
            return _exact_only(start, exact, draft, committed, watch)
        with watch.stage("draft"):
            draft = with_found(draft, self.text_ids, self.config.top_k)
        hidden = self.hidden_of(draft)
        tree, seconds = build_tree(
            draft.marginals, self.text_ids, self.ngram, self.config, hidden, draft.pairs
        )
        watch.add("score", seconds.score)
        watch.add("search", seconds.search)
        with watch.stage("mask"):
            plan = self.session.plan(tree)
        with watch.stage("verify"):
            decision = self.decide(plan, tree)
        with watch.stage("commit"):
            self.session.commit(decision.accepted)
            committed += self.emit(
                [*(tree.tokens[node] for node in decision.accepted), decision.choice.token]
            )
        return _record(start, exact, draft, tree, decision, committed, watch)

    def plain_round(self) -> Round:
        """One token of plain autoregressive decoding, as a round with an empty tree."""
        start, watch = len(self.text_ids), Stopwatch(clock_of(self.system.device))
        tree = Tree(tokens=(self.text_ids[-1],))
        with watch.stage("verify"):
            plan = self.session.plan(tree)
            decision = self.decide(plan, tree)
        with watch.stage("commit"):
            self.session.commit(())
            committed = self.emit([decision.choice.token])
        return _record(start, None, Draft(Marginals(), None, 0), tree, decision, committed, watch)

    def rounds(self, method: Callable[["Run"], Round]) -> Iterator[Round]:
        while self.finish is None:
            yield method(self)


def decode(
    system: System,
    prompt_ids: Sequence[int],
    config: DecodeConfig,
    ngram: NgramModel | None = None,
    pieces: Pieces | None = None,
) -> Iterator[Round]:
    """Speculative decoding with any drafter, scorer and search; emits exactly what
    ``autoregressive`` emits.

    Raises ``ValueError`` before any model call if the prompt and cap do not fit the target's
    context.
    """
    yield from Run.begin(system, prompt_ids, config, ngram, pieces).rounds(Run.draft_round)


def autoregressive(
    system: System, prompt_ids: Sequence[int], config: DecodeConfig, pieces: Pieces | None = None
) -> Iterator[Round]:
    """The reference: one target forward per token, same sampling and stopping rules."""
    yield from Run.begin(system, prompt_ids, config, None, pieces).rounds(Run.plain_round)


def _exact_only(
    start: int,
    exact: tuple[int, float],
    draft: Draft,
    committed: tuple[int, ...],
    watch: Stopwatch,
) -> Round:
    """A round that ended with the exact token of the drafting pass: nothing was left to verify."""
    token, margin = exact
    decision = Decision((), Choice(token), (0.0,), margin)
    tree = Tree(tokens=(token,))
    return _record(start, exact, draft, tree, decision, committed, watch, verified=False)


def _record(
    start: int,
    exact: tuple[int, float] | None,
    draft: Draft,
    tree: Tree,
    decision: Decision,
    committed: tuple[int, ...],
    watch: Stopwatch,
    verified: bool = True,
) -> Round:
    token, margin = exact or (None, decision.margin)
    return Round(
        start=start,
        exact=token,
        marginals=draft.marginals,
        tree=tree,
        log_p=decision.log_p,
        accepted=decision.accepted,
        choice=decision.choice,
        committed=committed,
        margin=min(decision.margin, margin),
        forwards=draft.forwards + verified,
        seconds=watch.stages(),
    )
