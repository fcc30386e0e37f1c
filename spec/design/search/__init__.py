"""Verdicts by search: exhaustive, at random, and what a trace is shortened to."""
