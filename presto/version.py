"""The version of the package, for its metadata, its face and its traces."""

__version__ = "0.1.0"
