"""Judging what was recorded of a system in production: readers, orders, judges, answers."""
