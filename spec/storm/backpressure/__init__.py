"""Backpressure between workers: statuses, new connections, and the tasks that it reaches."""
