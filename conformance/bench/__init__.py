"""Benchmarks: what the explorer can do, measured. ``make bench`` prints them."""
