"""Verdicts by equations and by single runs, without a search."""
