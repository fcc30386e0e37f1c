"""Chapters on queues: ``bounded`` (capacity, order, waiting) and ``conserved`` (no loss)."""
