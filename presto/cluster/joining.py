"""The one door to Ray: a cluster is joined, or one is started on this machine, and left again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

INSTALL = 'Ray is not installed here: in the clone, run python -m pip install ".[ray]"'
OWN = "local"  # the address of a cluster that is started here, and ends with its driver
TRIES = 3  # to start one: Ray gives a node 30 s, which a busy machine may exceed
SETTINGS = {  # of Ray, as environment variables, unless they are set
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_worker_register_timeout_seconds": "180",  # a busy machine takes longer than Ray's 60
}


def ray_module() -> ModuleType:
    """The package ``ray``; ``ValueError`` says how to install it."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise ValueError(INSTALL) from None
    module: ModuleType = ray
    return module


@contextmanager
def joined(address: str = "") -> Iterator[None]:
    """Within the block this process drives a Ray cluster: the one at ``address`` (or RAY_ADDRESS),
    otherwise one of its own on this machine. ``ValueError`` if the cluster cannot be reached.
    """
    ray = ray_module()
    place = address or os.environ.get("RAY_ADDRESS", "") or OWN
    if ray.is_initialized():
        raise ValueError("this process has joined a Ray cluster already")
    for tries_left in reversed(range(TRIES if place == OWN else 1)):
        try:
            _join(ray, place)
            break
        except Exception as error:  # Ray raises plain ones too
            ray.shutdown()
            if not tries_left:
                raise ValueError(f"no Ray cluster can be joined at {place}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _join(ray: ModuleType, place: str) -> None:
    own = {"include_dashboard": False} if place == OWN else {}
    ray.init(place, log_to_driver=False, configure_logging=False, **own)


def address_of() -> str:
    """HOST:PORT of the cluster that this process has joined, for others on its nodes."""
    return str(ray_module().get_runtime_context().gcs_address)
