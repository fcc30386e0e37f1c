"""Backpressure between workers: statuses, new connections, and how far it reaches."""
