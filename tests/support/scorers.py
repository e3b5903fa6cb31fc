"""Which scorers a test can run on any pair."""

from presto.scorers import SCORERS

USUAL = sorted(name for name in SCORERS.built_in if not SCORERS[name].reads_drafter)
