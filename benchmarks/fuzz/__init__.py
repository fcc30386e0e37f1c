"""Fuzzing: mutated designs, configurations, fixtures, chapters and replies, from a seed.

Whatever the input, there is a verdict or one message: never an internal error (70), never a
traceback, never a run without end. ``make fuzz`` is the program; docs/robustness.md has figures.
"""
