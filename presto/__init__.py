"""PRESTO: prefix-aligned tree drafting for diffusion speculative decoding (arXiv 2607.22634)."""

__version__ = "0.1.0"
