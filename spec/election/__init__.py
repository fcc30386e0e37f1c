"""Chapters on leader election: which candidate may write, and why a lock alone cannot decide it."""
