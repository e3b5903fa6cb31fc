"""From a pair's specification to a loaded pair, once per process."""

from dataclasses import dataclass
from functools import lru_cache

from presto.build import warm_up
from presto.decoding.protocols import System
from presto.kernels.ngram import NgramModel
from presto.kernels.table import NgramTable
from presto.models.catalogue import PairSpec, find, names
from presto.models.fused import prepare
from presto.models.kinds import KINDS, load_target, local_pair
from presto.models.memory import release
from presto.models.sources import resolve
from presto.models.tables import table_of
from presto.models.text import Text
from presto.records import DecodeConfig, shown

LONGEST_REFUSAL = 500  # characters
__all__ = ["Pair", "find", "forget", "load", "load_target", "local_pair", "names"]


@dataclass(frozen=True)
class Pair:
    """A loaded pair: the system that decodes, its tokenizer and the n-gram table of its target.

    ``models`` names what was loaded: role → source, with the resolved revision of a hub repository.
    """

    spec: PairSpec
    system: System
    text: Text
    table: NgramTable | None
    models: tuple[tuple[str, str], ...] = ()

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Prompt ids under the pair's chat template; ``ValueError`` if the model has no embedding
        for one of them.
        """
        ids = self.text.encode_chat(prompt, **self.spec.template)
        if ids and max(ids) >= self.system.vocab:
            raise ValueError(
                f"the tokenizer writes {self.text.bytes.symbol(max(ids))!r} as token {max(ids)}, "
                f"but the model knows {self.system.vocab} tokens"
            )
        return ids


def load(pair: str | PairSpec, dtype: str = "auto", revision: str | None = None) -> Pair:
    """Load a pair onto this machine's device; what is not here yet is fetched first.

    ``revision`` is the target's on the hub. ``ValueError`` and ``WeightsError`` say what to do in
    one sentence.

    Example:
        >>> import presto
        >>> pair = presto.load("smollm2-gated", dtype="float32")
        >>> pair.text.decode(pair.encode("Hi!")[-4:])
        'assistant\\n'
    """
    loaded = _load.cache_info().misses
    found = _load(find(pair) if isinstance(pair, str) else pair, dtype, revision)
    if _load.cache_info().misses > loaded:
        release()  # of the pair that made room, and of what loading needed
    return found


def ngram_for(pair: Pair, config: DecodeConfig) -> NgramModel:
    """A new n-gram model of the pair's target, with the counts that ``config`` asks for."""
    table = pair.table if config.static_ngram else None
    return NgramModel(pair.system.vocab, table, online=config.online_ngram, order=config.order)


def forget() -> None:
    """Drop every loaded pair; a run in progress keeps its own until it ends."""
    _load.cache_clear()


@lru_cache(maxsize=2)
def _load(spec: PairSpec, dtype: str, revision: str | None) -> Pair:
    target = resolve(spec.target, revision)
    drafter = resolve(spec.drafter) if spec.drafter else target
    warm_up()
    try:
        system, text = KINDS[spec.kind].load(spec, target.folder, drafter.folder, dtype)
    except ValueError as error:  # a folder's own words may be part of it
        raise ValueError(shown(str(error), LONGEST_REFUSAL)) from error
    prepare(system.networks)
    return Pair(
        spec,
        system,
        text,
        table_of(spec.name),
        (("target", target.label), ("drafter", drafter.label)),
    )
