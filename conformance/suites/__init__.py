"""Suites: what an implementation is asked, and how its answers are judged."""
