"""Backpressure status between two Storm workers."""
