"""Of what a run, a benchmark and a measured cost depend on."""

from importlib.metadata import version

from presto.version import __version__


def versions() -> dict[str, str]:
    """Versions by package name."""
    return {"presto": __version__} | {name: version(name) for name in ("torch", "transformers")}
