"""Reactive Streams: publishers, subscribers and processors that agree on demand."""
