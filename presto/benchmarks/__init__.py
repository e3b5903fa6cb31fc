"""Timings of the hot paths: ``python -m presto.benchmarks.NAME``. They are printed and never
asserted.
"""
