"""Chapters on queues: ``queue`` (capacity, order, waiting) and ``conserved`` (no loss)."""
