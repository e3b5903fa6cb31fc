"""A request becomes a run, and a run is replayed."""
