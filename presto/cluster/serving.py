"""Pairs served on a Ray cluster by Ray Serve: a deployment per pair, a replica per device."""

import logging
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from presto.cluster.joining import ray_module
from presto.cluster.told import Facts, Lanes, Told
from presto.records import shown

if TYPE_CHECKING:
    from presto.models.registry import Pair

APPLICATION = "presto"
FRONT = "front"
HEALTH_SECONDS = 2.0  # between two questions to a replica: how soon a dead one is replaced
FACTS_SECONDS = 300.0  # until the cluster must say what it serves


class LostError(RuntimeError):
    """The replica that decoded a run is gone."""


class Front:
    """Says what is served; the deployments of the pairs come with it."""

    def __init__(self, facts: Facts, *pairs: object) -> None:
        self._facts = facts

    def facts(self) -> Facts:
        return self._facts


def serve_module() -> ModuleType:
    """The package ``ray.serve``; ``ValueError`` says how to install it."""
    ray_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about pydantic
        from ray import serve
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    module: ModuleType = serve
    return module


def deploy(
    pairs: Mapping[str, "Callable[[], Pair]"],
    replicas: int = 0,
    to_zero: bool = False,
    round_seconds: float = 120.0,
) -> Facts:
    """Serve pairs, loaded by these functions, on the cluster that this process has joined; returns
    when all are loaded.

    ``replicas`` of each, 0: as many as fit; each has a GPU where the cluster has any, otherwise a
    CPU. ``to_zero``: a pair that nobody asks for is unloaded, and loaded again for the next one.
    """
    from presto.cluster.replica import Replica

    serve, resources = serve_module(), ray_module().cluster_resources()
    gpus = int(resources.get("GPU", 0))
    count = replicas or share(resources, len(pairs))
    facts = Facts(dict.fromkeys(pairs, count))
    options: dict[str, Any] = {
        "max_ongoing_requests": 1,
        "ray_actor_options": {"num_cpus": 1, "num_gpus": min(1, gpus)},
        "health_check_period_s": HEALTH_SECONDS,
        "graceful_shutdown_timeout_s": HEALTH_SECONDS,
        "num_replicas": count,
    }
    if to_zero:
        scaling = {"min_replicas": 0, "max_replicas": count, "target_ongoing_requests": 1}
        options = options | {"num_replicas": None, "autoscaling_config": scaling}
    served = [
        serve.deployment(Replica, name=name).options(**options).bind(load, round_seconds)
        for name, load in pairs.items()
    ]
    front = serve.deployment(Front, name=FRONT).options(ray_actor_options={"num_cpus": 0})
    serve.start(proxy_location="Disabled")  # nothing listens to HTTP
    try:
        serve.run(front.bind(facts, *served), name=APPLICATION, route_prefix=None)
    except RuntimeError as error:
        raise ValueError(f"the pairs cannot be served: {shown(str(error), 600)}") from error
    return facts


def share(resources: Mapping[str, float], pairs: int) -> int:
    """How many replicas of each pair fit: one per GPU, or per CPU where there is none.
    ``ValueError`` if not all pairs do.
    """
    gpus = int(resources.get("GPU", 0))
    devices, kind = (gpus, "GPUs") if gpus else (int(resources.get("CPU", 0)), "CPUs")
    if devices < pairs:
        raise ValueError(f"{pairs} pairs need as many {kind}, the cluster has {devices}")
    return devices // pairs


def withdraw() -> None:
    """Serve nothing any more."""
    serve_module().shutdown()


class Cluster:
    """What is served on the cluster that this process has joined."""

    def __init__(self) -> None:
        """``ValueError`` if nothing is."""
        self._serve, self._ray = serve_module(), ray_module()
        try:
            front = self._serve.get_app_handle(APPLICATION)
            self.facts: Facts = front.facts.remote().result(timeout_s=FACTS_SECONDS)
        except Exception as error:
            raise ValueError(
                "no pair is served on this cluster: start `presto serve --address …` first"
            ) from error
        self._handles = {
            name: self._serve.get_deployment_handle(name, APPLICATION).options(stream=True)
            for name in self.facts.replicas
        }

    def decode(self, system: str, prompt: str, lanes: Lanes) -> "RemoteRun":
        """Have the lanes decoded by the next free replica of a pair."""
        answers = self._handles[system].decode.remote(prompt, lanes)
        return RemoteRun(answers, self._ray.exceptions.RayError)


class RemoteRun:
    """A run on a replica. To cancel it frees the replica after the round in progress."""

    def __init__(self, answers: Any, errors: type[Exception]) -> None:
        self._answers, self._errors = answers, errors

    def next(self) -> Told | None:
        """What is told next, waited for; ``None`` at the end. ``LostError`` if nobody is there."""
        try:
            told: Told | None = next(self._answers, None)
        except self._errors as error:
            raise LostError(str(error).partition("\n")[0]) from error
        return told

    def cancel(self) -> None:
        """Nobody listens any more; from any thread, also after the end."""
        self._answers.cancel()
