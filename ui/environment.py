"""Numbers from environment variables."""

import os


def limit(name: str, default: int) -> int:
    """A positive limit from the environment variable ``name``; ``ValueError`` if it is set to
    anything else.
    """
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{name} must be a positive whole number, got {text!r}")
    return int(text)
