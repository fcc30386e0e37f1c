"""Benchmarks: ``make bench`` (the explorer), ``bench-storm`` and ``bench-purgatory``."""
