"""Adapters between model checkpoints and the engine."""
