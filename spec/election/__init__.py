"""Chapters on leader election: who may write, and why a lock is not enough to say so."""
