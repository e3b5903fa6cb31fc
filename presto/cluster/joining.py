"""The one door to Ray: a cluster is joined, or one is started on this machine, and left again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

INSTALL = 'Ray is not installed here: in the clone, run python -m pip install ".[ray]"'
OWN = "local"  # the address of a cluster that is started here, and ends with its driver


def ray_module() -> ModuleType:
    """The package ``ray``; ``ValueError`` says how to install it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
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
    own = {"include_dashboard": False} if place == OWN else {}
    try:
        ray.init(place, log_to_driver=False, configure_logging=False, **own)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ValueError(f"no Ray cluster can be joined at {place}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


def address_of() -> str:
    """HOST:PORT of the cluster that this process has joined, for others on its nodes."""
    return str(ray_module().get_runtime_context().gcs_address)
