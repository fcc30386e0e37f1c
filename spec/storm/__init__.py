"""Chapters on Apache Storm: its queues, backpressure, acker and spouts."""
