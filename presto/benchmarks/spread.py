"""A bench whose prompts are decoded by the workers of a Ray cluster, each with a pair of its own.

A task is a prompt with all its methods, so that what is compared was measured by one worker.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from presto import plugins
from presto.benchmarks.bench import Bench, Measure
from presto.benchmarks.measuring import Conditions, Measurer
from presto.benchmarks.results import BenchRun
from presto.cluster.pool import Pool
from presto.models.registry import Pair
from presto.records import DecodeConfig
from presto.runs.prompts import Prompt
from presto.runs.stopping import Stop

Loaded = TypeVar("Loaded")
Told = tuple[Conditions, list[BenchRun]]


def prepared(load: Callable[[], Loaded]) -> Callable[[], Loaded]:
    """``load`` for a worker, which has the plugins of this process then."""
    return partial(_with_plugins, plugins.loaded(), load)


def _with_plugins(files: Iterable[Path], load: Callable[[], Loaded]) -> Loaded:
    for file in files:
        plugins.load_plugin(file)
    return load()


def loader(
    load: Callable[[], Pair], methods: Iterable[str], config: DecodeConfig
) -> Callable[[], Measurer]:
    """How a worker gets its pair and methods."""
    return prepared(partial(Measurer.loaded, load, tuple(methods), config, False))


def checked(pool: Pool[Measurer], prompts: Iterable[Prompt]) -> Conditions:
    """Under which conditions a worker measures, after it has checked all prompts."""
    ((_, conditions),) = pool.results({"check": partial(_check, prompts=list(prompts))})
    return conditions


def _check(measurer: Measurer, prompts: Iterable[Prompt]) -> Conditions:
    measurer.check(prompts)
    return measurer.conditions()


def measured_on(pool: Pool[Measurer]) -> Measure:
    """By the workers of ``pool``. ``ValueError`` if one measures under other conditions than the
    bench: figures of two devices are no figures.
    """

    def measure(bench: Bench, stop: Stop) -> Iterator[int]:
        tasks = {
            number: partial(
                _measured,
                number=number,
                prompt=bench.prompts[number],
                wanted=bench.missing(number),
            )
            for number in bench.left()
        }
        for number, (conditions, runs) in pool.results(tasks, lambda: stop.wanted):
            if conditions != bench.conditions:
                raise ValueError(
                    f"workers differ: one measures with {conditions}, the first with "
                    f"{bench.conditions}"
                )
            for run in runs:
                bench.add(run)
            yield number

    return measure


def _measured(measurer: Measurer, number: int, prompt: Prompt, wanted: Collection[str]) -> Told:
    runs = list(measurer.measured(number, prompt, wanted, Stop()))
    return measurer.conditions(), runs
