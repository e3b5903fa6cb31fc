"""What a worker of a benchmark does: decode prompts with its pair, and tell what was measured."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from presto.benchmarks.results import BenchRun
from presto.decoding.loop import check_fits
from presto.models.registry import Pair
from presto.records import DecodeConfig, Trace
from presto.runs.ends import RoundEnd, round_ends
from presto.runs.events import collected
from presto.runs.prompts import Prompt
from presto.runs.runner import run_events
from presto.runs.states import States
from presto.runs.stopping import Stop
from presto.runs.tuning import tuned
from presto.runs.variants import PLAIN, Variant, find_variant
from presto.runs.versions import versions, where
from presto.scorers import SCORERS

WARM_UP_TOKENS = 24


@dataclass(frozen=True)
class Conditions:
    """Under which a worker measures: what figures depend on besides what was asked for.

    ``chosen``: budget and draft length of every method that drafts, where they are chosen.
    """

    where: dict[str, str]
    models: dict[str, str]
    versions: dict[str, str]
    chosen: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass
class Measurer:
    """A loaded pair that decodes by ``methods``; ``warm`` once it has decoded anything.

    With ``auto`` every method has the budget and draft length that suit it on this device.
    """

    pair: Pair
    methods: Sequence[Variant]
    config: DecodeConfig
    auto: bool = False
    warm: bool = False

    @classmethod
    def loaded(
        cls, load: Callable[[], Pair], methods: Iterable[str], config: DecodeConfig, auto: bool
    ) -> "Measurer":
        """A measurer whose pair is what ``load`` returns, by methods of these names."""
        return cls(load(), [find_variant(name) for name in methods], config, auto)

    def conditions(self) -> Conditions:
        """What its figures depend on; with ``auto`` the device is measured first."""
        drafting = [v for v in self.methods if self.auto and v.method != PLAIN]
        configs = {v.name: tuned(self.pair, v.config(self.config))[0] for v in drafting}
        chosen = {
            name: {"budget": config.budget, "draft_length": config.draft_length}
            for name, config in configs.items()
        }
        return Conditions(
            where=where(self.pair.system),
            models=dict(self.pair.models),
            versions=versions(),
            chosen=chosen,
        )

    def check(self, prompts: Iterable[Prompt]) -> None:
        """``ValueError`` names the first prompt that is too long for the pair's context."""
        for prompt in prompts:
            ids = self.pair.encode(prompt.text)
            try:
                check_fits(len(ids), self.config, self.pair.system.context)
            except ValueError as error:
                place = f"{prompt.dataset}, line {prompt.line}"
                raise ValueError(f"{place}: {error}") from None

    def measured(
        self, number: int, prompt: Prompt, wanted: Collection[str], stop: Stop
    ) -> Iterator[BenchRun]:
        """The runs of a prompt by the methods that are ``wanted``, until ``stop``.

        The order of methods turns with the prompt's number, so none is always first.
        """
        if not self.warm:
            self._warm_up(prompt, stop)
        turn = number % len(self.methods)
        for variant in (*self.methods[turn:], *self.methods[:turn]):
            if variant.name in wanted:
                trace = self._decoded(variant, prompt, self.config, stop)
                if stop.wanted:
                    return
                yield BenchRun.of(number, variant.name, trace, self._ends(trace))

    def _warm_up(self, prompt: Prompt, stop: Stop) -> None:
        """A short run by every method, so that none pays for compilation or cold caches."""
        brief = replace(self.config, max_new_tokens=min(WARM_UP_TOKENS, self.config.max_new_tokens))
        for variant in self.methods:
            self._decoded(variant, prompt, brief, stop)
        self.warm = True

    def _decoded(
        self, variant: Variant, prompt: Prompt, settings: DecodeConfig, stop: Stop
    ) -> Trace:
        config = variant.config(settings)
        events = run_events(self.pair, prompt.text, variant.method, config, self.auto)
        return collected(events, lambda _: stop.wanted)

    def _ends(self, trace: Trace) -> list[RoundEnd | None]:
        """Why its rounds end; none for a scorer that reads what a record does not hold."""
        if SCORERS.find(trace.config.scorer).needs_hidden:
            return []
        states = States(trace, self.pair.table, self.pair.system.vocab)
        return list(round_ends(states, trace.config))
