"""Training: the target writes its own data, the draft adapter learns from it."""
