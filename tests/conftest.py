"""Property tests may wait for a compiler: no deadline per example."""

from hypothesis import settings

settings.register_profile("presto", deadline=None)
settings.load_profile("presto")
