"""A campaign: a grid of suites, targets, seeds and settings, run in lots that keep their rows.

A run of a suite (``campaigns``) ends with a summary, and its rows are gone. A campaign is too long
for that: its rows are written down lot by lot, and what was cut off continues where it stopped.
"""
