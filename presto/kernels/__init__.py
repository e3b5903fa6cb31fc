"""Compiled scoring and search over n-gram counts; knows arrays, not records of scorers."""
